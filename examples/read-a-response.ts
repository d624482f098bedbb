import { recordResponse, tolerant } from 'loopchart'
import { FrameStamp } from 'loopchart/frames'

const item = { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{"a":2,"b":3}' }
const events = [
  { type: 'response.created', sequence_number: 0, response: { id: 'resp_1' } },
  { type: 'response.output_item.done', sequence_number: 1, output_index: 0, item },
  { type: 'response.completed', sequence_number: 2, response: { id: 'resp_1', output: [] } },
]
const sse = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')

const reader = recordResponse({
  stamp: new FrameStamp('run_1', Date.now),
  turn: 1,
  attempt: 0,
  profile: tolerant,
  shape: 'stream',
  onFrame: ({ seq, type, ...frame }) => console.log(seq, type, 'anomalies' in frame ? frame.anomalies : ''),
})
for (const byte of Buffer.from(sse)) reader.feed(Uint8Array.of(byte)) // cut anywhere, the frames are the same
const { status, calls } = reader.end()
console.log(status, calls[0]?.name, calls[0]?.arguments, calls[0]?.disposition)
