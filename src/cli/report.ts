import { CommanderError } from 'commander'

import { LoopchartError, type ErrorCode } from '../errors.ts'
import { CommandLineError } from './command-line-error.ts'
import { ExitCode } from './exit-code.ts'
import { oneLine } from './safe-text.ts'

/** One line on stderr: what happened, the code, what to do. Gives the exit code. */
export function report(error: unknown): number {
  if (error instanceof CommanderError) {
    // Help and version arrive here too, already printed.
    if (error.exitCode === 0) return ExitCode.ok
    const message =
      error.code === 'commander.help' ? 'there is no such verb' : error.message.replace(/^error: /u, '')
    const verb = error instanceof CommandLineError ? error.verb : 'loopchart'
    process.stderr.write(`loopchart: ${oneLine(message)} [usage]; see ${verb} --help\n`)
    return ExitCode.usage
  }
  if (error instanceof LoopchartError) {
    process.stderr.write(`loopchart: ${oneLine(error.message)} [${error.code}]\n`)
    if (WAITING_CODES.has(error.code)) return ExitCode.suspended
    return USAGE_CODES.has(error.code) ? ExitCode.usage : ExitCode.failed
  }
  process.stderr.write(`loopchart: internal error, please report it: ${oneLine(String(error))}\n`)
  return ExitCode.internal
}

// Nothing is wrong with what was asked for: it can be done once somebody else is done, or has made room.
const WAITING_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['run_locked', 'store_full'])

// What was typed or configured was wrong: nothing has been sent.
const USAGE_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'usage',
  'file_unreadable',
  'output_unwritable',
  'config_invalid',
  'provider_missing',
  'provider_invalid',
  'script_invalid',
  'agent_invalid',
  'tool_invalid',
  'frame_invalid',
  'frame_version_unknown',
  'log_version',
  'run_exists',
  'run_unknown',
  'store_unusable',
  'resume_refused',
])
