import type { AnyItem } from '../../protocol/items.ts'
import { callLine } from '../tool-history/call-line.ts'
import { cutToTokens } from '../tool-history/cut-to-tokens.ts'
import { estimateTokens, type TokenCounter } from '../tool-history/estimate-tokens.ts'
import type { CallDetail, CallGroup } from '../tool-history/outline-calls.ts'
import type { ToolHistoryOptions } from '../tool-history/read-tool-history-config.ts'
import { ERRORS_HEADING } from '../tool-history/summarize-calls.ts'
import { leftOutLine } from './carried-summary.ts'
import { outlineItems, type ItemsOutline } from './outline-items.ts'
import { checkQuantity } from './plan-compaction.ts'

export interface SummarizeItemsOptions {
  /** The most tokens that the summary may have. */
  readonly tokensMax: number
  /** `estimateTokens` when left out. */
  readonly countTokens?: TokenCounter
  /** What tools do and how errors are quoted; its own cap does not count here. */
  readonly config?: ToolHistoryOptions
}

/**
 * Tells by rules what items were about: what earlier summaries said, who said what, what was called, what went wrong.
 * Never has more tokens than it may. For want of room the oldest things go first, errors last of these; the newest
 * message of the user goes last of all, since it is what the work is for, and has at most half of the room. Empty when
 * there is nothing to tell, or no room for any of it. Throws `usage` for settings that mean nothing.
 */
export function summarizeItems(old: readonly AnyItem[], options: SummarizeItemsOptions): string {
  const { tokensMax, countTokens = estimateTokens } = options
  checkQuantity('tokensMax', tokensMax)
  const outline = outlineItems(old, options.config ?? {}, (line) =>
    cutToTokens(line, Math.floor(tokensMax / 2), countTokens),
  )
  const units = unitsOf(outline)
  let best = ''
  let low = 0
  let high = units.length - 1
  while (low <= high) {
    const middle = Math.floor((low + high) / 2)
    const text = render(outline, new Set(units.slice(middle)))
    if (countTokens(text) <= tokensMax) {
      best = text
      high = middle - 1
    } else low = middle + 1
  }
  return best === '' ? lastResort(outline, tokensMax, countTokens) : best
}

/** Something that a summary may leave out by itself. */
type Unit = object

/** Everything that can be left out, in the order in which it goes. */
function unitsOf({ lines, groups, errors, request }: ItemsOutline): readonly Unit[] {
  const byAge = [
    ...lines.filter((line) => line !== request),
    ...groups.flatMap(({ details }) => details),
  ].sort((one, other) => one.at - other.at)
  const kinds = groups.map(({ group }) => group)
  return [...byAge, ...kinds, ...errors, ...(request === null ? [] : [request])]
}

function render(outline: ItemsOutline, shown: ReadonlySet<Unit>): string {
  const lines = outline.lines.filter((line) => shown.has(line))
  const errors = outline.errors.filter((error) => shown.has(error))
  const told = [
    ...leftOutLine(outline.linesLeftOut + outline.lines.length - lines.length),
    ...lines.map(({ text }) => text),
    ...outline.groups.flatMap(({ group, details }) => groupLines(group, details, shown)),
  ]
  if (errors.length === 0) return told.join('\n')
  const left = leftOutLine(outline.errorsLeftOut + outline.errors.length - errors.length)
  const failed = [ERRORS_HEADING, ...left, ...errors.map(({ text }) => text)]
  return [...told, ...(told.length === 0 ? [] : ['']), ...failed].join('\n')
}

function groupLines(
  group: CallGroup,
  details: readonly CallDetail[],
  shown: ReadonlySet<Unit>,
): readonly string[] {
  if (!shown.has(group)) return []
  return [
    callLine(
      group,
      details.filter((detail) => shown.has(detail)),
    ),
  ]
}

/** The begin of what would have gone last, when not even that has room as a whole. */
function lastResort(
  { request, errors, lines }: ItemsOutline,
  tokensMax: number,
  count: TokenCounter,
): string {
  const last = request ?? errors.at(-1) ?? lines.at(-1)
  return last === undefined ? '' : cutToTokens(last.text, tokensMax, count)
}
