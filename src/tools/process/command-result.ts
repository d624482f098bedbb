import { constants } from 'node:os'

import type { ErrorCode } from '../../errors.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { artifactFacts } from '../artifacts/describe-artifact.ts'
import { toolResult, type ToolResult } from '../tool-result.ts'
import type { Ending } from './command-ending.ts'
import type { CommandLimits } from './limit-argv.ts'
import type { CommandResult } from './run-command.ts'

/** What a command ran with, as far as its result speaks of it. */
export interface CommandTerms {
  readonly isSandboxed: boolean
  readonly limits: CommandLimits
  readonly timeoutMs: number
}

/** The result of a command as the model and the log get it. */
export function commandResult(result: CommandResult, terms: CommandTerms): ToolResult {
  const { ending, stdout, stderr } = result
  const texts = { stdout: stdout.text, stderr: stderr.text }
  const artifacts = factsOf(result, terms)
  if (ending.kind === 'exited') return toolResult({ ...texts, exitCode: ending.exitCode, artifacts })
  const { exitCode, ...error } = describeEnding(ending, terms)
  return toolResult({ ...texts, exitCode, artifacts, error })
}

function factsOf(result: CommandResult, { isSandboxed }: CommandTerms): readonly JsonObject[] {
  const { stdout, stderr, escaped, survivors, isHeldOpen, isLimited, isViewComplete } = result
  return [
    { stream: 'stdout', ...artifactFacts(stdout) },
    { stream: 'stderr', ...artifactFacts(stderr) },
    ...(isSandboxed ? [] : [{ unsandboxed: true }]),
    ...(isLimited ? [] : [{ limits: 'time and number of processes only' }]),
    ...(isViewComplete ? [] : [{ secret_files: 'covered in a part of the workspace only' }]),
    ...(escaped === 0 ? [] : [{ escaped_processes: escaped }]),
    ...(survivors === 0 ? [] : [{ surviving_processes: survivors }]),
    ...(isHeldOpen ? [{ streams: 'held open by a process that got away and was not found' }] : []),
  ]
}

interface DescribedEnding {
  readonly exitCode: number
  readonly code: ErrorCode
  readonly message: string
}

// The codes are what a shell would say.
function describeEnding(
  ending: Exclude<Ending, { readonly kind: 'exited' }>,
  { timeoutMs, limits }: CommandTerms,
): DescribedEnding {
  switch (ending.kind) {
    case 'signalled': {
      const number: number =
        Object.entries(constants.signals).find(([name]) => name === ending.signal)?.[1] ?? 0
      const message = `the command was ended by ${ending.signal}`
      return { exitCode: 128 + number, code: 'command_signalled', message }
    }
    case 'timed_out': {
      const message = `the command was stopped after ${timeoutMs} ms; give a larger timeout_ms or do less at once`
      return { exitCode: 124, code: 'tool_timeout', message }
    }
    case 'aborted':
      return { exitCode: 130, code: 'tool_cancelled', message: 'the command was stopped' }
    case 'over_limit':
      return { exitCode: 137, code: 'limit_exceeded', message: describeLimit(ending.limit, limits) }
    case 'not_found':
      return { exitCode: 127, code: 'command_not_found', message: 'there is no such program' }
    case 'not_runnable':
      return { exitCode: 126, code: 'command_invalid', message: 'that is not a program that may be run' }
    case 'no_sandbox':
      return {
        exitCode: 1,
        code: 'command_failed',
        message: 'the sandbox could not be set up, so the command did not run; stderr says why',
      }
  }
}

function describeLimit(
  limit: Extract<Ending, { readonly kind: 'over_limit' }>['limit'],
  { processesMax, fileBytesMax, cpuSecondsMax }: CommandLimits,
): string {
  switch (limit) {
    case 'processes':
      return `the command was stopped because it had more than ${processesMax} processes`
    case 'file_size':
      return `the command was stopped because it wrote a file of more than ${fileBytesMax} bytes`
    case 'cpu_time': {
      const seconds = cpuSecondsMax === null ? '' : `, more than ${cpuSecondsMax} seconds`
      return `the command was stopped because it used too much CPU time${seconds}`
    }
  }
}
