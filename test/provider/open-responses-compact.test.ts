import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { LoopchartError } from '../../src/errors.ts'
import type { Model, SendFault } from '../../src/loop/model.ts'
import { strictCompactRequestValidator } from '../../src/protocol/generated/strict-request.ts'
import {
  openResponses,
  type OpenResponsesModel,
  type OpenResponsesOptions,
} from '../../src/provider/open-responses.ts'
import { PROFILES } from '../../src/provider/profiles.ts'
import { ManualClock } from '../manual-clock.ts'
import {
  errorBody,
  fakeProvider,
  jsonAnswer,
  KEY,
  refuses,
  until,
  type FakeProvider,
} from './fake-provider.ts'

beforeEach(() => {
  vi.stubEnv('OPENAI_API_KEY', undefined)
  vi.stubEnv('OPENAI_BASE_URL', undefined)
})

afterEach(() => {
  vi.unstubAllEnvs()
})

const WINDOW = { id: 'c', object: 'response.compaction', created_at: 1, output: [], usage: {} }
const BODY = JSON.stringify({ model: 'm-1', input: [], instructions: 'Be short.' })

function modelAt(provider: FakeProvider, options: Partial<OpenResponsesOptions> = {}): OpenResponsesModel {
  return openResponses({ model: 'm-1', baseUrl: provider.baseUrl, apiKey: KEY, compact: true, ...options })
}

interface Sent {
  readonly fault: SendFault | null
  readonly heads: readonly unknown[]
  readonly text: string
}

async function sendCompact(
  { compact }: Model,
  onChunk: (chunk: Uint8Array) => boolean = () => true,
): Promise<Sent> {
  const heads: unknown[] = []
  let text = ''
  const fault = await compact?.send({
    body: BODY,
    idempotencyKey: 'run_1/compact/1',
    signal: new AbortController().signal,
    onHead: (head) => heads.push(head),
    onChunk: (chunk) => {
      text += new TextDecoder().decode(chunk)
      return onChunk(chunk)
    },
  })
  return { fault: fault ?? null, heads, text }
}

test('a compaction is posted beside the responses, with the same headers, and its body comes whole', async () => {
  const provider = await fakeProvider(jsonAnswer(WINDOW))
  const model = modelAt(provider, { headers: { 'x-own': 'yes' } })
  expect(model.compact?.endpoint).toBe(`${provider.baseUrl}/responses/compact`)
  const { fault, heads, text } = await sendCompact(model)
  expect([fault, JSON.parse(text)]).toEqual([null, WINDOW])
  expect(heads).toMatchObject([{ status: 200, contentType: 'application/json' }])
  const [seen] = provider.seen
  expect(seen).toMatchObject({ method: 'POST', url: '/v1/responses/compact', body: BODY })
  expect(seen?.headers).toMatchObject({
    accept: 'application/json',
    'content-type': 'application/json',
    authorization: `Bearer ${KEY}`,
    'idempotency-key': 'run_1/compact/1',
    'x-own': 'yes',
  })
  expect(strictCompactRequestValidator(JSON.parse(BODY))).toBe(true)
})

test('a compaction that is refused says so in the words of the one table, without the key', async () => {
  const provider = await fakeProvider(refuses(400, errorBody(`no ${KEY}`, 'invalid_encrypted_content')))
  const { fault } = await sendCompact(modelAt(provider))
  expect(fault).toMatchObject({
    code: 'request_refused',
    isRetryable: false,
    provider: { code: 'invalid_encrypted_content', status: 400 },
  })
  expect(fault?.message).toContain('/v1/responses/compact answered 400')
  expect(JSON.stringify(fault)).not.toContain(KEY)
})

test('a compaction is waited for as long as a whole response, also by a model that streams', async () => {
  const clock = new ManualClock()
  const provider = await fakeProvider(() => undefined)
  const sent = sendCompact(modelAt(provider, { clock }))
  await until(() => provider.seen.length === 1)
  clock.advance(290_000)
  const { fault } = await sent
  expect(fault).toMatchObject({ code: 'headers_timeout', isRetryable: true })
  expect(fault?.message).toContain('within 290000 ms')
  const short = sendCompact(modelAt(provider, { clock, timeouts: { headersMs: 50 } }))
  await until(() => provider.seen.length === 2)
  clock.advance(50)
  expect((await short).fault?.message).toContain('within 50 ms')
})

test('a compaction that nobody wants to read further is dropped', async () => {
  const provider = await fakeProvider(jsonAnswer(WINDOW))
  expect((await sendCompact(modelAt(provider), () => false)).fault).toBeNull()
})

test('only a provider that is known to compact, or said to, is asked to', () => {
  const given = { model: 'm', apiKey: KEY }
  const known = openResponses({ ...given, baseUrl: 'https://api.openai.com/v1' })
  expect(known.compact?.endpoint).toBe('https://api.openai.com/v1/responses/compact')
  expect(openResponses({ ...given, baseUrl: 'https://api.openai.com/v1', compact: false }).compact).toBeNull()
  const local = { ...given, baseUrl: 'http://127.0.0.1:9/v1' }
  expect(openResponses(local).compact).toBeNull()
  expect(openResponses({ ...local, compact: true }).compact).not.toBeNull()
})

test('a model tells whether earlier calls may be sent to it, and how much it can take', () => {
  const given = { model: 'm', apiKey: KEY, baseUrl: 'http://127.0.0.1:9/v1' }
  expect(openResponses(given)).toMatchObject({ nativeToolHistory: false, contextWindow: null })
  expect(openResponses({ ...given, profile: 'openai', contextWindow: 400_000 })).toMatchObject({
    nativeToolHistory: true,
    contextWindow: 400_000,
  })
  const profile = { ...PROFILES.generic, contextWindow: 8192, nativeToolHistory: true, canCompact: true }
  expect(openResponses({ ...given, profile })).toMatchObject({
    nativeToolHistory: true,
    contextWindow: 8192,
    compact: { endpoint: 'http://127.0.0.1:9/v1/responses/compact' },
  })
})

test.for<readonly [object, string]>([
  [{ contextWindow: 0 }, 'contextWindow must be a whole number of tokens above 0'],
  [{ contextWindow: 1.5 }, 'contextWindow must be a whole number of tokens above 0'],
  [{ contextWindow: '8192' }, 'contextWindow must be a whole number of tokens above 0'],
  [{ compact: 'yes' }, 'compact must be true or false'],
  [{ stream: 1 }, 'stream must be true or false'],
])('%j cannot work and throws at once', ([options, message]) => {
  expect(() => openResponses({ model: 'm', baseUrl: 'http://127.0.0.1:9/v1', ...options })).toThrow(
    new LoopchartError('provider_invalid', message),
  )
})
