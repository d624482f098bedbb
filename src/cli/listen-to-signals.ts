import { ExitCode } from './exit-code.ts'

export interface SignalAnswers {
  /** Ends what is under way in good order. */
  readonly cancel: () => void
  /** Lets go of what is under way, which can be gone on with; null: it is not kept. */
  readonly leave: (() => void) | null
}

/**
 * The first signal ends what is under way in good order, the second at once. What is kept is not ended by SIGTERM, which
 * is about this process, but let go of. Gives what stops listening.
 */
export function listenToSignals({ cancel, leave }: SignalAnswers): () => void {
  let code: number | null = null
  const onSignal = (signal: NodeJS.Signals): void => {
    if (code !== null) process.exit(code)
    // The terminal has written ^C wherever the cursor was.
    if (process.stderr.isTTY) process.stderr.write('\n')
    if (signal === 'SIGTERM' && leave !== null) {
      code = ExitCode.suspended
      leave()
    } else {
      code = ExitCode.cancelled
      cancel()
    }
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  return () => {
    process.off('SIGINT', onSignal)
    process.off('SIGTERM', onSignal)
  }
}
