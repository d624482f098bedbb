import type { ContextSelection } from '../history/context-bundle/compile-context.ts'
import type { LeftOut } from '../history/context-bundle/select-turns.ts'
import { plain } from '../loop/decisions.ts'
import type { JsonObject } from '../protocol/json.ts'

/** A selection for the log. What was left out is told in ranges: of a long conversation, that is nearly all of it. */
export function selectionJson({ left_out: leftOut, ...selection }: ContextSelection): JsonObject {
  return { ...plain(selection), left_out: rangesOf(leftOut) }
}

interface Range {
  readonly from_seq: number
  readonly to_seq: number
  readonly reason: LeftOut['reason']
}

function rangesOf(leftOut: readonly LeftOut[]): readonly JsonObject[] {
  const ranges: Range[] = []
  for (const { seq, reason } of leftOut.toSorted((one, other) => one.seq - other.seq)) {
    const last = ranges.at(-1)
    if (last?.reason === reason && seq <= last.to_seq + 1)
      ranges[ranges.length - 1] = { ...last, to_seq: seq }
    else ranges.push({ from_seq: seq, to_seq: seq, reason })
  }
  return ranges.map((range) => ({ ...range }))
}
