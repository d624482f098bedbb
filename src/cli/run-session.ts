import { once } from 'node:events'

import type { Frame } from '../frames/generated/frame.ts'
import type { Agent } from '../loop/agent.ts'
import { run, type ResumeInput, type Run, type RunResult, type SuspendedRun } from '../loop/run.ts'
import type { RunInput } from '../loop/run-input.ts'
import { Approvals, type ApproveMode, type ApprovalsOptions } from './approvals.ts'
import { concludeBroken, concludeLetGo, tellChanges } from './conclude-kept.ts'
import { concludeUnapproved } from './conclude-unapproved.ts'
import { ExitCode, exitCodeOf } from './exit-code.ts'
import { JsonView } from './json-view.ts'
import { openRequests, type KeptRun } from './kept-run.ts'
import type { Log } from './log.ts'
import { FrameRedactor } from './redact-frames.ts'
import type { Redactor } from './redactor.ts'
import { oneLine } from './safe-text.ts'
import type { RunView } from './run-view.ts'

export interface SessionOptions {
  readonly agent: Agent
  readonly input: RunInput | ResumeInput
  readonly view: RunView
  readonly log: Log | null
  readonly redactor: Redactor
  readonly approve: ApproveMode
  /** Whether to approve all calls is also to approve commands without a sandbox. */
  readonly isUnsandboxedAllowed?: boolean
  /** Where to ask for approval; null: nobody is there. */
  readonly terminal: ApprovalsOptions['terminal']
  /** What keeps the run; without it, it is gone with this process. */
  readonly kept?: KeptRun | null
  /** What was said beforehand about calls that need approval. */
  readonly decided?: ReadonlyMap<string, boolean>
}

/** Runs an agent and shows it: to the view, to the log, and to the shell by the exit code that it resolves with. */
export async function runSession(options: SessionOptions): Promise<number> {
  const { agent, input, view, redactor, terminal, kept = null, decided = new Map() } = options
  const { approve: mode, isUnsandboxedAllowed = false } = options
  const past = pastOf(input, kept)
  const live = run(agent, input, kept === null ? {} : { store: kept.store })
  const isShown = !(view instanceof JsonView)
  const say = (text: string): void => {
    process.stderr.write(`loopchart: ${oneLine(redactor.text(text))}\n`)
  }
  tellChanges(past, agent, say)
  if (kept !== null && isShown) process.stderr.write(`run ${oneLine(live.id)}\n`)
  const onNobody = (): void => (kept === null ? void live.suspend() : kept.leave(live, 'unapproved'))
  const approvals = new Approvals({ mode, isUnsandboxedAllowed, live, terminal, decided, onNobody })
  const release = listenToSignals(live, kept)
  const finish = (): void => {
    approvals.close()
    view.close()
  }
  try {
    await showFrames(live, past, options, approvals)
    const letGo = (await kept?.letGo()) ?? null
    if (kept !== null && letGo !== null) {
      finish()
      tellMasked(redactor, say)
      return concludeLetGo({ live, kept, approvals, mode, why: letGo, say })
    }
    const result = await live.result
    finish()
    tellMasked(redactor, say)
    if (kept === null && approvals.unanswered.length > 0) return concludeUnapproved(approvals, mode, say)
    return conclude(result, { resumeHint: kept?.resumeHint(live.id) ?? null, say })
  } catch (error) {
    finish()
    if (kept === null) throw error
    return concludeBroken(error, kept.resumeHint(live.id), say)
  } finally {
    release()
    finish()
  }
}

/** What the log of a run that is taken up has already. */
function pastOf(input: RunInput | ResumeInput, kept: KeptRun | null): readonly Frame[] {
  const isResumed = kept !== null && typeof input === 'object' && 'resume' in input
  return isResumed ? [...kept.store.read(input.resume)] : []
}

async function showFrames(
  live: Run,
  past: readonly Frame[],
  { view, log, redactor, kept }: SessionOptions,
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
    if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain')
  }
  show(frames.end())
}

/**
 * The first signal ends the run in good order, the second at once. A run that is kept is not ended by SIGTERM, which is
 * about this process, but let go of.
 */
function listenToSignals(live: Run, kept: KeptRun | null): () => void {
  let code: number | null = null
  const onSignal = (signal: NodeJS.Signals): void => {
    if (code !== null) process.exit(code)
    // The terminal has written ^C wherever the cursor was.
    if (process.stderr.isTTY) process.stderr.write('\n')
    if (signal === 'SIGTERM' && kept !== null) {
      code = ExitCode.suspended
      kept.leave(live, 'signal')
    } else {
      code = ExitCode.cancelled
      void live.cancel('interrupted')
    }
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  return () => {
    process.off('SIGINT', onSignal)
    process.off('SIGTERM', onSignal)
  }
}

function tellMasked({ masked }: Redactor, say: (text: string) => void): void {
  if (masked > 0) say(`secrets were masked as [redacted] in ${places(masked)} of what was shown`)
}

interface Conclusion {
  /** Goes on with a run that was let go of; null: it is not kept. */
  readonly resumeHint: string | null
  readonly say: (text: string) => void
}

function conclude(result: RunResult, { resumeHint, say }: Conclusion): number {
  const { status, state, reason, message } = result
  if (status === 'suspended') say(`${message}; ${howToGoOn(result, resumeHint)} [${reason}]`)
  if (state === 'failed') say(`${message} [${reason}]`)
  if (state === 'limitExceeded') {
    const flag = LIMIT_NAMES[reason]
    say(`${message} [${reason}]${flag === undefined ? '' : `; raise it with --limit ${flag}=N`}`)
  }
  return exitCodeOf(result)
}

function howToGoOn({ reason, retryAt }: SuspendedRun, hint: string | null): string {
  if (reason === 'workspace_missing') return `bring it back, then ${hint ?? 'run this again'}`
  const when = retryAt === null ? 'later' : `after ${new Date(retryAt).toISOString()}`
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
