import type { TokenUsage } from '../../machines/loop.types.ts'
import type { Checkpoint } from '../history/context-bundle/conversation-source.ts'
import { isCompacted } from '../history/context-bundle/is-compacted.ts'
import { compactByProvider } from '../loop/compact-by-provider.ts'
import { inputItems } from '../loop/input-items.ts'
import type { AnyItem } from '../protocol/items.ts'
import { newestCheckpoint } from './context-size.ts'
import type { ConversationParts } from './conversation-parts.ts'
import type { ConversationPlan } from './plan-conversation.ts'

/** What a provider made of the older part of a conversation; null, with the reason, when it made nothing. */
export interface ProviderCompaction {
  readonly compacted: NonNullable<Checkpoint['compacted']> | null
  readonly detail: string | null
  readonly usage: TokenUsage | null
}

/** Has the provider make the older turns shorter. Its request and its answer are in the log of the conversation. */
export async function compactAtProvider(
  { agent, log }: ConversationParts,
  plan: ConversationPlan,
  signal: AbortSignal,
): Promise<ProviderCompaction> {
  const [model] = agent.models
  if (model?.compact == null) {
    return { compacted: null, detail: `${model?.name ?? 'the model'} has no endpoint for it`, usage: null }
  }
  const { endpoint } = model.compact
  const old = withOwnItems(plan, newestCheckpoint(log.memory), endpoint)
  // A turn of no run: it tells this request from those before it, for a provider that answers the same one once.
  const input = { turn: plan.toSeq, attempt: 0, model: 0, items: old, usedTokens: null, left: NO_RUN }
  const { items, detail, usage } = await log.observed(signal, (io) =>
    compactByProvider(agent, { lead: [], old, kept: [] }, { input, io, children: null }),
  )
  if (items === null) return { compacted: null, detail, usage }
  const sent = inputItems(items, { mode: 'stateless', isStored: true, answerText: agent.tools.answerText })
  return isCompacted(sent.items)
    ? { compacted: { endpoint, items: sent.items }, detail: null, usage }
    : { compacted: null, detail: 'what the provider made cannot be sent back to it', usage }
}

/** What the provider itself made of still older turns goes back to it, in the place of our words for them. */
function withOwnItems(
  { old }: ConversationPlan,
  before: Checkpoint | null,
  endpoint: string,
): readonly AnyItem[] {
  if (before?.compacted?.endpoint !== endpoint) return old
  const own: readonly AnyItem[] = JSON.parse(JSON.stringify(before.compacted.items))
  return [...own, ...old.slice(1)]
}

// The endpoint is one request; nothing is run for it.
const NO_RUN = { toolCalls: 0, tokens: null, deadlineAt: null }
