import { once } from 'node:events'

import type { Agent } from '../loop/agent.ts'
import { run, type Run, type RunResult } from '../loop/run.ts'
import type { RunInput } from '../loop/run-input.ts'
import { Approvals, type ApproveMode } from './approvals.ts'
import { ExitCode, exitCodeOf } from './exit-code.ts'
import type { Log } from './log.ts'
import { FrameRedactor } from './redact-frames.ts'
import type { Redactor } from './redactor.ts'
import { oneLine } from './safe-text.ts'
import type { RunView } from './run-view.ts'

export interface SessionOptions {
  readonly agent: Agent
  readonly input: RunInput
  readonly view: RunView
  readonly log: Log | null
  readonly redactor: Redactor
  readonly approve: ApproveMode
}

/** Runs an agent and shows it: to the view, to the log, and to the shell by the exit code that it resolves with. */
export async function runSession(options: SessionOptions): Promise<number> {
  const { agent, input, view, redactor, approve } = options
  const live = run(agent, input)
  const approvals = new Approvals(approve, live)
  const release = cancelOnSignals(live)
  try {
    await showFrames(live, options, approvals)
    const result = await live.result
    approvals.close()
    view.close()
    return conclude(result, redactor, approvals.isStuck)
  } finally {
    release()
    approvals.close()
    view.close()
  }
}

async function showFrames(
  live: Run,
  { view, log, redactor }: SessionOptions,
  approvals: Approvals,
): Promise<void> {
  const frames = new FrameRedactor(redactor)
  const show = (shown: ReturnType<FrameRedactor['end']>): void => {
    for (const frame of shown) {
      view.frame(frame)
      log?.frame(frame)
      if (frame.type === 'approval_requested') approvals.take(frame)
    }
  }
  for await (const frame of live) {
    show(frames.push(frame))
    // Frames wait in the log of the run until whoever reads the output has caught up.
    if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain')
  }
  show(frames.end())
}

/** The first signal ends the run in good order, the second at once. */
function cancelOnSignals(live: Run): () => void {
  let isFirst = true
  const onSignal = (): void => {
    if (!isFirst) process.exit(ExitCode.cancelled)
    isFirst = false
    // The terminal has written ^C wherever the cursor was.
    if (process.stderr.isTTY) process.stderr.write('\n')
    void live.cancel('interrupted')
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  return () => {
    process.off('SIGINT', onSignal)
    process.off('SIGTERM', onSignal)
  }
}

function conclude(result: RunResult, redactor: Redactor, isStuck: boolean): number {
  const say = (text: string): void => {
    process.stderr.write(`loopchart: ${oneLine(redactor.text(text))}\n`)
  }
  const { status, state, reason, message } = result
  if (redactor.masked > 0)
    say(`secrets were masked as [redacted] in ${places(redactor.masked)} of what was shown`)
  if (isStuck) {
    say(
      'a call needs approval and there is no terminal to ask on [usage]; add --approve all or --approve none',
    )
    return ExitCode.unapproved
  }
  if (status === 'suspended') {
    const when = result.retryAt === null ? 'later' : `after ${new Date(result.retryAt).toISOString()}`
    say(`${message}; the provider asks for a long wait, run this again ${when} [${reason}]`)
  }
  if (state === 'failed') say(`${message} [${reason}]`)
  if (state === 'limitExceeded') say(`${message} [${reason}]; raise it with --limit`)
  return exitCodeOf(result)
}

function places(count: number): string {
  return count === 1 ? '1 place' : `${count} places`
}
