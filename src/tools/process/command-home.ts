import { hash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { LoopchartError } from '../../errors.ts'
import { isJsonObject, parseJson } from '../../protocol/json.ts'
import { isAlive, processPlace, startTimeOf } from './process-table.ts'

const made = new Set<string>()

/**
 * The home of commands without a sandbox: a folder of ours for each workspace, so that what a command puts there
 * (an alias of git, a token of npm) has no effect on other workspaces, nor later. Each process of ours empties it before
 * its first command, unless another one that still lives is at work in the same workspace; then they share it.
 */
export function makeHome(stateFolder: string, workspaceRoot: string): string {
  const home = join(stateFolder, 'homes', hash('sha256', workspaceRoot).slice(0, 16))
  if (made.has(home)) {
    // A command may have removed it.
    mkdirSync(home, { recursive: true, mode: 0o700 })
    return home
  }
  try {
    if (!isInUse(home)) rmSync(home, { recursive: true, force: true })
    mkdirSync(home, { recursive: true, mode: 0o700 })
    writeFileSync(ownerPath(home), JSON.stringify(ownIdentity()), { mode: 0o600 })
  } catch (cause) {
    const message = 'the command was not started because the home folder of commands could not be emptied'
    throw new LoopchartError('command_failed', message, { cause })
  }
  made.add(home)
  return home
}

interface Owner {
  readonly pid: number
  readonly startTime: number
  readonly place: string
}

function ownIdentity(): Owner {
  return { pid: process.pid, startTime: startTimeOf(process.pid) ?? 0, place: processPlace() }
}

// Beside it, where no command looks for it.
function ownerPath(home: string): string {
  return `${home}.json`
}

function isInUse(home: string): boolean {
  const owner = readOwner(home)
  return owner !== null && owner.place === processPlace() && owner.pid !== process.pid && isAlive(owner)
}

function readOwner(home: string): Owner | null {
  try {
    const owner = parseJson(readFileSync(ownerPath(home), 'utf8'))
    if (!isJsonObject(owner)) return null
    const { pid, startTime, place } = owner
    const isRead = typeof pid === 'number' && typeof startTime === 'number' && typeof place === 'string'
    return isRead ? { pid, startTime, place } : null
  } catch {
    return null
  }
}
