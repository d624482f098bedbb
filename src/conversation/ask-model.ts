import { randomUUID } from 'node:crypto'

import type { TokenUsage } from '../../machines/loop.types.ts'
import type { Model } from '../loop/model.ts'
import { startRun } from '../loop/run.ts'
import { textAgent } from '../loop/text-agent.ts'
import { agentWithin } from './agent-within.ts'
import type { ConversationParts } from './conversation-parts.ts'

export interface AskOptions {
  readonly instructions: string
  readonly question: string
  /** Asked instead of the agent's own. */
  readonly model?: Model
  readonly signal: AbortSignal
}

/** What a model said that was asked beside the conversation. */
export interface AskedAnswer {
  /** The run in which it was asked, kept beside those of the conversation; null: it was not asked. */
  readonly runId: string | null
  /** Null when there is no answer; `detail` says why. */
  readonly text: string | null
  readonly detail: string | null
  readonly usage: TokenUsage | null
}

/** Asks a model for a text, in a run of its own without tools. Rejects only when that cannot be started. */
export async function askModel(
  parts: ConversationParts,
  { instructions, question, model, signal }: AskOptions,
): Promise<AskedAnswer> {
  const { id, agent, store } = parts
  if (signal.aborted) return { runId: null, text: null, detail: 'it was cancelled', usage: null }
  const asking = textAgent(agent, { instructions, ...(model !== undefined && { model }) })
  const asked = startRun(agentWithin(parts, asking), question, {
    runId: `${id}.summary.${randomUUID().slice(0, 8)}`,
    signal,
    ...(store !== null && { store }),
  })
  const result = await asked.result
  const isAnswer = result.status === 'ended' && result.state === 'done' && result.text.trim() !== ''
  return {
    runId: asked.id,
    text: isAnswer ? result.text.trim() : null,
    detail: isAnswer ? null : `${result.reason}: ${result.message}`,
    usage: result.usage,
  }
}
