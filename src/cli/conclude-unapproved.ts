import type { Approvals, ApproveMode } from './approvals.ts'
import { ExitCode } from './exit-code.ts'
import type { Say } from './say-to.ts'
import { shellWord } from './shell-word.ts'

const NOT_COVERED = ': --approve all does not cover a command without a sandbox, --allow-unsandboxed does'

/** Says which calls wait for somebody and what to do; gives the exit code. The hint goes on with a run that is kept. */
export function concludeUnapproved(
  approvals: Approvals,
  mode: ApproveMode,
  say: Say,
  hint: string | null = null,
): number {
  for (const { path, reason } of approvals.unanswered) {
    const call = shellWord(path.join('/'))
    const isNotCovered = mode === 'all' && reason === 'unsandboxed'
    const why = isNotCovered ? NOT_COVERED : ''
    const how =
      hint === null
        ? `add ${isNotCovered ? '--allow-unsandboxed' : '--approve all'} or --approve none`
        : `${hint} --approve-call ${call} (or --deny-call ${call})`
    const name = approvals.nameOf(path)
    say(
      `call ${path.join('/')} of ${name} needs approval (${reason}) and there is no terminal to ask on${why}; ${how}`,
    )
  }
  return ExitCode.unapproved
}
