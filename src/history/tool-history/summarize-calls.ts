import { callLine, newestDetails } from './call-line.ts'
import { cutToTokens } from './cut-to-tokens.ts'
import type { TokenCounter } from './estimate-tokens.ts'
import { outlineCalls, type CallDetail, type CallGroup, type CallOutline } from './outline-calls.ts'
import type { PriorCall } from './prior-call.ts'
import type { ToolHistoryConfig } from './read-tool-history-config.ts'

/** The first line of every summary. */
export const SUMMARY_HEADING = '[Earlier in this session:]'

/** Stands before the errors in a summary. */
export const ERRORS_HEADING = '[Errors encountered:]'

/**
 * Tells in a few lines what old calls were about and what went wrong, within the cap of tokens. For want of room the
 * oldest details go first, then whole kinds of calls, then the oldest errors. Null when there is nothing to tell, or
 * no room for any of it.
 */
export function summarizeCalls(
  calls: readonly PriorCall[],
  config: ToolHistoryConfig,
  count: TokenCounter,
): string | null {
  const { maxHistorySummaryTokens: tokensMax } = config
  const outline = outlineCalls(calls, config)
  for (const shorter of lessAndLess(outline)) {
    const text = render(shorter)
    if (count(text) <= tokensMax) return text
  }
  return newestErrors(outline.errors, tokensMax, count)
}

interface Shown {
  readonly groups: readonly ShownGroup[]
  readonly errors: readonly string[]
}

interface ShownGroup {
  readonly group: CallGroup
  readonly details: readonly CallDetail[]
}

/** Every form of a summary that still has all errors and something else, from the longest to the shortest. */
function* lessAndLess({ groups, errors }: CallOutline): Generator<Shown> {
  let shown = groups.map((group): ShownGroup => ({ group, details: newestDetails(group) }))
  const oldestFirst = shown.flatMap(({ details }) => details).sort((one, other) => one.at - other.at)
  if (shown.length > 0) yield { groups: shown, errors }
  for (const hidden of oldestFirst) {
    shown = shown.map(({ group, details }) => ({
      group,
      details: details.filter((detail) => detail !== hidden),
    }))
    yield { groups: shown, errors }
  }
  for (let from = 1; from < shown.length; from += 1) yield { groups: shown.slice(from), errors }
}

function render({ groups, errors }: Shown): string {
  const lines = [SUMMARY_HEADING, ...groups.map(({ group, details }) => callLine(group, details))]
  if (errors.length > 0) lines.push('', ERRORS_HEADING, ...errors)
  return lines.join('\n')
}

/** As many of the newest errors as there is room for; of the last one, if need be, only its begin. */
function newestErrors(errors: readonly string[], tokensMax: number, count: TokenCounter): string | null {
  const newest = (kept: number): string => {
    const left = errors.length - kept
    const earlier = left === 0 ? [] : [`- (+${left} earlier)`]
    return render({ groups: [], errors: [...earlier, ...errors.slice(left)] })
  }
  let best: string | null = null
  let low = 1
  let high = errors.length
  while (low <= high) {
    const middle = Math.floor((low + high) / 2)
    const text = newest(middle)
    if (count(text) <= tokensMax) {
      best = text
      low = middle + 1
    } else high = middle - 1
  }
  if (best !== null || errors.length === 0) return best
  const headings = render({ groups: [], errors: ['- '] })
  const cut = cutToTokens(render({ groups: [], errors: errors.slice(-1) }), tokensMax, count)
  return cut.length > headings.length + '...'.length ? cut : null
}
