import { compileContext, type ContextSelection } from '../history/context-bundle/compile-context.ts'
import type { ContextBundle } from '../history/context-bundle/context-bundle.ts'
import { renderBundle } from '../history/context-bundle/render-bundle.ts'
import { strategyNamed, type StrategyChoice } from '../history/tool-history/choose-strategy.ts'
import { insertToolHistory, type InsertedHistory } from '../history/tool-history/insert-tool-history.ts'
import { summarizeToolHistory } from '../history/tool-history/summarize-tool-history.ts'
import type { Summarize, SummaryOutcome } from '../history/tool-history/summarize-with-model.ts'
import { LoopchartError } from '../errors.ts'
import type { Agent } from '../loop/agent.ts'
import type { InputItem } from '../protocol/items.ts'
import type { JsonObject } from '../protocol/json.ts'
import { chooseToolStrategy } from './choose-tool-strategy.ts'
import type { ConversationMemory, ProviderCursor } from './conversation-memory.ts'
import type { ConversationSettings } from './conversation-settings.ts'

interface TurnPlace {
  readonly runId: string
  /** The entry of the message that the run is for, which is the cut. */
  readonly messageSeq: number
}

/** What a run is told of the conversation. */
export interface CompiledTurn {
  readonly selection: ContextSelection
  readonly bundle: ContextBundle
  readonly bundleId: string
  /** How earlier work with tools is told. */
  readonly choice: StrategyChoice
  /** What became of it: how many calls were summarised, and which have no other half. */
  readonly history: InsertedHistory
  /** Who summarised calls that have become old; null: nobody was asked. */
  readonly summary: SummaryOutcome | null
  /** The last of them is the message. */
  readonly input: readonly JsonObject[]
  /** What the provider has of it, if it still has it. */
  readonly cursor: ProviderCursor | null
}

export interface CompileTurnOptions {
  readonly agent: Agent
  readonly settings: ConversationSettings
  readonly place: TurnPlace
  /** Asks a model about old calls; null: the rules summarise them. */
  readonly summarize: Summarize | null
  readonly signal: AbortSignal
}

/**
 * Puts together what a run is told, up to its message and not further: the same for the same conversation on every
 * machine. Throws `context_compile_failed` when a part of the memory is not there.
 */
export async function compileTurn(
  memory: ConversationMemory,
  { agent, settings, place, summarize, signal }: CompileTurnOptions,
): Promise<CompiledTurn> {
  const { selection, bundle, id } = compileContext(memory, {
    cut: { fromSeq: place.messageSeq },
    // Each summary holds what the one before it said: several of them would say it several times.
    strategy: settings.strategy === 'auto' ? 'summaries_recent_messages_v1' : settings.strategy,
    provenance: { run_session_id: place.runId, actor_id: settings.actorId, origin: settings.origin },
    recent: settings.recent,
    toolWork: 'include',
    budgetTokens: settings.budgetTokens,
    countTokens: settings.countTokens,
    ...compactEndpointOf(agent),
  })
  const choice = chooseToolStrategy(agent, settings, memory)
  const history = { config: settings.toolHistory, tokenCounter: settings.countTokens }
  const rendered = render(memory, bundle)
  const summary =
    summarize === null ? null : await summarizeToolHistory(rendered, { ...history, summarize, signal })
  const inserted = insertToolHistory(rendered, {
    ...history,
    strategy: strategyNamed(choice.strategy),
    ...(summary !== null && { summary }),
  })
  return {
    selection,
    bundle,
    bundleId: id,
    choice,
    summary: summary === null || summary.reason === 'nothing_old' ? null : summary,
    history: inserted,
    input: withParts(memory, inserted.items, place.messageSeq),
    cursor: settings.usesCursor ? cursorFor(memory, agent, place.messageSeq) : null,
  }
}

/** Where what a provider compacted can be read: nowhere, when any model of the agent is somewhere else. */
function compactEndpointOf({ models }: Agent): { readonly endpoint?: string } {
  const [first, ...rest] = models.map(({ compact }) => compact?.endpoint ?? null)
  return first != null && rest.every((endpoint) => endpoint === first) ? { endpoint: first } : {}
}

function render(memory: ConversationMemory, bundle: ContextBundle): readonly InputItem[] {
  const summaries = new Map(memory.checkpoints().map(({ artifactId, text }) => [artifactId, text]))
  try {
    return renderBundle(bundle, { toolWork: 'native', summaries: (id) => summaries.get(id) ?? null })
  } catch (error) {
    if (!(error instanceof LoopchartError)) throw error
    throw new LoopchartError('context_compile_failed', error.message, { cause: error })
  }
}

/** The items as a run takes them, with the message in full: the memory of it is text. */
function withParts(
  memory: ConversationMemory,
  items: readonly InputItem[],
  messageSeq: number,
): readonly JsonObject[] {
  const parts = memory.partsOf(messageSeq)
  const said = parts === null ? items : items.slice(0, -1)
  const copy: readonly JsonObject[] = JSON.parse(JSON.stringify(said))
  if (parts === null) return copy
  return [...copy, { type: 'message', role: 'user', content: parts.map((part) => ({ ...part })) }]
}

/**
 * The provider's own memory, where it is of all that is before the message and of nothing else. Another model, another
 * place or an agent that says other things knows nothing of it.
 */
function cursorFor({ cursor }: ConversationMemory, agent: Agent, messageSeq: number): ProviderCursor | null {
  const [model] = agent.models
  const isForAgent =
    cursor?.endpoint === model?.endpoint &&
    cursor?.model === model?.name &&
    cursor?.fingerprint === agent.description.fingerprint
  const isWhole = cursor?.entries === messageSeq && agent.settings.mode === 'previous_response_id'
  return isForAgent && isWhole ? cursor : null
}
