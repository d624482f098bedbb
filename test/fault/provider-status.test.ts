import { expect, test } from 'vitest'

import type { RetryScheduledFrame } from '../../src/frames/generated/frame.ts'
import {
  CALL,
  errorBody,
  fakeProvider,
  KEY,
  meanwhile,
  refuses,
  startHttpRun,
  streams,
  TEXT,
  until,
  type FakeProvider,
  type HttpRun,
} from '../provider/fake-provider.ts'
import { finishRun, framesOf, untilFrame } from '../scripted-model.ts'

async function refusedThenAnswered(
  status: number,
  headers: Record<string, string>,
): Promise<{ provider: FakeProvider; started: HttpRun }> {
  const provider = await fakeProvider(refuses(status, errorBody('slow down'), headers), streams(TEXT))
  return { provider, started: startHttpRun(provider) }
}

/** When the run means to try again, by its log, as a wait from now. */
async function waitMsOf({ live, clock }: HttpRun): Promise<number> {
  const frame = await untilFrame(live, ({ type }) => type === 'retry_scheduled')
  return Number((frame as RetryScheduledFrame).figures['retry_at']) - clock.now()
}

test.for([
  { form: 'seconds', headers: { 'retry-after': '2' }, waitMs: 2000 },
  { form: 'seconds with a fraction', headers: { 'retry-after': '1.5' }, waitMs: 1500 },
  { form: 'milliseconds', headers: { 'retry-after-ms': '2500' }, waitMs: 2500 },
  {
    form: 'both, of which the later counts',
    headers: { 'retry-after': '9', 'retry-after-ms': '50' },
    waitMs: 9000,
  },
  // The clock of these tests stands at 00:16:40.
  {
    form: 'a date',
    headers: { 'retry-after': 'Thu, 01 Jan 1970 00:16:47 GMT', date: 'Thu, 01 Jan 1970 00:16:40 GMT' },
    waitMs: 7000,
  },
])(
  'fault P01: a 429 with Retry-After in the form of $form is tried again then and not before',
  async ({ headers, waitMs }) => {
    const { provider, started } = await refusedThenAnswered(429, headers)
    expect(await waitMsOf(started)).toBe(waitMs)
    started.clock.advance(waitMs - 1)
    await meanwhile()
    expect(provider.seen).toHaveLength(1)
    started.clock.advance(1)
    const result = await started.live.result
    expect([result.state, provider.seen.length]).toEqual(['done', 2])
  },
)

test('fault P01: a wait that a provider asked for ends at once when the run is cancelled', async () => {
  const { provider, started } = await refusedThenAnswered(429, { 'retry-after': '30' })
  await waitMsOf(started)
  await started.live.cancel()
  expect((await started.live.result).state).toBe('cancelled')
  expect([provider.seen.length, started.clock.timersArmed]).toEqual([1, 0])
})

test.for([
  ['3600', 3_600_000],
  ['86400', 86_400_000],
  ['1e309', 8.64e15 - 1_000_000],
  ['99999999999999999999999', 8.64e15 - 1_000_000],
] as const)(
  'fault P02: a provider that asks for %s seconds is never tried earlier',
  async ([asked, waitMs]) => {
    const { provider, started } = await refusedThenAnswered(429, { 'retry-after': asked })
    expect(await waitMsOf(started)).toBe(waitMs)
    started.clock.advance(3_599_999)
    await meanwhile()
    expect(provider.seen).toHaveLength(1)
    await started.live.cancel()
  },
)

test.for(['-5', 'NaN', 'soon', '', '0', 'Infinity', '0x10', 'Thu, 01 Jan 1970 00:00:01 GMT'])(
  'fault P02: a Retry-After of "%s" asks for nothing, and the run waits as long as it would by itself',
  async (asked) => {
    const { started } = await refusedThenAnswered(429, { 'retry-after': asked })
    expect(await waitMsOf(started)).toBe(250)
    await started.live.cancel()
  },
)

test.for([408, 409, 429, 500, 502, 503, 504, 520, 529, 599])(
  'fault P03: a status of %i is tried again, and the calls of the answer after it run once',
  async (status) => {
    const page = '<html><head><title>Bad gateway</title></head></html>'
    const provider = await fakeProvider(refuses(status, page), streams(CALL), streams(TEXT))
    const started = startHttpRun(provider)
    const { result, frames } = await finishRun(started)
    expect([result.state, provider.seen.length, started.ran.length]).toEqual(['done', 3, 1])
    expect(framesOf(frames, 'response_headers').map((frame) => frame.status)).toEqual([status, 200, 200])
  },
)

test.for([500, 503, 529])(
  'fault P03: a status of %i that stays ends the run as provider_unavailable after five tries',
  async (status) => {
    const provider = await fakeProvider(refuses(status, '<html><title>Down</title></html>'))
    const started = startHttpRun(provider)
    const { result } = await finishRun(started)
    expect(result).toMatchObject({ state: 'failed', reason: 'provider_unavailable' })
    expect(result.message).toContain(`answered ${status} (Down)`)
    expect([provider.seen.length, started.ran.length]).toEqual([5, 0])
  },
)

test.for([
  [400, 'request_refused', 'the request was refused'],
  [401, 'key_refused', 'the key was refused; check apiKey'],
  [402, 'quota_used_up', 'no credit left'],
  [403, 'access_refused', 'may not do this'],
  [404, 'endpoint_not_found', 'check the base URL and the name of the model'],
  [405, 'endpoint_not_found', 'check the base URL'],
  [413, 'request_refused', 'too large'],
  [418, 'request_refused', 'the request was refused'],
  [422, 'request_refused', 'the request was refused'],
] as const)(
  'fault P03: a status of %i is not tried again and ends the run as %s',
  async ([status, reason, says]) => {
    const provider = await fakeProvider(refuses(status, errorBody('because'), { 'retry-after': '1' }))
    const { result } = await finishRun(startHttpRun(provider))
    expect(result).toMatchObject({ state: 'failed', reason })
    expect(result.message).toContain(`${provider.baseUrl}/responses answered ${status} (because): `)
    expect(result.message).toContain(says)
    expect(provider.seen).toHaveLength(1)
  },
)

test('fault P03: a 429 for an account without credit is not tried again', async () => {
  const provider = await fakeProvider(
    refuses(429, errorBody('You exceeded your quota', 'insufficient_quota')),
  )
  const { result } = await finishRun(startHttpRun(provider))
  expect(result.state).toBe('failed')
  expect(result.message).toContain('look at its billing')
  expect(provider.seen).toHaveLength(1)
})

test('fault P03: the body of an error is kept up to its cap, and read no further', async () => {
  let hasClosed = false
  const provider = await fakeProvider((response) => {
    response.on('close', () => {
      hasClosed = true
    })
    response.writeHead(503, { 'content-type': 'text/plain' })
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(16_384)));
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  })
  const { model, live } = startHttpRun(provider, { retry: { times: 0 } })
  await live.result
  const fault = await model.send({
    body: '{}',
    idempotencyKey: 'k',
    signal: new AbortController().signal,
    onHead: () => undefined,
    onChunk: () => true,
  })
  // As much is left out as could be the start of the key.
  expect(fault?.body).toBe('x'.repeat(65_536 - KEY.length))
  expect(fault?.message.length).toBeLessThan(600)
  await until(() => hasClosed)
})

test('fault P03: an error whose body never ends is told by its status, and soon', async () => {
  const provider = await fakeProvider((response) => void response.writeHead(500).write('half'))
  const started = startHttpRun(provider, { retry: { times: 0 } })
  await untilFrame(started.live, ({ type }) => type === 'response_headers')
  await meanwhile()
  started.clock.advance(5000)
  expect(await started.live.result).toMatchObject({ state: 'failed', reason: 'provider_unavailable' })
})

test('fault P03: an error that repeats the key is told without it', async () => {
  const provider = await fakeProvider(refuses(401, errorBody(`Incorrect API key provided: ${KEY}\u001b[2J`)))
  const { result, frames } = await finishRun(startHttpRun(provider))
  expect(result.message).toContain('Incorrect API key provided: ***')
  expect(JSON.stringify([result, frames])).not.toContain(KEY)
  expect(result.message).not.toContain('\u001b')
})

test.for(['constructor', '__proto__', 'toString'])(
  'fault P01: a 429 whose error has the code %s is a 429 like any other',
  async (code) => {
    const body = JSON.stringify({ error: { code, type: code, message: 'slow down' } })
    const provider = await fakeProvider(refuses(429, body, { 'retry-after': '2' }), streams(TEXT))
    const started = startHttpRun(provider)
    expect(await waitMsOf(started)).toBe(2000)
    started.clock.advance(2000)
    expect((await started.live.result).state).toBe('done')
  },
)
