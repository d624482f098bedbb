import { LoopchartError } from '../errors.ts'
import { defaultStateFolder } from '../state-folder.ts'
import { findProgram } from '../tools/process/find-program.ts'
import { findSandbox } from '../tools/process/find-sandbox.ts'
import { findRipgrep } from '../tools/search/find-ripgrep.ts'
import { realFolder, workspaceTrust } from './workspace-trust.ts'

/** What the built-in tools would find, as doctor shows it. */
export interface Surrounding {
  readonly setting: string
  readonly value: string
  readonly source: string
}

/** Looks at what the built-in tools depend on for a workspace. Throws `usage` when there is no such folder. */
export async function lookAround(workspace: string): Promise<readonly Surrounding[]> {
  const stateFolder = defaultStateFolder(process.env)
  const root = await realFolder(workspace)
  const ripgrep = await findRipgrep(root)
  return [
    await sandboxFound(root),
    ripgrep === null
      ? { setting: 'search', value: 're2js', source: 'there is no rg in PATH' }
      : { setting: 'search', value: `ripgrep, ${ripgrep}`, source: 'found in PATH' },
    { setting: 'workspace', value: root, source: await trustFound(root, stateFolder) },
    { setting: 'state folder', value: stateFolder, source: 'XDG_STATE_HOME, or ~/.local/state' },
  ]
}

async function sandboxFound(root: string): Promise<Surrounding> {
  const setting = 'sandbox'
  const found = await findSandbox(root)
  if (found !== null) return { setting, value: `bubblewrap, ${found.path}`, source: 'tried, it works' }
  const path = findProgram('bwrap', root)
  const source =
    path === null
      ? 'bubblewrap is not installed; apt-get install bubblewrap, or the like'
      : `${path} was tried and may not make a sandbox here`
  return { setting, value: 'none: commands run unsandboxed', source }
}

async function trustFound(root: string, stateFolder: string): Promise<string> {
  try {
    const { isTrusted, notes } = await workspaceTrust({
      workspace: root,
      stateFolder,
      isTrustedForNow: false,
    })
    return isTrusted ? ['trusted', ...notes].join('; ') : 'not trusted; loopchart trust changes that'
  } catch (error) {
    if (!(error instanceof LoopchartError)) throw error
    return `not usable: ${error.message}`
  }
}
