/**
 * Context bundles: what a fresh run is told about the conversation so far. A conversation is compiled, up to an
 * explicit cut, to a bundle that any machine would make the same; the bundle is recorded and rendered to input items.
 * Nothing here reads a clock, a file or a provider.
 */
import { LoopchartError } from '../../errors.ts'
import { canonicalJson } from '../../protocol/canonical-json.ts'
import { estimateTokens, type TokenCounter } from '../tool-history/estimate-tokens.ts'
import {
  chooseContextStrategy,
  type ContextStrategy,
  type StrategyReason,
} from './choose-context-strategy.ts'
import {
  contextBundleId,
  type BundleCompaction,
  type BundleProvenance,
  type ContextBundle,
} from './context-bundle.ts'
import type { Checkpoint, ConversationEntry, ConversationSource } from './conversation-source.ts'
import { fitBudget, type CountedPart } from './fit-budget.ts'
import { isCompacted } from './is-compacted.ts'
import { selectTurns, type ContextPart, type LeftOut } from './select-turns.ts'
import { coverNote, summaryText } from './summary-text.ts'

/** Up to where a conversation is compiled, and how. */
export interface CompileOptions {
  /** The last entry to look at, which must exist: what comes behind it later must not change the result. */
  readonly cut: { readonly fromSeq: number; readonly fromMessageId?: string }
  readonly strategy: ContextStrategy | 'auto'
  readonly provenance: BundleProvenance
  /** How many messages of the user at most; 16 when left out. */
  readonly recent?: number
  /** `omit`, which is the default, gives a `rip.context_bundle.v1`; `include` a `loopchart.context_bundle.v1`. */
  readonly toolWork?: 'omit' | 'include'
  readonly budgetTokens?: number
  /**
   * Where the bundle will be sent. When the newest checkpoint has what that very endpoint compacted, and `toolWork` is
   * `include`, that stands in the place of all summaries.
   */
  readonly endpoint?: string
  /** `estimateTokens` when left out. */
  readonly countTokens?: TokenCounter
}

/** What was chosen and why: plain data, to be recorded before the bundle that came of it. */
export interface ContextSelection {
  readonly asked: ContextStrategy | 'auto'
  readonly strategy: ContextStrategy
  readonly reason: StrategyReason
  readonly from_seq: number
  readonly from_message_id: string | null
  readonly recent: number
  readonly tool_work: 'omit' | 'include'
  /** Those that the strategy took, the oldest first, also when the budget left them out again. */
  readonly checkpoints: readonly SelectedCheckpoint[]
  readonly left_out: readonly LeftOut[]
  /** An estimate of what the rendered bundle takes. */
  readonly tokens: number
  readonly budget_tokens: number | null
}

/** A checkpoint that a context refers to; its text is stored under `artifact_id`. */
export interface SelectedCheckpoint {
  readonly seq: number
  readonly artifact_id: string
  readonly from_seq: number
  readonly to_seq: number
  /** Whether what a provider made of it was taken, in the place of every summary. */
  readonly compacted: boolean
}

/** A bundle, and how it came to be what it is. */
export interface CompiledContext {
  readonly selection: ContextSelection
  readonly bundle: ContextBundle
  /** As `contextBundleId` gives it. */
  readonly id: string
}

/**
 * Makes a bundle from a conversation. The same conversation, cut and options always give the same selection, bundle
 * and id, also when more entries have come since. Takes time in proportion to what is selected, not to the whole.
 * Throws `usage` when the cut is not in the conversation or a number cannot be used.
 */
export function compileContext(source: ConversationSource, options: CompileOptions): CompiledContext {
  const { cut, recent = 16, toolWork = 'omit', budgetTokens = null, countTokens = estimateTokens } = options
  checkNumbers(source, cut.fromSeq, recent, budgetTokens)
  const chosen = chooseContextStrategy(options.strategy, source.checkpoints(), cut.fromSeq)
  const coveredSeq = chosen.checkpoints.at(-1)?.toSeq ?? -1
  const compacted = toolWork === 'include' ? compactedCheckpoint(chosen.checkpoints, options.endpoint) : null
  const selected = selectTurns(source, { cutSeq: cut.fromSeq, coveredSeq, recent, toolWork })
  const fitted = fitBudget(
    memoryParts(chosen.checkpoints, compacted, countTokens),
    selected.turns.map((parts) => parts.map((part) => countedPart(part, countTokens))),
    budgetTokens,
  )
  const bundle = makeBundle(source.threadId, chosen.strategy, options, fitted.parts)
  const selection: ContextSelection = {
    asked: options.strategy,
    strategy: chosen.strategy,
    reason: chosen.reason,
    from_seq: cut.fromSeq,
    from_message_id: bundle.source.from_message_id ?? null,
    recent,
    tool_work: toolWork,
    checkpoints: chosen.checkpoints.map((one) => selectedCheckpoint(one, one.seq === compacted?.seq)),
    left_out: [...selected.leftOut, ...fitted.leftOut],
    tokens: fitted.tokens,
    budget_tokens: budgetTokens,
  }
  return { selection, bundle, id: contextBundleId(bundle) }
}

function checkNumbers(
  { length }: ConversationSource,
  fromSeq: number,
  recent: number,
  budgetTokens: number | null,
): void {
  if (!Number.isInteger(fromSeq) || fromSeq < 0 || fromSeq >= length)
    throw new LoopchartError('usage', `the cut ${fromSeq} is not one of the ${length} entries`)
  if (!Number.isSafeInteger(recent) || recent < 1)
    throw new LoopchartError('usage', `recent must be a whole number of at least 1, not ${recent}`)
  if (budgetTokens !== null && !(budgetTokens >= 0))
    throw new LoopchartError('usage', `budgetTokens must be a number of at least 0, not ${budgetTokens}`)
}

function makeBundle(
  threadId: string,
  strategy: ContextStrategy,
  { cut, provenance, toolWork }: CompileOptions,
  parts: readonly ContextPart[],
): ContextBundle {
  const { run_session_id, actor_id, origin } = provenance
  const head = {
    compiler: { id: 'loopchart.context_compiler.v1', strategy },
    source: { thread_id: threadId, from_seq: cut.fromSeq, from_message_id: cut.fromMessageId ?? null },
    provenance: { run_session_id, actor_id, origin },
  }
  const items = parts.map(({ item }) => item)
  if (toolWork === 'include') return { schema: 'loopchart.context_bundle.v1', ...head, items }
  return {
    schema: 'rip.context_bundle.v1',
    ...head,
    items: items.filter((item) => item.type !== 'tool_work' && item.type !== 'compaction'),
  }
}

/** The newest checkpoint with what an endpoint compacted, if that endpoint is asked; null: text it is. */
function compactedCheckpoint(
  checkpoints: readonly Checkpoint[],
  endpoint: string | undefined,
): CompactedCheckpoint | null {
  const newest = checkpoints.at(-1)
  if (newest?.compacted === undefined || newest.compacted.endpoint !== endpoint) return null
  const { seq, artifactId, compacted } = newest
  // What cannot be sent must not keep a run from starting: there is the text.
  if (!isCompacted(compacted.items)) return null
  return { seq, item: { type: 'compaction', artifact_id: artifactId, endpoint, items: compacted.items } }
}

interface CompactedCheckpoint {
  readonly seq: number
  readonly item: BundleCompaction
}

function memoryParts(
  checkpoints: readonly Checkpoint[],
  compacted: CompactedCheckpoint | null,
  countTokens: TokenCounter,
): readonly CountedPart[] {
  if (compacted === null) return checkpoints.map((checkpoint) => summaryPart(checkpoint, countTokens))
  return [countedPart({ ...compacted, group: null }, countTokens)]
}

function summaryPart(checkpoint: Checkpoint, countTokens: TokenCounter): CountedPart {
  const { seq, artifactId, fromSeq, toSeq, text } = checkpoint
  const item = { type: 'summary_ref', artifact_id: artifactId, note: coverNote(fromSeq, toSeq) } as const
  return { seq, group: null, item, type: 'checkpoint', tokens: countTokens(summaryText(item, text)) }
}

function countedPart(part: ContextPart, countTokens: TokenCounter): CountedPart {
  const { item } = part
  const text = item.type === 'message' ? item.content : canonicalJson(item)
  return { ...part, type: entryType(item), tokens: countTokens(text) }
}

function entryType(item: ContextPart['item']): ConversationEntry['type'] {
  if (item.type === 'tool_work') return item.type
  if (item.type === 'summary_ref' || item.type === 'compaction') return 'checkpoint'
  return item.role === 'assistant' ? 'answer' : 'message'
}

function selectedCheckpoint(checkpoint: Checkpoint, compacted: boolean): SelectedCheckpoint {
  const { seq, artifactId, fromSeq, toSeq } = checkpoint
  return { seq, artifact_id: artifactId, from_seq: fromSeq, to_seq: toSeq, compacted }
}
