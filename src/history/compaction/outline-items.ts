import type { AnyItem } from '../../protocol/items.ts'
import { newestDetails } from '../tool-history/call-line.ts'
import { cutText } from '../tool-history/cut-text.ts'
import { outlineCalls, type CallDetail, type CallGroup } from '../tool-history/outline-calls.ts'
import { readToolHistoryConfig, type ToolHistoryOptions } from '../tool-history/read-tool-history-config.ts'
import { carriedSummary, type CarriedSummary } from './carried-summary.ts'
import { messageText, textOf } from './item-text.ts'
import { readCalls } from './read-calls.ts'
import { isOwnText, isRequest, isToldResult } from './standing-messages.ts'

/** What there is to say about items, before anything is left out for want of room. */
export interface ItemsOutline {
  /** What earlier summaries said and who said what, the oldest first. */
  readonly lines: readonly OutlineLine[]
  /** The newest message of the user among the lines; null when there is none. */
  readonly request: OutlineLine | null
  readonly groups: readonly OutlineGroup[]
  readonly errors: readonly OutlineLine[]
  /** How many lines and errors earlier summaries left out. */
  readonly linesLeftOut: number
  readonly errorsLeftOut: number
}

/** One line, and the place of the item that it is from. */
interface OutlineLine {
  readonly at: number
  readonly text: string
}

/** The calls of one kind, with those details that a summary has at most; their places are those of items. */
interface OutlineGroup {
  readonly group: CallGroup
  readonly details: readonly CallDetail[]
}

const USER_CHARACTERS_MAX = 400
const OTHER_CHARACTERS_MAX = 200

/** Collects what a summary may mention of items. `cutRequest` makes the newest message of the user short enough. */
export function outlineItems(
  items: readonly AnyItem[],
  options: ToolHistoryOptions,
  cutRequest: (line: string) => string,
): ItemsOutline {
  const calls = readCalls(items)
  const { groups, errors } = outlineCalls(
    calls.map(({ call }) => call),
    readToolHistoryConfig(options),
  )
  const summaries = items.map(carriedSummary)
  const requestAt = items.findLastIndex(isRequest)
  const lines = items.flatMap((item, at) => {
    const texts = summaries[at]?.lines ?? saidLine(item, at === requestAt ? cutRequest : null)
    return texts.map((text) => ({ at, text }))
  })
  const carriedErrors = summaries.flatMap((summary, at) =>
    (summary?.errors ?? []).map((text) => ({ at, text })),
  )
  return {
    lines,
    request: lines.find(({ at }) => at === requestAt) ?? null,
    groups: groups.map((group) => ({
      group,
      details: newestDetails(group).map(({ text, at }) => ({ text, at: calls[at]?.at ?? at })),
    })),
    errors: [...carriedErrors, ...errors.map((text) => ({ at: items.length, text }))],
    linesLeftOut: sumOf(summaries, (summary) => summary.linesLeftOut),
    errorsLeftOut: sumOf(summaries, (summary) => summary.errorsLeftOut),
  }
}

function saidLine(item: AnyItem, cutRequest: ((line: string) => string) | null): readonly string[] {
  if (item.type !== 'message' || isOwnText(item)) return []
  const said = messageText(item).replaceAll(/\s+/gu, ' ').trim()
  if (said === '') return []
  const speaker = speakerOf(item)
  if (cutRequest !== null) {
    const line = cutRequest(`- ${speaker}: ${said}`)
    return line === '' ? [] : [line]
  }
  const charactersMax = speaker === 'user' ? USER_CHARACTERS_MAX : OTHER_CHARACTERS_MAX
  return [`- ${speaker}: ${cutText(said, charactersMax)}`]
}

/** Who said it; a result that was told as text of the user's is not the user's. */
function speakerOf(item: AnyItem): string {
  return isToldResult(item) ? 'tool result' : textOf(item, 'role')
}

function sumOf(
  summaries: readonly (CarriedSummary | null)[],
  count: (summary: CarriedSummary) => number,
): number {
  return summaries.reduce((sum, summary) => sum + (summary === null ? 0 : count(summary)), 0)
}
