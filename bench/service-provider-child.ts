// The provider of the service's bench, in a process of its own: each request is answered by a stream of five events a
// second, until it is told to end them all. Speaks with its parent by messages.
import { createServer, type ServerResponse } from 'node:http'

import { messageItem, responseResource, sseText, textPart } from '../scripts/fixtures/stream-builder.ts'

const EVENT_MS = 200
const TICK_MS = 20
const SLOTS = EVENT_MS / TICK_MS
const AT = { item_id: 'msg_0', output_index: 0, content_index: 0 }
const PIECE = ' some words of an answer'

interface Stream {
  readonly response: ServerResponse
  sequence: number
}

// Streams take turns, so that the events of all do not come in the same moment.
const slots: Set<Stream>[] = Array.from({ length: SLOTS }, () => new Set())
let opened = 0
let tick = 0

const server = createServer((request, response) => {
  request.resume()
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(
    sseText(
      [
        event('response.created', {
          sequence_number: 0,
          response: responseResource({ id: 'resp_1', status: 'in_progress' }),
        }),
        event('response.output_item.added', {
          sequence_number: 1,
          output_index: 0,
          item: messageItem('msg_0', 'in_progress', []),
        }),
        event('response.content_part.added', { ...AT, sequence_number: 2, part: textPart('') }),
      ],
      '',
    ),
  )
  const slot = slots[opened++ % SLOTS]
  const stream = { response, sequence: 3 }
  slot?.add(stream)
  response.on('close', () => slot?.delete(stream))
})

setInterval(() => {
  for (const stream of slots[tick++ % SLOTS] ?? []) {
    const data = { ...AT, sequence_number: stream.sequence++, delta: PIECE }
    stream.response.write(sseText([event('response.output_text.delta', data)], ''))
  }
}, TICK_MS).unref()

process.on('message', () => {
  for (const slot of slots) {
    for (const { response, sequence } of slot) {
      const text = PIECE.repeat(sequence - 3)
      const done = event('response.completed', {
        sequence_number: sequence,
        response: responseResource({
          id: 'resp_1',
          status: 'completed',
          output: [messageItem('msg_0', 'completed', [textPart(text)])],
        }),
      })
      response.end(sseText([done]))
    }
  }
})

server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object') process.send?.({ url: `http://127.0.0.1:${address?.port ?? 0}` })
})

function event(type: string, data: Record<string, unknown>): { type: string; data: Record<string, unknown> } {
  return { type, data: { type, ...data } }
}
