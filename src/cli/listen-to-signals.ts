import { ExitCode } from './exit-code.ts'

export interface SignalAnswers {
  /** Ends what is under way in good order. */
  readonly cancel: () => void
  /** Lets go of what is under way, which can be gone on with; null: it is not kept. */
  readonly leave: (() => void) | null
  /** Says what becomes of what is under way when the process ends at once. */
  readonly onHurry?: () => void
}

/** What is under way and can be let go of, the latest last. */
const leaving: (() => void)[] = []

/** Nobody reads the output any more: what is kept is let go of. False: there is nothing that is. */
export function leaveForNobody(): boolean {
  const leave = leaving.at(-1)
  leave?.()
  return leave !== undefined
}

/**
 * The first signal ends what is under way in good order, the second at once. What is kept is not ended by SIGTERM, which
 * is about this process, but let go of. Gives what stops listening.
 */
export function listenToSignals({ cancel, leave, onHurry }: SignalAnswers): () => void {
  let code: number | null = null
  const onSignal = (signal: NodeJS.Signals): void => {
    // The terminal has written ^C wherever the cursor was.
    if (process.stderr.isTTY) process.stderr.write('\n')
    if (code !== null) {
      onHurry?.()
      process.exit(code)
    }
    if (signal === 'SIGTERM' && leave !== null) {
      code = ExitCode.suspended
      leave()
    } else {
      code = ExitCode.cancelled
      cancel()
    }
  }
  if (leave !== null) leaving.push(leave)
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  return () => {
    if (leave !== null) leaving.splice(leaving.indexOf(leave), 1)
    process.off('SIGINT', onSignal)
    process.off('SIGTERM', onSignal)
  }
}
