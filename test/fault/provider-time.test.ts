import { expect, test } from 'vitest'

import { STREAM_TIMEOUTS } from '../../src/provider/timeouts.ts'
import {
  CALL,
  errorBody,
  fakeProvider,
  meanwhile,
  rawServer,
  stallsAfter,
  startHttpRun,
  streams,
  TEXT,
  until,
  type Answer,
  type HttpRun,
} from '../provider/fake-provider.ts'
import { untilFrame } from '../scripted-model.ts'

const NO_RETRY = { retry: { times: 0 } }
const { connectMs, headersMs, idleMs, progressMs, totalMs } = STREAM_TIMEOUTS

const firstByte = ({ live }: HttpRun): Promise<unknown> =>
  untilFrame(live, ({ type }) => type === 'response_first_byte')

test('fault P07: a body that stalls is given up after the idle limit as stream_stalled, and not before', async () => {
  const provider = await fakeProvider(stallsAfter(CALL.slice(0, 2000)))
  const started = startHttpRun(provider, NO_RETRY)
  await firstByte(started)
  started.clock.advance(idleMs - 1)
  await meanwhile()
  expect(started.live.state).toBe('working.responding.streaming')
  started.clock.advance(1)
  const result = await started.live.result
  expect(result).toMatchObject({ state: 'failed', reason: 'stream_stalled' })
  expect(result.message).toBe(
    `${provider.baseUrl}/responses: not a byte came within 120000 ms; raise timeouts.idleMs if the model needs longer`,
  )
  expect([started.ran.length, started.clock.timersArmed]).toEqual([0, 0])
  await closed(provider)
})

/** Has something sent, and waits until it was dealt with, or the request is over. */
async function heard({ clock }: Pick<HttpRun, 'clock'>, send: () => void): Promise<void> {
  const before = clock.reads
  send()
  await until(() => clock.reads > before || clock.timersArmed === 0)
}

/** Waits until the server has no connection left: the client let go of it. */
async function closed(provider: { connections: () => Promise<number> }): Promise<void> {
  let open = 1
  await until(() => {
    void provider.connections().then((count) => (open = count))
    return open === 0
  })
}

test('fault P07: every byte starts the idle limit anew', async () => {
  const hold: { write: (text: string) => void } = { write: () => undefined }
  const provider = await fakeProvider((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('\n')
    hold.write = (text) => void response.write(text)
  })
  const started = startHttpRun(provider, NO_RETRY)
  await firstByte(started)
  const { clock, live } = started
  started.clock.advance(idleMs - 1)
  await heard(started, () => hold.write('x'))
  clock.advance(idleMs - 1)
  await meanwhile()
  expect(live.state).toBe('working.responding.requesting')
  clock.advance(1)
  expect((await live.result).reason).toBe('stream_stalled')
})

test('fault P07: a stalled response is asked for again and the calls of the second one run once', async () => {
  const provider = await fakeProvider(stallsAfter(CALL.slice(0, 2000)), streams(CALL), streams(TEXT))
  const started = startHttpRun(provider)
  await firstByte(started)
  started.clock.advance(idleMs)
  await untilFrame(started.live, ({ type }) => type === 'retry_scheduled')
  started.clock.advance(30_000)
  expect((await started.live.result).state).toBe('done')
  expect([provider.seen.length, started.ran.length]).toEqual([3, 1])
})

const mute: Answer = () => undefined

test('fault P08: an answer that never begins is given up after the headers limit as headers_timeout', async () => {
  const provider = await fakeProvider(mute)
  const started = startHttpRun(provider, NO_RETRY)
  await until(() => provider.seen.length === 1)
  started.clock.advance(headersMs - 1)
  await meanwhile()
  expect(started.live.state).toBe('working.responding.requesting')
  started.clock.advance(1)
  const result = await started.live.result
  expect(result).toMatchObject({ state: 'failed', reason: 'headers_timeout' })
  expect(result.message).toContain('no answer came within 60000 ms')
  expect(started.clock.timersArmed).toBe(0)
  await closed(provider)
})

test('fault P08: a response that comes whole may take longer to begin', async () => {
  const provider = await fakeProvider(mute)
  const started = startHttpRun({ baseUrl: provider.baseUrl, stream: false }, NO_RETRY)
  await until(() => provider.seen.length === 1)
  started.clock.advance(289_999)
  await meanwhile()
  expect(started.live.state).toBe('working.responding.requesting')
  started.clock.advance(1)
  expect((await started.live.result).reason).toBe('headers_timeout')
})

test('fault P08: a connection that never stands is given up after the connect limit as connect_timeout', async () => {
  let greeted = 0
  // It takes connections, and never answers the greeting of TLS.
  const port = await rawServer((socket) => socket.on('data', () => (greeted += 1)))
  const { live, clock } = startHttpRun({ baseUrl: `https://127.0.0.1:${port}/v1` }, NO_RETRY)
  await until(() => greeted > 0)
  expect(clock.armed).toContain(clock.now() + connectMs)
  clock.advance(connectMs - 1)
  await meanwhile()
  expect(live.state).toBe('working.responding.requesting')
  clock.advance(1)
  expect(await live.result).toMatchObject({ state: 'failed', reason: 'connect_timeout' })
  expect(clock.timersArmed).toBe(0)
})

test('fault P08: once the connection stands, the connect limit is off', async () => {
  const provider = await fakeProvider(mute)
  const { live, clock } = startHttpRun(provider, NO_RETRY)
  await until(() => provider.seen.length === 1)
  clock.advance(headersMs - 1)
  await meanwhile()
  expect(live.state).toBe('working.responding.requesting')
  clock.advance(1)
  expect((await live.result).reason).toBe('headers_timeout')
})

const silent = (): Promise<Response> => new Promise(() => undefined)

test('fault P08: another fetch reports no connection, and only the headers limit holds', async () => {
  const { live, clock } = startHttpRun({ baseUrl: 'http://127.0.0.1/v1', fetch: silent }, NO_RETRY)
  await until(() => clock.timersArmed > 0)
  clock.advance(headersMs - 1)
  await meanwhile()
  clock.advance(1)
  expect((await live.result).reason).toBe('headers_timeout')
})

/** Sends a piece each time it is told to. */
async function drip(piece: string): Promise<{ started: HttpRun; more: () => Promise<void> }> {
  const hold: { write: () => void } = { write: () => undefined }
  const provider = await fakeProvider((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(piece)
    hold.write = () => void response.write(piece)
  })
  const started = startHttpRun(provider, NO_RETRY)
  await firstByte(started)
  return { started, more: () => heard(started, () => hold.write()) }
}

test.for([
  ['comments', ': ka\n\n'],
  ['comments with CRLF', ': ka\r\n\r\n'],
  ['retry times', 'retry: 1000\n\n'],
  ['names without data', 'event: ping\n\n'],
  ['lines of data without an end', 'data: x\r\n'],
  ['letters of one line', 'x'],
] as const)('fault P09: a drip of %s is no progress, and ends as stream_no_progress', async ([, piece]) => {
  const { started, more } = await drip(piece)
  const { clock, live } = started
  for (let waited = 0; waited + 100_000 < progressMs; waited += 100_000) {
    clock.advance(100_000)
    await more()
  }
  expect(live.state).toBe('working.responding.requesting')
  clock.advance(100_000)
  const result = await live.result
  expect(result).toMatchObject({ state: 'failed', reason: 'stream_no_progress' })
  expect(result.message).toContain('bytes came, but no event within 300000 ms')
  expect([started.ran.length, clock.timersArmed]).toEqual([0, 0])
})

test('fault P09: a drip of events for ever ends at the total limit as response_timeout', async () => {
  const { started, more } = await drip('data: {"type":"keepalive"}\n\n')
  const { clock, live } = started
  for (let waited = 0; waited + 100_000 < totalMs; waited += 100_000) {
    clock.advance(100_000)
    await more()
  }
  expect(live.state).toBe('working.responding.streaming')
  clock.advance(100_000)
  expect(await live.result).toMatchObject({ state: 'failed', reason: 'response_timeout' })
  expect(clock.timersArmed).toBe(0)
})

test.for([
  ['JSON', { 'content-type': 'application/json' }],
  ['no content type', {}],
] as const)(
  'fault P09: a body that comes whole, with %s, and drips white space is no progress',
  async ([, head]) => {
    const hold: { write: (text: string) => void } = { write: () => undefined }
    const provider = await fakeProvider((response) => {
      response.writeHead(200, head).write(' \n')
      hold.write = (text) => void response.write(text)
    })
    const { live, clock, ...started } = startHttpRun({ baseUrl: provider.baseUrl, stream: false }, NO_RETRY)
    await firstByte({ live, clock, ...started })
    for (const piece of ['{', ' ', ' ']) {
      clock.advance(100_000)
      await heard({ clock }, () => hold.write(piece))
    }
    expect(live.state).toBe('working.responding.requesting')
    clock.advance(100_000)
    expect((await live.result).reason).toBe('stream_no_progress')
  },
)

test('a limit of the caller takes the place of the default', async () => {
  const provider = await fakeProvider(mute)
  const { live, clock } = startHttpRun({ baseUrl: provider.baseUrl, timeouts: { headersMs: 7 } }, NO_RETRY)
  await until(() => provider.seen.length === 1)
  clock.advance(7)
  expect((await live.result).message).toContain('within 7 ms')
})

test('limits that are over leave no timer behind, whichever way a request ended', async () => {
  for (const answer of [
    streams(TEXT),
    (response) => void response.writeHead(400).end(errorBody('no')),
    (response) => void response.writeHead(302, { location: '/' }).end(),
    (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
  ] as readonly Answer[]) {
    const { live, clock } = startHttpRun(await fakeProvider(answer), NO_RETRY)
    await live.result
    expect(clock.timersArmed).toBe(0)
  }
})
