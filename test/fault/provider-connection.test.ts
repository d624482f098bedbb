import type { Buffer } from 'node:buffer'
import { createServer } from 'node:https'

import { expect, onTestFinished, test } from 'vitest'

import type { Frame } from '../../src/frames/generated/frame.ts'
import type { Run } from '../../src/loop/run.ts'
import { openResponses } from '../../src/provider/open-responses.ts'
import { decodeFixture } from '../decode.ts'
import {
  CALL,
  closedPort,
  fakeProvider,
  fixture,
  httpAgent,
  listen,
  portOf,
  rawServer,
  resetsAfter,
  startHttpRun,
  streams,
  TEXT,
  type Answer,
} from '../provider/fake-provider.ts'
import { CERTIFICATE } from '../provider/test-certificate.ts'
import { finishRun, framesOf, untilFrame } from '../scripted-model.ts'

const NO_RETRY = { retry: { times: 0 } }

test('fault P04: a refused connection is tried again, five times in all, and ends the run as connect_failed', async () => {
  const started = startHttpRun({ baseUrl: `http://127.0.0.1:${await closedPort()}/v1` })
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'failed', reason: 'connect_failed' })
  expect(result.message).toContain('nothing listens there (ECONNREFUSED); check that the server runs')
  expect(framesOf(frames, 'request_sent')).toHaveLength(5)
  expect(started.clock.timersArmed).toBe(0)
})

test('fault P04: a host name that nobody knows is tried again and ends the run as connect_failed', async () => {
  const started = startHttpRun({ baseUrl: 'http://nobody.invalid/v1' }, { retry: { times: 1 } })
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'failed', reason: 'connect_failed' })
  expect(result.message).toContain('the host name is not known')
  expect(framesOf(frames, 'request_sent')).toHaveLength(2)
})

test('fault P04: a certificate that nobody vouches for ends the run at once, and no request is sent', async () => {
  let requests = 0
  const server = createServer(CERTIFICATE, (_request, response) => {
    requests += 1
    response.end()
  })
  await listen(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const started = startHttpRun({ baseUrl: `https://127.0.0.1:${portOf(server)}/v1` })
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'failed', reason: 'tls_failed' })
  expect(result.message).toContain('its certificate is not to be trusted (DEPTH_ZERO_SELF_SIGNED_CERT)')
  expect([framesOf(frames, 'request_sent').length, requests]).toEqual([1, 0])
})

test('fault P04: https to a server that speaks http ends the run at once and says so', async () => {
  const provider = await fakeProvider(streams(TEXT))
  const started = startHttpRun({ baseUrl: provider.baseUrl.replace('http:', 'https:') })
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'failed', reason: 'tls_failed' })
  expect(result.message).toContain('it does not speak TLS')
  expect([framesOf(frames, 'request_sent').length, provider.seen.length]).toEqual([1, 0])
})

const GOLDEN = fixture('quirk-arguments-only-on-item-done')
// From here on the response is whole, and what breaks takes nothing away.
const WHOLE_AT = GOLDEN.indexOf('\n\ndata: [DONE]')

/** Does something for each number below a count, some at a time. */
async function forEachBelow(count: number, work: (at: number) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    for (let at = next++; at < count; at = next++) await work(at)
  }
  await Promise.all(Array.from({ length: 16 }, lane))
}

test('fault P05: a reset at any byte of a stream fails the request as connection_lost and runs no tool', async () => {
  let at = 0
  // Which of them takes which byte does not matter, as long as each is taken.
  const provider = await fakeProvider((response, request) =>
    resetsAfter(GOLDEN.subarray(0, at++))(response, request),
  )
  const { start, ran, clock } = httpAgent(provider, NO_RETRY)
  const ends = new Map<string, number>()
  await forEachBelow(WHOLE_AT, async () => {
    const { state, reason } = await start().result
    const end = `${state} ${reason}, ${ran.length} ran`
    ends.set(end, (ends.get(end) ?? 0) + 1)
  })
  expect([...ends]).toEqual([['failed connection_lost, 0 ran', WHOLE_AT]])
  expect([at, clock.timersArmed]).toEqual([WHOLE_AT, 0])
}, 120_000)

test('fault P05: after a reset the whole request is sent again, the frames of the first try stay, and the call runs once', async () => {
  const provider = await fakeProvider(
    resetsAfter(GOLDEN.subarray(0, WHOLE_AT - 200)),
    streams(GOLDEN),
    streams(TEXT),
  )
  const started = startHttpRun(provider)
  const { result, frames } = await finishRun(started)
  expect([result.state, started.ran.length]).toEqual(['done', 1])
  const [first, second] = provider.seen
  expect(second?.body).toBe(first?.body)
  expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key'])
  expect(framesOf(frames, 'request_sent').map(({ turn, attempt }) => `${turn}.${attempt}`)).toEqual([
    '1.0',
    '1.1',
    '2.0',
  ])
  const settled = framesOf(frames, 'response_settled')
  expect(settled[0]?.error?.code).toBe('connection_lost')
})

test('fault P05: a reset before the headers is tried again', async () => {
  const provider = await fakeProvider(
    (_response, request) => void request.socket.resetAndDestroy(),
    streams(TEXT),
  )
  const { result } = await finishRun(startHttpRun(provider))
  expect([result.state, provider.seen.length]).toEqual(['done', 2])
})

test('fault P05: a reset after the terminal event takes nothing away', async () => {
  const hold: { reset: () => void } = { reset: () => undefined }
  const provider = await fakeProvider((response, request) => {
    hold.reset = () => void request.socket.resetAndDestroy()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(TEXT)
  })
  const { live } = startHttpRun(provider)
  await untilFrame(
    live,
    (frame) => frame.type === 'provider_event' && frame.event_name === 'response.completed',
  )
  hold.reset()
  expect(await live.result).toMatchObject({ state: 'done', text: 'The sum is 5.' })
})

const EVENT_ENDS = [...GOLDEN.toString('latin1').matchAll(/\n\n/gu)].map(({ index }) => index + 2)

test.for(EVENT_ENDS.filter((end) => end <= WHOLE_AT))(
  'fault P06: a stream that ends cleanly after %i bytes and without its terminal event is truncated, and tried again',
  async (end) => {
    const provider = await fakeProvider(streams(GOLDEN.subarray(0, end)), streams(GOLDEN), streams(TEXT))
    const started = startHttpRun(provider)
    const { result, frames } = await finishRun(started)
    expect([result.state, provider.seen.length, started.ran.length]).toEqual(['done', 3, 1])
    expect(framesOf(frames, 'response_settled')[0]?.error?.code).toBe('stream_truncated')
  },
)

test('fault P06: streams that always end early end the run as stream_truncated, and no tool ran', async () => {
  const provider = await fakeProvider(streams(GOLDEN.subarray(0, 2000)))
  const started = startHttpRun(provider)
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'failed', reason: 'stream_truncated' })
  expect([provider.seen.length, started.ran.length]).toEqual([5, 0])
})

test('fault P06: a body without a length, ended by closing the connection, is read to its end', async () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n'
  const port = await rawServer((socket) => {
    socket.once('data', () => socket.end(head + TEXT))
  })
  const { live } = startHttpRun({ baseUrl: `http://127.0.0.1:${port}/v1` })
  expect(await live.result).toMatchObject({ state: 'done', text: 'The sum is 5.' })
})

test('fault P06: a body that is shorter than its length says is a lost connection', async () => {
  const port = await rawServer((socket) => {
    const head = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${CALL.length}\r\n\r\n`
    socket.once('data', () => socket.end(head + CALL.slice(0, 1500)))
  })
  const { live, ran } = startHttpRun({ baseUrl: `http://127.0.0.1:${port}/v1` }, NO_RETRY)
  expect(await live.result).toMatchObject({ state: 'failed', reason: 'connection_lost' })
  expect(ran).toEqual([])
})

/** Sends bytes in two pieces, the second only once the first has arrived. */
function inTwo(bytes: Buffer, cut: number): { answer: Answer; goOn: () => void } {
  const hold: { goOn: () => void } = { goOn: () => undefined }
  return {
    answer: (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(bytes.subarray(0, cut))
      hold.goOn = () => void response.end(bytes.subarray(cut))
    },
    goOn: () => hold.goOn(),
  }
}

/** The data of every event that a run has seen, as it came. */
async function dataSeen(live: Run): Promise<readonly unknown[]> {
  const frames: Frame[] = []
  for await (const frame of live) frames.push(frame)
  return framesOf(frames, 'provider_event').map(({ raw, raw_base64 }) => raw_base64 ?? raw)
}

async function dataSeenInTwo(bytes: Buffer, cut: number): Promise<readonly unknown[]> {
  const { answer, goOn } = inTwo(bytes, cut)
  const { live } = startHttpRun(await fakeProvider(answer))
  await untilFrame(live, ({ type }) => type === 'response_first_byte')
  goOn()
  return dataSeen(live)
}

test('fault P10: a character that arrives in two pieces is read as one', async () => {
  const bytes = fixture('unicode')
  const lead = bytes.findIndex((byte) => byte > 0xe0)
  const whole = decodeFixture('unicode').events.map(({ raw }) => raw)
  expect(await dataSeenInTwo(bytes, lead + 1)).toEqual(whole)
  expect(await dataSeenInTwo(bytes, lead + 2)).toEqual(whole)
})

test('fault P11: a stream with CRLF, a BOM and comments, cut between CR and LF, is read over a socket', async () => {
  const bytes = fixture('framing-crlf-bom-comments')
  const whole = decodeFixture('framing-crlf-bom-comments').events.map(({ raw }) => raw)
  expect(whole.length).toBeGreaterThan(3)
  expect(await dataSeenInTwo(bytes, bytes.indexOf('\r\n') + 1)).toEqual(whole)
  expect(await dataSeenInTwo(bytes, bytes.lastIndexOf('}\r\n') + 2)).toEqual(whole)
  expect(await dataSeenInTwo(bytes, bytes.lastIndexOf('}\r\n') - 1)).toEqual(whole)
})

test('fault P04: one model serves many runs, and a fault of one is not one of the others', async () => {
  const provider = await fakeProvider(resetsAfter(GOLDEN.subarray(0, 100)), streams(TEXT))
  const model = openResponses({ model: 'm-1', apiKey: '', baseUrl: provider.baseUrl })
  const send = (): ReturnType<typeof model.send> =>
    model.send({
      body: '{}',
      idempotencyKey: 'k',
      signal: new AbortController().signal,
      onHead: () => undefined,
      onChunk: () => true,
    })
  const faults = await Promise.all([send(), send(), send()])
  expect(faults.filter((fault) => fault !== null)).toHaveLength(1)
})
