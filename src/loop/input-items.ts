import type { ContinuityMode } from '../../machines/loop.types.ts'
import type {
  AssistantMessageItemParam,
  CompactionSummaryItemParam,
  ReasoningItemParam,
} from '../protocol/generated/openresponses.ts'
import type { AnyItem, InputItem } from '../protocol/items.ts'
import { isJsonObject, type Json } from '../protocol/json.ts'
import { readText } from '../stream/open-item.ts'
import { sentCall, sentOutput, type AnswerText } from './call-items.ts'
import {
  assistantContent,
  fitText,
  isWithin,
  LENGTH_MAX,
  promptContent,
  quoted,
  textField,
  userContent,
  type Warn,
} from './input-parts.ts'
import { CallIds, firstOutputs, pairCalls, type PairedItem } from './pair-calls.ts'

export interface InputItemsOptions {
  /** `previous_response_id` when the provider has all that came before these items. */
  readonly mode: ContinuityMode
  /** Whether the provider may look up, by its id, a reasoning item that comes without its content. */
  readonly isStored: boolean
  readonly answerText: AnswerText
}

export interface SentItems {
  readonly items: readonly InputItem[]
  /** What could not be sent as it was, each thing once. */
  readonly warnings: readonly string[]
}

/**
 * Turns the items of a run into items that the protocol takes as input, and keeps of each what the protocol has a
 * place for. In `stateless` mode calls and outputs are paired and have ids made from their call ids. Calls keep
 * their arguments unless those are not JSON, then they are sent as `{}`. A name that the protocol does not take has
 * its odd characters replaced by `_`; such a call id is replaced by one made from it. Items that have no place in
 * an input, as those of hosted tools, are left out, and with them the reasoning that led to them. The same items always
 * give the same bytes.
 */
export function inputItems(
  items: readonly AnyItem[],
  options: InputItemsOptions,
  ids: CallIds = new CallIds(),
): SentItems {
  const warnings = new Set<string>()
  const warn: Warn = (warning) => warnings.add(warning)
  const isWhole = options.mode === 'stateless'
  const paired = isWhole ? pairCalls(items, warn, ids) : firstOutputs(items, warn)
  const sent: InputItem[] = []
  const places: (number | null)[] = []
  for (const one of paired) {
    const input = sentItem(one, options, warn)
    if (input === null) continue
    sent.push(input)
    places.push(one.at)
  }
  const kept = isWhole && items.some(isReasoning) ? withoutOrphans(items, sent, places, warn) : sent
  return { items: kept, warnings: [...warnings] }
}

function isReasoning({ type }: AnyItem): boolean {
  return type === 'reasoning'
}

function withoutOrphans(
  items: readonly AnyItem[],
  sent: readonly InputItem[],
  places: readonly (number | null)[],
  warn: Warn,
): readonly InputItem[] {
  const orphans = orphansIn(items, new Set(places))
  const kept = sent.filter((_, at) => !orphans.has(places[at] ?? null))
  if (kept.length < sent.length) {
    warn('reasoning was left out because the item that it led to is not there or cannot be sent')
  }
  return kept
}

/** Providers refuse reasoning that does not lead to an item of its response, also when that one cannot be sent. */
function orphansIn(items: readonly AnyItem[], sent: ReadonlySet<number | null>): ReadonlySet<number | null> {
  const orphans = new Set<number>()
  let hasFollower = false
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at]
    if (item?.type !== 'reasoning') hasFollower = item !== undefined && sent.has(at) && isFromModel(item)
    else if (!hasFollower) orphans.add(at)
  }
  return orphans
}

function isFromModel({ type, role }: AnyItem): boolean {
  return type === 'message' ? role === 'assistant' : type !== 'function_call_output'
}

function sentItem(paired: PairedItem, options: InputItemsOptions, warn: Warn): InputItem | null {
  const { item } = paired
  switch (item.type) {
    case 'message':
      return sentMessage(item, warn)
    case 'function_call':
      return sentCall(paired, warn)
    case 'function_call_output':
      return sentOutput(paired, options.mode, options.answerText, warn)
    case 'reasoning':
      return sentReasoning(item, options.isStored, warn)
    case 'compaction':
      return sentCompaction(item, warn)
    case 'item_reference': {
      const id = readText(item, 'id')
      return id === null ? null : { type: 'item_reference', id }
    }
    default:
      warn(`items of type ${quoted(item.type)} cannot be sent and were left out`)
      return null
  }
}

function sentMessage(item: AnyItem, warn: Warn): InputItem | null {
  const { role, content } = item
  const head = { type: 'message', ...textField(item, 'id'), ...textField(item, 'status') } as const
  switch (role) {
    case 'user':
      return { ...head, role, content: userContent(content, warn) }
    case 'system':
    case 'developer':
      return { ...head, role, content: promptContent(content, warn) }
    case 'assistant':
      return { ...head, role, ...phaseOf(item), content: assistantContent(content, warn) }
    default:
      warn('a message without a role that the protocol knows was left out')
      return null
  }
}

// Open Responses: dropping the phase can make the answers worse; null is no phase.
function phaseOf({ phase }: AnyItem): Pick<AssistantMessageItemParam, 'phase'> {
  return phase === 'commentary' || phase === 'final_answer' ? { phase } : {}
}

// Its raw content has no place in an input. Without encrypted content it is only an id to look up, which is an
// error where nothing was stored.
function sentReasoning(item: AnyItem, isStored: boolean, warn: Warn): ReasoningItemParam | null {
  const encrypted = textField(item, 'encrypted_content')
  if (encrypted.encrypted_content === undefined && !isStored) {
    warn('reasoning without encrypted_content was left out, since nothing is stored')
    return null
  }
  const summary = Array.isArray(item['summary']) ? item['summary'] : []
  return {
    type: 'reasoning',
    ...textField(item, 'id'),
    summary: summary.flatMap((part: Json) => {
      if (!isJsonObject(part) || typeof part['text'] !== 'string') return []
      return [{ type: 'summary_text', text: fitText(part['text'], warn) } as const]
    }),
    ...encrypted,
  }
}

function sentCompaction(item: AnyItem, warn: Warn): CompactionSummaryItemParam | null {
  const content = readText(item, 'encrypted_content')
  if (content !== null && isWithin(content, LENGTH_MAX.text))
    return { type: 'compaction', ...textField(item, 'id'), encrypted_content: content }
  warn('a compaction item without content that can be sent was left out')
  return null
}
