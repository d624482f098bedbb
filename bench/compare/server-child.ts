// The provider of the comparison, in a process of its own, on loopback. The first part of a path names the scenario:
//   /events-N    one message of N deltas, one event a chunk
//   /loop-N      a tool loop of N turns, one event a chunk; which turn it is is read from the request
//   /first       head, then what a first text needs in one piece, then the rest
// Speaks with its parent by messages: its url at the start, and the times of first bytes when asked for.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import { answerChunks, callIdOf, firstPieces, loopAnswers, noteText } from './answers.ts'
import { notedText } from './note.ts'

// Long enough for a client to have dealt with what came before, so that only what comes next is timed.
const PAUSE_MS = 2
const FIRST = firstPieces()

const streams = new Map<number, readonly Uint8Array[]>()
const loops = new Map<number, readonly (readonly Uint8Array[])[]>()
let firstBytesAt: bigint[] = []

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    response.destroy(error instanceof Error ? error : new Error(String(error)))
  })
})
server.keepAliveTimeout = 120_000
// Node's default is just too small for 500 clients that connect in the same moment.
server.listen({ host: '127.0.0.1', port: 0, backlog: 2048 }, () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
})
process.on('message', () => {
  process.send?.({ firstBytesAt })
  firstBytesAt = []
})
process.on('disconnect', () => process.exit(0))

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await bodyOf(request)
  const [scenario = '', count = ''] = (request.url ?? '').slice(1).split('/')[0]?.split('-') ?? []
  if (scenario === 'events') return sendEvents(response, Number(count))
  if (scenario === 'loop') return sendTurn(response, body, Number(count))
  if (scenario === 'first') return sendFirst(response)
  response.writeHead(404).end()
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(request, 'end')
  return Buffer.concat(chunks)
}

async function sendEvents(response: ServerResponse, deltas: number): Promise<void> {
  const chunks = cached(streams, deltas, answerChunks)
  begin(response)
  for (const chunk of chunks) {
    if (!response.write(chunk)) await once(response, 'drain')
  }
  response.end()
}

function sendTurn(response: ServerResponse, body: Buffer, turns: number): void {
  const turn = turnOf(body)
  const isAnswered =
    turn === 0 || (body.includes(callIdOf(turn - 1)) && body.includes(notedText(noteText(turn - 1))))
  const chunks = cached(loops, turns, loopAnswers)[turn]
  if (chunks === undefined || !isAnswered) {
    const message = `turn ${turn} of ${turns} does not bring the output of the call before`
    response.writeHead(400, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: null } }),
    )
    return
  }
  begin(response)
  for (const chunk of chunks) response.write(chunk)
  response.end()
}

const PREVIOUS = Buffer.from('"previous_response_id":"resp_')
const OUTPUT = Buffer.from('"function_call_output"')

/** Which turn a request asks for, from its bytes: parsing a long history would take longer than some clients need. */
function turnOf(body: Buffer): number {
  const at = body.indexOf(PREVIOUS)
  if (at !== -1) {
    const from = at + PREVIOUS.length
    return Number(body.toString('latin1', from, body.indexOf('"', from))) + 1
  }
  let outputs = 0
  for (let from = body.indexOf(OUTPUT); from !== -1; from = body.indexOf(OUTPUT, from + OUTPUT.length)) {
    outputs += 1
  }
  return outputs
}

async function sendFirst(response: ServerResponse): Promise<void> {
  begin(response)
  response.flushHeaders()
  await pause()
  firstBytesAt.push(process.hrtime.bigint())
  response.write(FIRST[0])
  await pause()
  response.end(FIRST[1])
}

function begin(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, PAUSE_MS)
  })
}

function cached<T>(made: Map<number, T>, size: number, make: (size: number) => T): T {
  const value = made.get(size) ?? make(size)
  made.set(size, value)
  return value
}
