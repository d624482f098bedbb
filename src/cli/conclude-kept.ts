import { LoopchartError, type ErrorCode } from '../errors.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { Agent } from '../loop/agent.ts'
import { checkResume } from '../loop/check-resume.ts'
import type { Run } from '../loop/run.ts'
import type { Approvals, ApproveMode } from './approvals.ts'
import { concludeUnapproved } from './conclude-unapproved.ts'
import { ExitCode } from './exit-code.ts'
import type { KeptRun, LetGo } from './kept-run.ts'
import type { Say } from './say-to.ts'
import { shellWord } from './shell-word.ts'

/** Says what has changed since the run was begun, where that does not keep it from going on. */
export function tellChanges(past: readonly Frame[], agent: Agent, say: Say): void {
  if (past.length === 0) return
  for (const reason of checkResume(past, agent).reasons) say(`${reason} since the run was begun`)
}

export interface LetGoRun {
  readonly live: Run
  readonly kept: KeptRun
  readonly approvals: Approvals
  readonly mode: ApproveMode
  readonly why: LetGo
  readonly say: Say
}

/** Says why a run was let go of and how to go on with it; gives the exit code. */
export function concludeLetGo({ live, kept, approvals, mode, why, say }: LetGoRun): number {
  const hint = kept.resumeHint(live.id)
  switch (why) {
    case 'signal':
      say(`the run is suspended; ${hint}`)
      return ExitCode.suspended
    case 'unapproved':
      return concludeUnapproved(approvals, mode, say, hint)
    case 'in_doubt':
      for (const path of kept.doubted) {
        say(
          `nobody knows how ${callName(live, path)} ended, it was cut off while it ran; find out, then ` +
            `${hint} --reconcile ${shellWord(path)}=done:OUTPUT (or =failed:WHY, or =rerun)`,
        )
      }
      return ExitCode.suspended
  }
}

const BROKEN: ReadonlySet<ErrorCode> = new Set(['store_full', 'store_unusable'])

/** Says how to go on with a run whose log could not be written; gives the exit code. Throws every other error. */
export function concludeBroken(error: unknown, hint: string, say: Say): number {
  if (!(error instanceof LoopchartError) || !BROKEN.has(error.code)) throw error
  say(`${error.message} [${error.code}]; mend that first; ${hint}`)
  return ExitCode.suspended
}

function callName(live: Run, callId: string): string {
  const waiting = live.explain().waitsFor.find((text) => text.includes(` call ${callId} of `))
  return waiting === undefined ? `call ${callId}` : waiting.slice(waiting.indexOf(` call ${callId} of `) + 1)
}
