import { constants } from 'node:os'

import type { SettledCommand } from './settle-command.ts'

/** How a command ended, in one word and what goes with it. */
export type Ending =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'signalled'; readonly signal: string }
  | { readonly kind: 'timed_out' }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'over_limit'; readonly limit: 'processes' | 'cpu_time' | 'file_size' }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'not_runnable' }
  | { readonly kind: 'no_sandbox' }

export interface EndingFacts {
  readonly settled: SettledCommand
  /** What it wrote there, or what the sandbox did that should have started it. */
  readonly stderr: string
  readonly isSandboxed: boolean
  /** False when the sandbox says that it did not start the command. */
  readonly hasStarted: boolean
}

const LIMIT_SIGNALS: Readonly<Record<string, 'cpu_time' | 'file_size'>> = {
  SIGXCPU: 'cpu_time',
  SIGXFSZ: 'file_size',
}

/** Reads the end of a command from what the system says about it. */
export function endingOf(facts: EndingFacts): Ending {
  const { settled } = facts
  const { stopped, exit } = settled
  if (stopped === 'too_many_processes') return { kind: 'over_limit', limit: 'processes' }
  if (stopped !== null) return { kind: stopped }
  if (!facts.hasStarted && exit?.exitCode != null) return startFault(facts.stderr)
  const signal = exit?.signal ?? signalInCode(exit?.exitCode ?? null, facts.isSandboxed)
  const limit = signal === null ? undefined : LIMIT_SIGNALS[signal]
  if (limit !== undefined) return { kind: 'over_limit', limit }
  if (signal !== null) return { kind: 'signalled', signal }
  const exitCode = exit?.exitCode
  if (exitCode === null || exitCode === undefined) return { kind: 'signalled', signal: 'SIGKILL' }
  return { kind: 'exited', exitCode }
}

// What bash and bubblewrap make of a signal is a code above 128. Of these, only the ones count that no program uses for
// itself: git ends with 129 when it does not know an option.
const SIGNALS_IN_CODES: readonly NodeJS.Signals[] = [
  'SIGQUIT',
  'SIGILL',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGKILL',
  'SIGSEGV',
  'SIGPIPE',
  'SIGTERM',
  'SIGSYS',
]

/** Bubblewrap does not pass a signal on: it ends with the code that a shell would end with. */
function signalInCode(exitCode: number | null, isSandboxed: boolean): string | null {
  if (exitCode === null) return null
  const isFor = (signal: string): boolean => exitCode === 128 + (SIGNAL_NUMBERS[signal] ?? Number.NaN)
  const known = isSandboxed
    ? [...SIGNALS_IN_CODES, ...Object.keys(LIMIT_SIGNALS)]
    : Object.keys(LIMIT_SIGNALS)
  return known.find((signal) => isFor(signal)) ?? null
}

const SIGNAL_NUMBERS: Readonly<Record<string, number>> = constants.signals

/** Nothing but the sandbox has written to stderr when the command was not started. */
function startFault(stderr: string): Ending {
  if (!stderr.startsWith('bwrap: execvp ')) return { kind: 'no_sandbox' }
  return stderr.includes('Permission denied') ? { kind: 'not_runnable' } : { kind: 'not_found' }
}
