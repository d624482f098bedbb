import { Buffer } from 'node:buffer'

import { onTestFinished } from 'vitest'

import { agent } from '../../src/agent.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import type { RunStore } from '../../src/journal/run-store.ts'
import type { Agent } from '../../src/loop/agent.ts'
import type { Model, ModelRequest, SendFault, SendRequest } from '../../src/loop/model.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { createService, type Service, type ServiceOptions } from '../../src/server/create-service.ts'
import { sseText, StreamBuilder } from '../../scripts/fixtures/stream-builder.ts'
import { tempStore } from '../journal/store-kit.ts'
import { callsAnswer, scriptedModel, textAnswer, watchedTool } from '../scripted-model.ts'

export const TOKEN = 'a-token-that-may-do-everything'
export const READ_TOKEN = 'a-token-that-may-only-look-on'
export const RUN_TOKEN = 'a-token-that-may-start-but-not-approve'
export const HOST = '127.0.0.1:4321'

export type RawBody = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>

export interface AskOptions {
  readonly method?: string
  readonly token?: string | null
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as it is. */
  readonly raw?: RawBody
  readonly service?: Service
}

export interface ServiceKit {
  readonly service: Service
  readonly store: RunStore
  ask(path: string, options?: AskOptions): Promise<Response>
  /** The JSON that is answered. */
  json(path: string, options?: AskOptions): Promise<JsonObject>
  /** Begins a run and gives its id. */
  start(input?: string, options?: AskOptions): Promise<string>
}

/** A service over a store of its own, closed after the test. */
export function serviceKit(made: Agent, options: Partial<ServiceOptions> = {}): ServiceKit {
  const store = options.store ?? tempStore()
  const service = createService({
    agents: { default: made },
    auth: {
      tokens: [
        { token: TOKEN, scopes: ['approve'] },
        { token: READ_TOKEN, scopes: ['read'] },
        { token: RUN_TOKEN, scopes: ['run'] },
      ],
    },
    hosts: [HOST],
    limits: { requestsPerSecond: 100_000 },
    ...options,
    store,
  })
  onTestFinished(() => service.close())
  const ask: ServiceKit['ask'] = (path, asked = {}) =>
    (asked.service ?? service).fetch(requestTo(path, asked))
  const json: ServiceKit['json'] = async (path, asked) =>
    (await (await ask(path, asked)).json()) as JsonObject
  const start: ServiceKit['start'] = async (input = 'go', asked = {}) => {
    const { run_id: runId } = await json('/runs', { body: { input }, ...asked })
    if (typeof runId !== 'string') throw new Error('the run was not started')
    return runId
  }
  return { service, store, ask, json, start }
}

export function requestTo(path: string, asked: AskOptions = {}): Request {
  const { token = TOKEN, body, headers = {}, raw } = asked
  const { method = body === undefined && raw === undefined ? 'GET' : 'POST' } = asked
  const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  return new Request(`http://${HOST}${path}`, {
    method,
    headers: {
      host: HOST,
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(sent === undefined ? {} : { body: sent, duplex: 'half' }),
  })
}

/** An agent that says one text. Any number of runs may ask it. */
export function talkingAgent(pieces: readonly string[] = ['hello ', 'world']): Agent {
  return agent({ model: modelOf((request) => feed(request, [messageText(pieces)])) })
}

/** An agent that calls `send`, which needs a yes, and then says that it is done. */
export function askingAgent(): { readonly made: Agent; readonly ran: readonly JsonObject[] } {
  const { tool, ran } = watchedTool('send', () => 'sent', { needsApproval: true })
  return { made: agent({ model: modelOf(callThenSay), tools: [tool] }), ran }
}

function callThenSay(request: ModelRequest): Promise<SendFault | null> {
  const answer = request.body.includes('function_call_output')
    ? textAnswer(2, 'done')
    : callsAnswer(1, [['send', '{"to":"a"}']])
  return feed(request, [answer])
}

/** An agent whose responses come when the test says so. */
export class GatedModel {
  readonly made: Agent
  readonly #responses: GatedResponse[] = []

  constructor(options: Partial<Parameters<typeof agent>[0]> = {}) {
    const send: SendRequest = (request) => {
      const response = new GatedResponse(request)
      this.#responses.push(response)
      return response.ended
    }
    this.made = agent({ model: modelOf(send), ...options })
  }

  get requests(): number {
    return this.#responses.length
  }

  /** Says a piece of text in the latest response. */
  say(text: string): void {
    this.#responses.at(-1)?.say(text)
  }

  /** Ends every response. */
  end(): void {
    for (const response of this.#responses) response.end()
  }
}

class GatedResponse {
  readonly ended: Promise<null>
  readonly #request: ModelRequest
  readonly #end: () => void
  readonly #stream = new StreamBuilder('resp_1').start()
  readonly #pieces: string[] = []
  #sent = 0

  constructor(request: ModelRequest) {
    const { promise, resolve } = Promise.withResolvers<null>()
    this.ended = promise
    this.#end = () => resolve(null)
    this.#request = request
    request.signal.addEventListener('abort', this.#end)
    request.onHead({ status: 200, requestId: null, contentType: 'text/event-stream' })
  }

  say(text: string): void {
    if (this.#pieces.length === 0) {
      this.#stream.addItem(0, {
        type: 'message',
        id: 'm',
        role: 'assistant',
        status: 'in_progress',
        content: [],
      })
      this.#stream.event('response.content_part.added', { ...AT, part: partOf('') })
    }
    this.#pieces.push(text)
    this.#stream.event('response.output_text.delta', { ...AT, delta: text, logprobs: [] })
    this.#flush()
  }

  end(): void {
    if (this.#pieces.length === 0) this.say('done')
    const text = this.#pieces.join('')
    this.#stream.event('response.output_text.done', { ...AT, text, logprobs: [] })
    this.#stream.event('response.content_part.done', { ...AT, part: partOf(text) })
    this.#stream.doneItem(0, {
      type: 'message',
      id: 'm',
      role: 'assistant',
      status: 'completed',
      content: [partOf(text)],
    })
    this.#stream.end()
    this.#flush()
    this.#end()
  }

  #flush(): void {
    const text = sseText(this.#stream.events.slice(this.#sent)).replace('data: [DONE]\n\n', '')
    this.#sent = this.#stream.events.length
    if (!this.#request.signal.aborted) this.#request.onChunk(Buffer.from(text))
  }
}

const AT = { item_id: 'm', output_index: 0, content_index: 0 }

function partOf(text: string): JsonObject {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

function modelOf(send: SendRequest): Model {
  return { ...scriptedModel([]), send }
}

async function feed(request: ModelRequest, texts: readonly string[]): Promise<null> {
  await Promise.resolve()
  request.onHead({ status: 200, requestId: null, contentType: 'text/event-stream' })
  for (const text of texts) if (!request.onChunk(Buffer.from(text))) break
  return null
}

function messageText(pieces: readonly string[]): string {
  return sseText(new StreamBuilder('resp_1').start().message(0, pieces).end().events)
}

export interface SseEvent {
  readonly id: string | null
  readonly event: string
  readonly data: string
}

/** Reads server-sent events one by one. */
export class SseClient {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #decoder = new TextDecoder()
  #text = ''
  /** Bytes of each read. */
  readonly reads: number[] = []

  constructor(response: Response) {
    if (response.body === null) throw new Error('there is no body')
    this.#reader = response.body.getReader()
  }

  /** The next event or comment; null at the end. */
  async next(): Promise<SseEvent | null> {
    for (;;) {
      const end = this.#text.indexOf('\n\n')
      if (end !== -1) {
        const block = this.#text.slice(0, end)
        this.#text = this.#text.slice(end + 2)
        return parseBlock(block)
      }
      const { done, value } = await this.#reader.read()
      if (done) return null
      this.reads.push(value.byteLength)
      this.#text += this.#decoder.decode(value, { stream: true })
    }
  }

  /** Frames until one is meant, or until the end. */
  async frames(isLast: (frame: Frame) => boolean = () => false): Promise<Frame[]> {
    const frames: Frame[] = []
    for (let event = await this.next(); event !== null; event = await this.next()) {
      if (event.event !== 'frame') {
        if (event.event === 'comment') continue
        return frames
      }
      const frame = JSON.parse(event.data) as Frame
      frames.push(frame)
      if (isLast(frame)) break
    }
    return frames
  }

  cancel(): Promise<void> {
    return this.#reader.cancel()
  }
}

function parseBlock(block: string): SseEvent {
  if (block.startsWith(':')) return { id: null, event: 'comment', data: block.slice(1).trim() }
  const fields = new Map(
    block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  )
  return {
    id: fields.get('id') ?? null,
    event: fields.get('event') ?? 'message',
    data: fields.get('data') ?? '',
  }
}

export const SSE = { accept: 'text/event-stream' }

/** The stream of a run's frames. */
export async function streamOf(
  kit: ServiceKit,
  runId: string,
  asked: AskOptions & { readonly after?: number } = {},
): Promise<SseClient> {
  const { after, ...rest } = asked
  const query = after === undefined ? '' : `?after=${after}`
  const response = await kit.ask(`/runs/${runId}/frames${query}`, {
    ...rest,
    headers: { ...SSE, ...rest.headers },
  })
  if (response.status !== 200) throw new Error(`no stream: ${response.status} ${await response.text()}`)
  return new SseClient(response)
}

export function seqs(frames: readonly Frame[]): readonly number[] {
  return frames.map(({ seq }) => seq)
}

/** Numbers from 0 up to a length. */
export function upTo(length: number): readonly number[] {
  return Array.from({ length }, (_, at) => at)
}

/** Waits until something is so, turn by turn of the event loop. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 20_000; turn += 1) {
    if (await isSo()) return
    await new Promise((resolve) => setImmediate(resolve))
  }
  throw new Error('it never was so')
}

/** A store of which some is different. */
export function changedStore(store: RunStore, changes: Partial<RunStore>): RunStore {
  return {
    create: (...said) => store.create(...said),
    take: (...said) => store.take(...said),
    read: (...said) => store.read(...said),
    cursor: (...said) => store.cursor(...said),
    find: (...said) => store.find(...said),
    list: () => store.list(),
    close: () => store.close(),
    ...changes,
  }
}
