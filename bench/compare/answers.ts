// What the fake server answers, as bytes made ahead: it must cost as little as possible while a client is measured.
import { sseText, StreamBuilder, type EventLine } from '../../scripts/fixtures/stream-builder.ts'
import { cutAtEvents } from '../streams.ts'

const ARGUMENT_DELTAS = 50

/** One message in so many deltas, an event a chunk. */
export function answerChunks(deltas: number): readonly Uint8Array[] {
  const pieces = Array.from({ length: deltas }, (_, at) => wordAt(at))
  return cutAtEvents(bytesOf(new StreamBuilder().start().message(0, pieces).end().events))
}

/** How long the text of that message is. */
export function answerLength(deltas: number): number {
  let length = 0
  for (let at = 0; at < deltas; at += 1) length += wordAt(at).length
  return length
}

function wordAt(at: number): string {
  return ` word${at % 97}`
}

/** A short answer in two pieces: up to the first delta with its text, and all that follows. */
export function firstPieces(): readonly [Buffer, Buffer] {
  const { events } = new StreamBuilder().start().message(0, ['Hello', ' there']).end()
  const until = events.findIndex(({ type }) => type === 'response.output_text.delta') + 1
  return [bytesOf(events.slice(0, until), ''), bytesOf(events.slice(until))]
}

/** The answers of a tool loop, one a turn, an event a chunk: calls of `note`, then one word. */
export function loopAnswers(turns: number): readonly (readonly Uint8Array[])[] {
  return Array.from({ length: turns }, (_, turn) =>
    cutAtEvents(bytesOf(turn === turns - 1 ? lastAnswer(turn) : callAnswer(turn))),
  )
}

/** What `note` is told in a turn. Never the same twice: a loop may stop when nothing changes. */
export function noteText(turn: number): string {
  return noteWords(turn).join('')
}

function noteWords(turn: number): readonly string[] {
  return Array.from({ length: ARGUMENT_DELTAS - 2 }, (_, at) => ` word${turn}_${at}`)
}

function callAnswer(turn: number): readonly EventLine[] {
  const pieces = ['{"text":"', ...noteWords(turn), '"}']
  const item = { type: 'function_call', id: `fc_${turn}`, call_id: callIdOf(turn), name: 'note' }
  const at = { item_id: item.id, output_index: 0 }
  const stream = new StreamBuilder(responseIdOf(turn)).start()
  stream.addItem(0, { ...item, arguments: '', status: 'in_progress' })
  for (const delta of pieces) stream.event('response.function_call_arguments.delta', { ...at, delta })
  stream.event('response.function_call_arguments.done', { ...at, arguments: pieces.join('') })
  stream.doneItem(0, { ...item, arguments: pieces.join(''), status: 'completed' })
  return stream.end('completed', previousOf(turn)).events
}

function lastAnswer(turn: number): readonly EventLine[] {
  const stream = new StreamBuilder(responseIdOf(turn)).start().message(0, ['done'], `msg_${turn}`)
  return stream.end('completed', previousOf(turn)).events
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

/** With `logprobs` beside text, as providers send it: there is a client that knows no delta without. */
function bytesOf(events: readonly EventLine[], end?: string): Buffer {
  const whole = events.map(({ type, data }) =>
    type.startsWith('response.output_text.') ? { type, data: { ...data, logprobs: [] } } : { type, data },
  )
  return Buffer.from(sseText(whole, end))
}
