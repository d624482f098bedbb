import { LoopchartError } from '../../errors.ts'
import { canonicalJson } from '../../protocol/canonical-json.ts'
import type { InputItem } from '../../protocol/items.ts'
import { parseJson } from '../../protocol/json.ts'
import { SentCallIds } from '../tool-history/sent-call-ids.ts'
import { withCallId } from '../tool-history/with-call-id.ts'
import type { BundleItem, ContextBundle } from './context-bundle.ts'
import { summaryText } from './summary-text.ts'
import type { ToolWorkItem } from './tool-work.ts'

/** Where summaries are, and in which form tool work is told. */
export type RenderOptions = SummaryLookup & (NativeToolWork | TextToolWork)

interface SummaryLookup {
  /** The text of a summary, or null when there is none of that id. */
  readonly summaries: (artifactId: string) => string | null
}

interface NativeToolWork {
  /** Calls and outputs as the protocol has them. */
  readonly toolWork: 'native'
}

interface TextToolWork {
  /** For models that do not take the calls of other runs. */
  readonly toolWork: 'text'
  /** Makes one whole group into messages. */
  readonly renderToolWork: (items: readonly ToolWorkItem[]) => readonly InputItem[]
}

/**
 * The input items that a bundle stands for, in its order; what a provider compacted is given as it is. The same
 * bundle always gives the same bytes, whatever the order of the keys in it. Throws `artifact_unknown` when a summary
 * is not there: a run that has lost its memory must not start as if it had none.
 */
export function renderBundle(bundle: ContextBundle, options: RenderOptions): readonly InputItem[] {
  const sentCallIds = new SentCallIds()
  return bundle.items.flatMap((item) => renderItem(item, options, sentCallIds))
}

function renderItem(
  item: BundleItem,
  options: RenderOptions,
  sentCallIds: SentCallIds,
): readonly InputItem[] {
  switch (item.type) {
    case 'message':
      return [{ type: 'message', role: item.role, content: item.content }]
    case 'summary_ref': {
      const summary = options.summaries(item.artifact_id)
      if (summary === null)
        throw new LoopchartError('artifact_unknown', `there is no summary ${item.artifact_id}`)
      return [{ type: 'message', role: 'system', content: summaryText(item, summary) }]
    }
    case 'compaction': {
      const items = item.items.map(withSortedKeys)
      for (const one of items) if (one.type === 'function_call') sentCallIds.next(one.call_id)
      return items
    }
    case 'tool_work': {
      const items = item.items.map(withSortedKeys)
      return options.toolWork === 'text' ? options.renderToolWork(items) : nativeItems(items, sentCallIds)
    }
  }
}

function withSortedKeys<Item extends InputItem>(item: Item): Item {
  const sorted: Item = JSON.parse(canonicalJson(item))
  return sorted
}

// Providers give call ids out again in later runs, and match outputs by them: within a request each must be one.
function nativeItems(items: readonly ToolWorkItem[], sentCallIds: SentCallIds): readonly InputItem[] {
  const callIds = new Map<string, string>()
  return items.map((item) => {
    switch (item.type) {
      case 'reasoning':
      case 'message':
        return item
      case 'function_call': {
        const callId = sentCallIds.next(item.call_id)
        callIds.set(item.call_id, callId)
        return { ...withCallId(item, callId), arguments: sentArguments(item.arguments) }
      }
      case 'function_call_output':
        return withCallId(item, callIds.get(item.call_id) ?? item.call_id)
    }
  })
}

// Providers parse the arguments of past calls and refuse the request when they cannot.
function sentArguments(text: string): string {
  return parseJson(text) === undefined ? '{}' : text
}
