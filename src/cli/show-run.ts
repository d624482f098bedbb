import { once } from 'node:events'

import { timeText } from '../clock.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { Run, RunResult, SuspendedRun } from '../loop/run.ts'
import { Approvals, type ApproveMode, type ApprovalsOptions } from './approvals.ts'
import { concludeBroken, concludeLetGo } from './conclude-kept.ts'
import { concludeUnapproved } from './conclude-unapproved.ts'
import { exitCodeOf } from './exit-code.ts'
import { openRequests, type KeptRun } from './kept-run.ts'
import type { Log } from './log.ts'
import { FrameRedactor } from '../frames/redact-frames.ts'
import type { Redactor } from '../frames/redactor.ts'
import type { RunView } from './run-view.ts'
import type { Say } from './say-to.ts'

/** By whom and how the runs of a command are shown. */
export interface Showing {
  readonly log: Log | null
  readonly redactor: Redactor
  readonly approve: ApproveMode
  /** Whether to approve all calls is also to approve commands without a sandbox. */
  readonly isUnsandboxedAllowed?: boolean
  /** Where to ask for approval; null: nobody is there. */
  readonly terminal: ApprovalsOptions['terminal']
}

export interface ShowRunOptions extends Showing {
  /** Closed when the run is over. */
  readonly view: RunView
  /** What keeps the run; null: it is gone with this process. */
  readonly kept: KeptRun | null
  /** What its log had before it was taken up. */
  readonly past: readonly Frame[]
  /** What was said beforehand about calls that need approval. */
  readonly decided: ReadonlyMap<string, boolean>
  /** The flag that bounds its tokens; `--limit` when left out. */
  readonly tokensFlag?: '--limit' | '--budget'
  /** Takes lines about how the run ended. */
  readonly say: Say
}

/** Shows a run until it is over, with the questions that it has; resolves with the exit code that says how it ended. */
export async function showRun(live: Run, options: ShowRunOptions): Promise<number> {
  const { view, redactor, terminal, kept, decided, tokensFlag = '--limit', say } = options
  const { approve: mode, isUnsandboxedAllowed = false } = options
  const maskedBefore = redactor.masked
  const onNobody = (): void => (kept === null ? void live.suspend() : kept.leave(live, 'unapproved'))
  const approvals = new Approvals({ mode, isUnsandboxedAllowed, live, terminal, decided, onNobody })
  const finish = (): void => {
    approvals.close()
    view.close()
    kept?.close()
  }
  const tellMasked = (): void => {
    const count = redactor.masked - maskedBefore
    if (count > 0) say(`secrets were masked as [redacted] in ${places(count)} of what was shown`)
  }
  try {
    await showFrames(live, options, approvals)
    const letGo = (await kept?.letGo()) ?? null
    if (kept !== null && letGo !== null) {
      finish()
      tellMasked()
      return concludeLetGo({ live, kept, approvals, mode, why: letGo, say })
    }
    const result = await live.result
    finish()
    tellMasked()
    if (kept === null && approvals.unanswered.length > 0) return concludeUnapproved(approvals, mode, say)
    return conclude(result, { resumeHint: kept?.resumeHint(live.id) ?? null, tokensFlag, say })
  } catch (error) {
    finish()
    if (kept === null) throw error
    return concludeBroken(error, kept.resumeHint(live.id), say)
  } finally {
    finish()
  }
}

async function showFrames(
  live: Run,
  { view, log, redactor, kept, past }: ShowRunOptions,
  approvals: Approvals,
): Promise<void> {
  const frames = new FrameRedactor(redactor)
  const unanswered = openRequests(past, live)
  const show = (shown: ReturnType<FrameRedactor['end']>): void => {
    for (const frame of shown) {
      approvals.follow(frame)
      if (frame.seq < past.length && !unanswered.has(frame.seq)) {
        view.past(frame)
        continue
      }
      view.frame(frame)
      log?.frame(frame)
      if (frame.type === 'approval_requested') approvals.take(frame)
    }
  }
  for await (const frame of live) {
    show(frames.push(frame))
    if (frame.seq >= past.length) kept?.follow(live, frame)
    // Frames wait in the log of the run until whoever reads the output has caught up.
    // What becomes of it when the reader is gone is not for this to say.
    if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain').catch(() => undefined)
  }
  show(frames.end())
}

interface Conclusion {
  /** Goes on with a run that was let go of; null: it is not kept. */
  readonly resumeHint: string | null
  readonly tokensFlag: string
  readonly say: Say
}

function conclude(result: RunResult, { resumeHint, tokensFlag, say }: Conclusion): number {
  const { status, state, reason, message } = result
  if (status === 'suspended') say(`${message}; ${howToGoOn(result, resumeHint)} [${reason}]`)
  if (state === 'failed') say(`${message} [${reason}]`)
  if (state === 'limitExceeded') {
    const name = LIMIT_NAMES[reason]
    const flag = reason === 'tokens' ? tokensFlag : '--limit'
    say(`${message} [${reason}]${name === undefined ? '' : `; raise it with ${flag} ${name}=N`}`)
  }
  return exitCodeOf(result)
}

function howToGoOn({ reason, retryAt }: SuspendedRun, hint: string | null): string {
  if (reason === 'workspace_missing') return `bring it back, then ${hint ?? 'run this again'}`
  const when = retryAt === null ? 'later' : `after ${timeText(retryAt)}`
  const how = hint === null ? `run this again ${when}` : `${when} ${hint}`
  return reason === 'retry_later' ? `the provider asks for a long wait, ${how}` : how
}

/** By the reason of an ending, what `--limit` calls it. Others are the agent's own. */
const LIMIT_NAMES: Readonly<Record<string, string>> = {
  turns: 'turns',
  tool_calls: 'tool_calls',
  tokens: 'tokens',
  wall_time: 'ms',
}

function places(count: number): string {
  return count === 1 ? '1 place' : `${count} places`
}
