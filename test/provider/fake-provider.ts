import { Buffer } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net'

import { onTestFinished } from 'vitest'

import { agent, type AgentOptions } from '../../src/agent.ts'
import { run, type Run } from '../../src/loop/run.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import {
  openResponses,
  type OpenResponsesModel,
  type OpenResponsesOptions,
} from '../../src/provider/open-responses.ts'
import { ManualClock } from '../manual-clock.ts'
import { callsAnswer, everythingElse, textAnswer, watchedTool } from '../scripted-model.ts'

/** One request as the server saw it. */
interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Answer = (response: ServerResponse, request: IncomingMessage) => void

export interface FakeProvider {
  readonly baseUrl: string
  readonly seen: readonly SeenRequest[]
  /** How many connections are open. */
  readonly connections: () => Promise<number>
}

/** A provider on a real socket: answers each request with the next answer, and the last one from then on. */
export async function fakeProvider(...answers: readonly Answer[]): Promise<FakeProvider> {
  const seen: SeenRequest[] = []
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    response.on('error', () => undefined)
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      seen.push({ method, url, headers, body: Buffer.concat(pieces).toString('utf8') })
      const answer = answers[Math.min(seen.length, answers.length) - 1]
      answer?.(response, request)
    })
  })
  await listen(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    baseUrl: `http://127.0.0.1:${portOf(server)}/v1`,
    seen,
    connections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
      }),
  }
}

/** A server that speaks whatever it likes, or nothing. */
export async function rawServer(onSocket: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    onSocket(socket)
  })
  await listen(server)
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return portOf(server)
}

/** A port that nothing listens on. */
export async function closedPort(): Promise<number> {
  const server = createTcpServer()
  await listen(server)
  const port = portOf(server)
  await new Promise((resolve) => {
    server.close(resolve)
  })
  return port
}

export function listen(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
}

export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

const SSE = { 'content-type': 'text/event-stream', 'x-request-id': 'req_1' }

/** A stream, whole. */
export function streams(text: string | Buffer, headers: Record<string, string> = {}): Answer {
  return (response) => void response.writeHead(200, { ...SSE, ...headers }).end(text)
}

/** A stream that stops after some bytes, and stays open. */
export function stallsAfter(text: string | Buffer): Answer {
  return (response) => void response.writeHead(200, SSE).write(text)
}

/** A stream that the server ends with a reset. */
export function resetsAfter(text: Buffer): Answer {
  return (response, request) => {
    response.writeHead(200, SSE).flushHeaders()
    response.write(text, () => request.socket.resetAndDestroy())
  }
}

/** A status, with a body. */
export function refuses(status: number, body = '', headers: Record<string, string> = {}): Answer {
  return (response) => void response.writeHead(status, headers).end(body)
}

/** The error that providers put into a body. */
export function errorBody(message: string, code: string | null = null): string {
  return JSON.stringify({ error: { message, type: 'some_error', param: null, code } })
}

/** A success with JSON. */
export function jsonAnswer(value: unknown): Answer {
  return refuses(200, JSON.stringify(value), { 'content-type': 'application/json' })
}

export const TEXT = textAnswer(1, 'The sum is 5.')
export const CALL = callsAnswer(1, [['add', '{"a":2,"b":3}']])

export function fixture(name: string): Buffer {
  return readFileSync(new URL(`../../fixtures/streams/${name}.sse`, import.meta.url))
}

export interface HttpRun {
  readonly live: Run
  readonly model: OpenResponsesModel
  readonly clock: ManualClock
  /** What the tool `add` was called with. */
  readonly ran: readonly JsonObject[]
}

export const KEY = 'sk-test-4d5e6f7a8b9c'

/** A run over a socket, on a clock that stands still, with one tool that adds. */
export function startHttpRun(
  provider: Pick<OpenResponsesOptions, 'baseUrl'> & Partial<OpenResponsesOptions>,
  options: Partial<AgentOptions> = {},
): HttpRun {
  const { start, ...parts } = httpAgent(provider, options)
  return { ...parts, live: start() }
}

/** What such runs have in common, for many of them. */
export function httpAgent(
  provider: Pick<OpenResponsesOptions, 'baseUrl'> & Partial<OpenResponsesOptions>,
  options: Partial<AgentOptions> = {},
): Omit<HttpRun, 'live'> & { readonly start: () => Run } {
  const clock = new ManualClock()
  const model = openResponses({ model: 'm-1', apiKey: KEY, clock, ...provider })
  const { tool, ran } = watchedTool('add', ({ a, b }) => Number(a) + Number(b))
  const made = agent({ model, tools: [tool], clock, random: () => 0.5, continuity: 'stateless', ...options })
  return { start: () => run(made, 'what is 2+3?', { runId: 'run_1' }), model, clock, ran }
}

/** Looks again each turn of the event loop until something is so. */
export async function until(isSo: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + 4000
  while (!isSo()) {
    if (performance.now() > giveUpAt) throw new Error(`never so: ${String(isSo)}`)
    await everythingElse()
  }
}

/** Some turns of the event loop, for what must not happen. */
export async function meanwhile(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await everythingElse()
}
