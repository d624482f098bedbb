import { openStore } from '../journal/open-store.ts'
import type { Agent } from '../loop/agent.ts'
import type { InputPart } from '../loop/run-input.ts'
import { readAttachments } from './attachments.ts'
import { checkFlags, checkNoConversation } from './check-flags.ts'
import { KeptRun } from './kept-run.ts'
import { readPrompt } from './read-prompt.ts'
import { resumeHint } from './resume-hint.ts'
import type { RunFlags } from './run-flags.ts'
import { runSession, type SessionOptions } from './run-session.ts'
import { sendOnce } from './send-once.ts'
import { loadSettings, type Settings } from './settings.ts'
import { storePathOf } from './store-option.ts'
import { withAgent } from './with-agent.ts'

/** Runs one loop for `loopchart run`; resolves with the exit code. */
export async function runVerb(prompt: string | undefined, flags: RunFlags): Promise<number> {
  checkFlags(flags)
  const { conversation } = flags
  if (conversation === undefined) checkNoConversation(flags)
  const settings = await loadSettings(flags, process.env)
  const text = await readPrompt(prompt, flags)
  const attached = await readAttachments(flags.attach ?? [])
  const first: InputPart = { type: 'input_text', text }
  const input = attached.length === 0 ? text : [first, ...attached]
  if (conversation !== undefined) return sendOnce(input, conversation, flags, settings)
  const path = storePathOf(flags, settings)
  // Before anything else: a store that cannot be used must not be found out about after the first request.
  const store = path === null ? null : openStore(path)
  try {
    const kept = store === null ? null : new KeptRun({ store, resumeHint: (id) => resumeHint(flags, id) })
    return await driveRun(flags, settings, { input, kept })
  } finally {
    store?.close()
  }
}

export interface DrivenRun extends Pick<SessionOptions, 'input' | 'kept' | 'decided'> {
  /** What to do before, once it is known with what agent. */
  readonly prepare?: (agent: Agent) => void
}

/** Drives a run, new or old, as flags and settings say; resolves with the exit code. */
export function driveRun(
  flags: RunFlags,
  settings: Settings,
  { prepare, ...session }: DrivenRun,
): Promise<number> {
  return withAgent(flags, settings, ({ makeView, ...equipped }) => {
    prepare?.(equipped.agent)
    return runSession({ ...equipped, view: makeView(), ...session })
  })
}
