// A process of its own for each measure, so that no earlier garbage counts. Prints JSON.
import { FrameStamp } from '../src/frames/frame-stamp.ts'
import { recordResponse } from '../src/loop/record-response.ts'
import { tolerant } from '../src/protocol/tolerant.ts'
import { sseText, StreamBuilder } from '../scripts/fixtures/stream-builder.ts'

const TOTAL_BYTES = 100 * 1024 * 1024
const TEXT_BYTES = 5 * 1024 * 1024
const PIECE = ' tokens of text '
const MIB = 1024 * 1024

const deltas = TEXT_BYTES / PIECE.length
// What an event takes without its padding.
const EVENT_BYTES = 210
const padding = 'x'.repeat(Math.floor(TOTAL_BYTES / deltas) - EVENT_BYTES)

let text = 0
const reader = recordResponse({
  stamp: new FrameStamp('bench', Date.now),
  turn: 0,
  attempt: 0,
  profile: tolerant,
  shape: 'stream',
  limits: { responseBytesMax: 2 * TOTAL_BYTES },
  onFrame: (frame) => {
    if (frame.type === 'output_text_delta') text += frame.delta.length
  },
})

let sent = 0
let peak = 0
function feed(part: string): void {
  const chunk = Buffer.from(part)
  sent += chunk.length
  reader.feed(chunk)
  peak = Math.max(peak, process.memoryUsage.rss())
}

globalThis.gc?.()
const before = process.memoryUsage.rss()
const builder = new StreamBuilder().start()
const at = { item_id: 'msg_0', output_index: 0, content_index: 0 }
feed(sseText(builder.events, ''))
feed(sseText([event('response.output_item.added', { output_index: 0, item: message() })], ''))
feed(sseText([event('response.content_part.added', { ...at, part: { type: 'output_text', text: '' } })], ''))
for (let sequence = 4; sequence < deltas + 4; sequence += 1) {
  const data = { ...at, sequence_number: sequence, delta: PIECE, obfuscation: padding }
  feed(sseText([event('response.output_text.delta', data)], ''))
}
feed(sseText([event('response.completed', { response: { id: 'resp_1', status: 'completed', output: [] } })]))
const response = reader.end()
const kept = JSON.stringify(response.items).length
const result = { sent, text, kept, status: response.status, riseMiB: (peak - before) / MIB }
process.stdout.write(`${JSON.stringify(result)}\n`)

function event(type: string, data: Record<string, unknown>): { type: string; data: Record<string, unknown> } {
  return { type, data: { type, ...data } }
}

function message(): Record<string, unknown> {
  return { type: 'message', id: 'msg_0', role: 'assistant', status: 'in_progress', content: [] }
}
