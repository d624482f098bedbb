import { randomInt } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { openArtifacts } from '../../../src/tools/artifacts/artifact-store.ts'
import type { Command } from '../../../src/tools/process/command-argv.ts'
import { commandEnvironment } from '../../../src/tools/process/command-environment.ts'
import { findSandbox } from '../../../src/tools/process/find-sandbox.ts'
import { LIMITS_DEFAULT, type CommandLimits } from '../../../src/tools/process/limit-argv.ts'
import { runCommand, type CommandResult } from '../../../src/tools/process/run-command.ts'
import type { OutputListener } from '../../../src/tools/tool-settings.ts'

/** A workspace and a state folder of their own. */
export interface Place {
  readonly workspaceRoot: string
  readonly stateFolder: string
}

export function place(): Place {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'loopchart-process-')))
  const workspaceRoot = join(folder, 'workspace')
  mkdirSync(workspaceRoot)
  return { workspaceRoot, stateFolder: join(folder, 'state') }
}

export interface RunOptions extends Partial<Place> {
  readonly isSandboxed?: boolean
  readonly limits?: Partial<CommandLimits>
  readonly timeoutMs?: number
  readonly onOutput?: OutputListener
  readonly signal?: AbortSignal
  readonly extra?: Readonly<Record<string, string>>
}

/** Runs a command, a text for bash or an argv, without a sandbox unless asked. */
export async function run(
  command: string | readonly string[],
  options: RunOptions = {},
): Promise<CommandResult> {
  const { isSandboxed = false, limits, timeoutMs = 20_000, onOutput, signal, extra = {} } = options
  const { workspaceRoot, stateFolder } = { ...place(), ...options }
  const asked: Command = typeof command === 'string' ? { script: command } : { argv: command }
  const sandbox = isSandboxed ? await findSandbox('/nowhere') : null
  if (isSandboxed && sandbox === null) throw new Error('there is no sandbox')
  return runCommand(asked, {
    workspaceRoot,
    cwd: workspaceRoot,
    stateFolder,
    artifacts: openArtifacts(join(stateFolder, 'artifacts')),
    environment: commandEnvironment({ workspaceRoot, stateFolder, isSandboxed, extra }),
    sandbox,
    limits: { ...LIMITS_DEFAULT, ...limits },
    timeoutMs,
    key: 'run/0/0',
    onOutput: onOutput ?? ((): void => undefined),
    signal: signal ?? new AbortController().signal,
  })
}

/** A number of seconds that no other process sleeps: whoever has it in its arguments comes from this test. */
export function mark(): string {
  return `${randomInt(1000, 2000)}.${randomInt(1, 2 ** 40)}`
}

/** The pids of living processes with that text in their arguments. */
export function pidsWith(text: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && argumentsOf(name).some((argument) => argument.includes(text)))
    .map(Number)
}

/** The pids of those that are called `sleep` and sleep so long, not of shells that have it in a text. */
export function sleepers(seconds: string): readonly number[] {
  return pidsWith(seconds).filter((pid) => argumentsOf(String(pid)).at(-2) === seconds)
}

/** Looks again and again, for 15 seconds. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  for (let round = 0; round < 1500; round += 1) {
    if (condition()) return
    await pause(10)
  }
  throw new Error(`it never came about: ${what}`)
}

function argumentsOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return []
  }
}
