import type { AnyItem } from '../protocol/items.ts'
import { isJsonObject, type Json } from '../protocol/json.ts'
import type { NoteAnomaly } from './anomaly.ts'
import { readText, type OpenItem, type OpenPart } from './open-item.ts'
import type { JsonComparer } from './same-json.ts'

/** Notes where a finished item's texts or arguments are not what was streamed before. */
export function compareWithDone(
  item: OpenItem,
  done: AnyItem,
  comparer: JsonComparer,
  note: NoteAnomaly,
): void {
  compareArguments(item, readText(done, 'arguments'), 'output_item.done', comparer, note)
  for (const part of item.contentParts)
    comparePart(part, partText(at(done['content'], part.index)), item, note)
  for (const part of item.summaryParts)
    comparePart(part, partText(at(done['summary'], part.index)), item, note)
}

/** Notes where a part's final text is not what its deltas were. No delta at all is legal, and says nothing. */
export function comparePart(part: OpenPart, text: string | null, item: OpenItem, note: NoteAnomaly): void {
  if (text === null) {
    if (part.deltas.length > 0)
      note('delta_done_differ', `${part.type} ${part.index} is missing in the finished item`)
    return
  }
  const known = part.doneText ?? (part.deltas.length === 0 ? text : part.deltas.text())
  if (known !== text)
    note('delta_done_differ', `${part.type} ${part.index} at output_index ${item.outputIndex}`)
}

/** Notes where arguments from a higher source differ, as JSON, from what lower sources gave. */
export function compareArguments(
  item: OpenItem,
  text: string | null,
  source: string,
  comparer: JsonComparer,
  note: NoteAnomaly,
): void {
  if (text === null) return
  const lower = item.argumentsDone ?? item.argumentDeltas.text()
  if (lower !== '' && !comparer.isSame(lower, text)) {
    note('arguments_differ', `stream and ${source} at output_index ${item.outputIndex}`)
  }
}

/** How a whole item cannot be another telling of this one, or null when it can. */
export function contradiction(known: OpenItem, item: AnyItem): string | null {
  if (known.type !== item.type) return `type ${known.type} then ${item.type}`
  if (item.type !== 'function_call') return null
  const callId = readText(item, 'call_id')
  if (callId !== null && known.callId !== null && callId !== known.callId) {
    return `call_id ${known.callId} then ${callId}`
  }
  const name = readText(item, 'name')
  return name !== null && known.name !== null && name !== known.name
    ? `name ${known.name} then ${name}`
    : null
}

/** The text of a finished part, of whichever type. */
export function partText(part: Json | undefined): string | null {
  if (!isJsonObject(part)) return null
  const text = part['text'] ?? part['refusal']
  return typeof text === 'string' ? text : null
}

function at(parts: Json | undefined, index: number): Json | undefined {
  return Array.isArray(parts) ? parts[index] : undefined
}

/** All text of a whole item, for telling whether two tellings of it are the same. */
export function itemText(item: AnyItem): string {
  return textOfParts(item['content']) + textOfParts(item['summary'])
}

function textOfParts(parts: Json | undefined): string {
  return Array.isArray(parts) ? parts.map((part) => partText(part) ?? '').join('') : ''
}
