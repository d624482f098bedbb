import { LoopchartError, type ErrorCode } from '../errors.ts'
import type { Agent } from '../loop/agent.ts'
import { checkResume } from '../loop/check-resume.ts'
import type { Run } from '../loop/run.ts'
import { ExitCode } from './exit-code.ts'
import { callsIn, type KeptRun, type LetGo } from './kept-run.ts'

type Say = (text: string) => void

/** Says what has changed since the run was begun, where that does not keep it from going on. */
export function tellChanges({ store }: KeptRun, agent: Agent, say: Say): void {
  if (store.past.length === 0) return
  for (const reason of checkResume(store.past, agent).reasons) say(`${reason} since the run was begun`)
}

/** Says why a run was let go of and how to go on with it; gives the exit code. */
export function concludeLetGo(live: Run, { resumeHint }: KeptRun, why: LetGo, say: Say): number {
  const hint = resumeHint(live.id)
  switch (why) {
    case 'signal':
      say(`the run is suspended; ${hint}`)
      return ExitCode.suspended
    case 'unapproved':
      for (const callId of callsIn(live, 'call.approve')) {
        say(
          `${callName(live, callId)} needs approval and there is no terminal to ask on; ` +
            `${hint} --approve-call ${callId} (or --deny-call ${callId})`,
        )
      }
      return ExitCode.unapproved
    case 'in_doubt':
      for (const callId of callsIn(live, 'call.reconcile')) {
        say(
          `nobody knows how ${callName(live, callId)} ended, it was cut off while it ran; find out, then ` +
            `${hint} --reconcile ${callId}=done:OUTPUT (or =failed:WHY, or =rerun)`,
        )
      }
      return ExitCode.suspended
  }
}

const BROKEN: ReadonlySet<ErrorCode> = new Set(['store_full', 'store_unusable'])

/** Says how to go on with a run whose log could not be written; gives the exit code. Throws every other error. */
export function concludeBroken(error: unknown, hint: string, say: Say): number {
  if (!(error instanceof LoopchartError) || !BROKEN.has(error.code)) throw error
  say(`${error.message} [${error.code}]; when that is mended, ${hint}`)
  return ExitCode.suspended
}

function callName(live: Run, callId: string): string {
  const waiting = live.explain().waitsFor.find((text) => text.includes(` call ${callId} of `))
  return waiting === undefined ? `call ${callId}` : waiting.slice(waiting.indexOf(` call ${callId} of `) + 1)
}
