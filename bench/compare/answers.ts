// What the fake server answers, as bytes made ahead: it must cost as little as possible while a client is measured.
import { sseText, StreamBuilder } from '../../scripts/fixtures/stream-builder.ts'
import { cutAtEvents, deltaStream } from '../streams.ts'

const ARGUMENT_DELTAS = 50

/** One message in so many deltas, an event a chunk. */
export function answerChunks(deltas: number): readonly Uint8Array[] {
  return cutAtEvents(deltaStream(deltas))
}

/** How long the text of that message is. */
export function answerLength(deltas: number): number {
  let length = 0
  for (let at = 0; at < deltas; at += 1) length += ` word${at % 97}`.length
  return length
}

/** A short answer in two pieces: up to the first delta with its text, and all that follows. */
export function firstPieces(): readonly [Buffer, Buffer] {
  const { events } = new StreamBuilder().start().message(0, ['Hello', ' there']).end()
  const until = events.findIndex(({ type }) => type === 'response.output_text.delta') + 1
  return [Buffer.from(sseText(events.slice(0, until), '')), Buffer.from(sseText(events.slice(until)))]
}

/** The answers of a tool loop, one a turn: calls of `note`, then one word. */
export function loopAnswers(turns: number): readonly Buffer[] {
  return Array.from({ length: turns }, (_, turn) =>
    Buffer.from(turn === turns - 1 ? lastAnswer(turn) : callAnswer(turn)),
  )
}

/** What `note` is told in a turn. Never the same twice: a loop may stop when nothing changes. */
export function noteText(turn: number): string {
  return noteWords(turn).join('')
}

function noteWords(turn: number): readonly string[] {
  return Array.from({ length: ARGUMENT_DELTAS - 2 }, (_, at) => ` word${turn}_${at}`)
}

function callAnswer(turn: number): string {
  const pieces = ['{"text":"', ...noteWords(turn), '"}']
  const item = { type: 'function_call', id: `fc_${turn}`, call_id: callIdOf(turn), name: 'note' }
  const at = { item_id: item.id, output_index: 0 }
  const stream = new StreamBuilder(responseIdOf(turn)).start()
  stream.addItem(0, { ...item, arguments: '', status: 'in_progress' })
  for (const delta of pieces) stream.event('response.function_call_arguments.delta', { ...at, delta })
  stream.event('response.function_call_arguments.done', { ...at, arguments: pieces.join('') })
  stream.doneItem(0, { ...item, arguments: pieces.join(''), status: 'completed' })
  return sseText(stream.end('completed', previousOf(turn)).events)
}

function lastAnswer(turn: number): string {
  const stream = new StreamBuilder(responseIdOf(turn)).start().message(0, ['done'], `msg_${turn}`)
  return sseText(stream.end('completed', previousOf(turn)).events)
}

function previousOf(turn: number): { readonly previous_response_id: string | null } {
  return { previous_response_id: turn === 0 ? null : responseIdOf(turn - 1) }
}

function responseIdOf(turn: number): string {
  return `resp_${turn}`
}

export function callIdOf(turn: number): string {
  return `call_${turn}_`
}
