import type { CallProcesses } from './call-processes.ts'
import type { CommandLimits } from './limit-argv.ts'

/** Why a command was stopped before its end. */
export type StopReason = 'aborted' | 'timed_out' | 'too_many_processes'

export interface WatchOptions {
  readonly limits: CommandLimits
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export interface CommandWatch {
  /** Resolves when the command must be stopped, never otherwise. */
  readonly stopped: Promise<void>
  /** Null as long as it may go on. */
  readonly reason: () => StopReason | null
  readonly end: () => void
}

const COUNT_EVERY_MS = 200
// Counting takes longer the more there are; it may take a twentieth of our time.
const REST_PER_COUNT = 20

/**
 * Watches over the time and the number of processes of a command. The kernel has a limit for the number too, but it
 * counts all commands of a user together, and does not hold root.
 */
export function watchCommand(processes: CallProcesses, options: WatchOptions): CommandWatch {
  const { signal, timeoutMs, limits } = options
  const { promise: stopped, resolve } = Promise.withResolvers<void>()
  let reason: StopReason | null = null
  let counter: NodeJS.Timeout | undefined
  const stop = (why: StopReason): void => {
    reason ??= why
    resolve()
  }
  const onAbort = (): void => stop('aborted')
  const count = (): void => {
    const startMs = performance.now()
    if (processes.list().length > limits.processesMax + processes.overhead) return stop('too_many_processes')
    const tookMs = performance.now() - startMs
    counter = setTimeout(count, Math.max(COUNT_EVERY_MS, tookMs * REST_PER_COUNT))
  }
  const timer = setTimeout(() => stop('timed_out'), timeoutMs)
  counter = setTimeout(count, COUNT_EVERY_MS)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  return {
    stopped,
    reason: () => reason,
    end: () => {
      clearTimeout(timer)
      clearTimeout(counter)
      signal.removeEventListener('abort', onAbort)
    },
  }
}
