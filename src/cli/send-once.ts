import type { InputPart } from '../loop/run-input.ts'
import { ExitCode } from './exit-code.ts'
import { openRunHint } from './open-run-hint.ts'
import { chatHint, resumeHint } from './resume-hint.ts'
import type { RunFlags } from './run-flags.ts'
import { oneLine } from './safe-text.ts'
import type { Settings } from './settings.ts'
import { showTurn } from './show-turn.ts'
import { withConversation } from './with-conversation.ts'

/** Sends one message of a conversation for `loopchart run --conversation`; resolves with the exit code. */
export function sendOnce(
  message: string | readonly InputPart[],
  id: string,
  flags: RunFlags,
  settings: Settings,
): Promise<number> {
  return withConversation(id, flags, settings, async ({ talk, isNew, store, equipped }) => {
    if (isNew) equipped.say(`conversation ${id} is new`)
    if (talk.openRun !== null) {
      equipped.say(openRunHint(flags, id, talk.openRun))
      return ExitCode.suspended
    }
    const { code } = await showTurn(talk.send(message), {
      equipped,
      store,
      resumeHint: (runId) => resumeHint(flags, runId),
      chatHint: chatHint(flags, id),
      isBudget: settings.config.budget?.tokens !== undefined,
      detail: 'full',
      onRun: (live) => {
        if (flags.json !== true) process.stderr.write(`run ${oneLine(live.id)}\n`)
      },
    })
    return code
  })
}
