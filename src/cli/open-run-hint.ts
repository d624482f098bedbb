import { resumeHint } from './resume-hint.ts'
import type { RunFlags } from './run-flags.ts'
import { shellWord } from './shell-word.ts'

/** What to do about a run that keeps a conversation from going on, where nobody can be asked. */
export function openRunHint(flags: RunFlags, id: string, runId: string): string {
  return (
    `run ${runId} of this conversation has not ended; ${resumeHint(flags, runId)}; ` +
    `on a terminal, loopchart chat --conversation ${shellWord(id)} can also leave it for good`
  )
}
