import { resolve } from 'node:path'

import { LoopchartError } from '../errors.ts'
import { defaultStateFolder } from '../state-folder.ts'
import { cutMiddle } from '../tools/cut-middle.ts'
import { ExitCode } from './exit-code.ts'
import { countOf } from './run-figures.ts'
import { oneLine, safeText } from './safe-text.ts'
import { tableOf } from './table-of.ts'
import { readTrust, trustPath, writeTrust } from './trust-store.ts'
import { parseWorkspaceConfig, readWorkspaceConfig, WORKSPACE_CONFIG } from './workspace-config.ts'
import { realFolder } from './workspace-trust.ts'

export interface TrustFlags {
  readonly list?: true
  readonly remove?: true
}

const SHOWN_MAX = 8000

/** Records that a folder is trusted, or not any more, or lists those that are; resolves with the exit code. */
export async function trustVerb(folder: string | undefined, flags: TrustFlags): Promise<number> {
  const stateFolder = defaultStateFolder(process.env)
  if (flags.list === true) {
    if (flags.remove === true || folder !== undefined) {
      throw new LoopchartError('usage', '--list shows all trusted folders; give it alone')
    }
    return listTrusted(stateFolder)
  }
  return flags.remove === true
    ? removeTrust(folder ?? '.', stateFolder)
    : addTrust(folder ?? '.', stateFolder)
}

async function addTrust(folder: string, stateFolder: string): Promise<number> {
  const path = await realFolder(folder)
  const others = (await readTrust(stateFolder)).filter((one) => one.path !== path)
  const file = await readWorkspaceConfig(path)
  // Before it is recorded: a config that would be refused in every run is better refused once.
  if (file !== null) parseWorkspaceConfig(file)
  say(`workspace ${oneLine(path)}`)
  if (file === null) say(`it has no ${WORKSPACE_CONFIG}`)
  else {
    say(`its ${WORKSPACE_CONFIG}, ${countOf(file.text.length, 'character')}, SHA-256 ${file.hash}:`)
    for (const line of safeText(cutMiddle(file.text.trimEnd(), SHOWN_MAX, 'plain')).split('\n')) {
      say(`  | ${line}`)
    }
  }
  await writeTrust(stateFolder, [...others, { path, configHash: file?.hash ?? null }])
  const used = file === null ? '' : ', and this config is used until it changes'
  say(`trusted: a model may write files and run commands there, which you are asked about${used}`)
  return ExitCode.ok
}

async function removeTrust(folder: string, stateFolder: string): Promise<number> {
  // One that is gone is still on the list, by the path that it had.
  const path = await realFolder(folder).catch(() => resolve(folder))
  const known = await readTrust(stateFolder)
  const rest = known.filter((one) => one.path !== path)
  if (rest.length === known.length) {
    throw new LoopchartError('usage', `${path} is not trusted; loopchart trust --list shows what is`)
  }
  await writeTrust(stateFolder, rest)
  say(`${oneLine(path)} is not trusted any more`)
  return ExitCode.ok
}

async function listTrusted(stateFolder: string): Promise<number> {
  const known = await readTrust(stateFolder)
  if (known.length === 0) {
    process.stderr.write(`no folder is trusted, says ${oneLine(trustPath(stateFolder))}\n`)
    return ExitCode.ok
  }
  const rows = known.map(({ path, configHash }) => [
    configHash === null ? 'none' : configHash.slice(0, 12),
    oneLine(path),
  ])
  process.stdout.write(tableOf(['config', 'workspace'], rows))
  return ExitCode.ok
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
