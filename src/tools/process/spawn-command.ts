import { once } from 'node:events'
import { statSync } from 'node:fs'
import { Readable } from 'node:stream'

import { LoopchartError } from '../../errors.ts'
import { quoted } from '../quoted.ts'
import type { Environment } from './command-environment.ts'
import { STATUS_DESCRIPTOR } from './sandbox-status.ts'

/** A process with its streams. It leads a group of its own. */
export interface SpawnedCommand {
  readonly pid: number
  readonly stdout: Readable
  readonly stderr: Readable
  /** What the sandbox says about the command; null without one. */
  readonly status: Readable | null
  /** Resolves when the process has ended, whoever still holds its streams. Never rejects. */
  readonly exited: Promise<ProcessExit>
}

export interface ProcessExit {
  /** Null when a signal ended it. */
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
}

export interface SpawnOptions {
  readonly argv: readonly string[]
  /** What the user called it, for messages. */
  readonly shownAs: string
  readonly environment: Environment
  readonly cwd: string
  /** Whether the program reports on a descriptor of its own, which must not reach a command then. */
  readonly isReporting: boolean
}

/**
 * Starts a process. Throws `command_not_found`, `command_invalid`, `command_too_long`, `workspace_missing` or
 * `command_failed` when that cannot be done.
 */
export async function spawnCommand(options: SpawnOptions): Promise<SpawnedCommand> {
  const { argv, shownAs, environment, cwd, isReporting } = options
  const { execa } = await import('execa')
  const [file = '', ...parameters] = argv
  const child = execa(file, parameters, {
    cwd,
    env: environment,
    extendEnv: false,
    stdio: isReporting ? ['ignore', 'pipe', 'pipe', 'pipe'] : ['ignore', 'pipe', 'pipe'],
    encoding: 'buffer',
    // Read here: what execa would gather in memory has no bound that fits.
    buffer: false,
    reject: false,
    // Makes it lead a group, and ends the group when we exit in an orderly way.
    killDescendants: true,
    cleanup: true,
  })
  const { pid, stdout, stderr, nodeChildProcess } = child
  if (pid === undefined) {
    const result = await child
    throw spawnFault(shownAs, cwd, result.code, result.cause)
  }
  const exited = once(nodeChildProcess, 'exit').then(([exitCode, signal]) => readExit(exitCode, signal))
  const report = nodeChildProcess.stdio[STATUS_DESCRIPTOR]
  return { pid, stdout, stderr, status: report instanceof Readable ? report : null, exited }
}

function readExit(exitCode: unknown, signal: unknown): ProcessExit {
  return {
    exitCode: typeof exitCode === 'number' ? exitCode : null,
    signal: isSignal(signal) ? signal : null,
  }
}

function isSignal(value: unknown): value is NodeJS.Signals {
  return typeof value === 'string' && value.startsWith('SIG')
}

function spawnFault(shownAs: string, cwd: string, code: string | undefined, cause: unknown): LoopchartError {
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return new LoopchartError('workspace_missing', 'the workspace folder is gone', { cause })
  }
  const shown = quoted(shownAs)
  switch (code) {
    case 'ENOENT':
      return new LoopchartError('command_not_found', `there is no program ${shown}`, { cause })
    case 'EACCES':
      return new LoopchartError('command_invalid', `${shown} is not a program that may be run`, { cause })
    case 'E2BIG':
      return tooLong(cause)
    default:
      return new LoopchartError(
        'command_failed',
        `${shown} could not be started: ${code ?? 'no reason given'}`,
        {
          cause,
        },
      )
  }
}

function tooLong(cause: unknown): LoopchartError {
  return new LoopchartError(
    'command_too_long',
    'the command is too long: one argument takes about 128 KiB, all of them about 2 MiB; write it to a file and run that',
    { cause },
  )
}
