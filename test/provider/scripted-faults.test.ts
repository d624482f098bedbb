import { expect, test } from 'vitest'

import type { ScriptTurn } from '../../src/provider/scripted/script.ts'
import { startScriptedProvider } from '../../src/provider/scripted/start-scripted-provider.ts'
import { decodeText } from '../decode.ts'
import { ManualClock } from '../manual-clock.ts'
import { ADD, HELLO, post, provide, refusal } from './scripted-kit.ts'

test('a status comes with its headers and its body, and with the usual error when it has none', async () => {
  const provider = await provide([
    { fault: { type: 'status', status: 429, headers: { 'Retry-After': '7' } } },
    { fault: { type: 'status', status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>no</h1>' } },
    { fault: { type: 'status', status: 400, body: { error: { message: 'own', code: 'mine' } } } },
  ])
  const limited = await post(provider, { input: 'hi' })
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7'])
  expect(await limited.json()).toMatchObject({ error: { type: 'too_many_requests' } })
  const html = await post(provider, { input: 'hi' })
  expect([html.headers.get('content-type'), await html.text()]).toEqual(['text/html', '<h1>no</h1>'])
  expect(await refusal(await post(provider, { input: 'hi' }))).toEqual({
    status: 400,
    message: 'own',
    code: 'mine',
  })
})

test('other bytes come as they are, text or base64', async () => {
  const bytes = Buffer.from([0, 255, 10, 13])
  const provider = await provide([
    { fault: { type: 'raw', text: 'data: {', content_type: 'text/event-stream' } },
    { fault: { type: 'raw_base64', base64: bytes.toString('base64'), content_type: 'application/x-none' } },
  ])
  expect(await (await post(provider, { input: 'hi' })).text()).toBe('data: {')
  const second = await post(provider, { input: 'hi' })
  expect(second.headers.get('content-type')).toBe('application/x-none')
  expect(Buffer.from(await second.arrayBuffer())).toEqual(bytes)
})

test('P06 a stream that is cut reads as truncated before its last event, and as whole behind it', async () => {
  const whole = await streamText([HELLO])
  const end = whole.indexOf('data: [DONE]')
  const lastEvent = whole.indexOf('event: response.completed')
  for (const at of [0, 1, 100, lastEvent, end, whole.length]) {
    const text = await streamText([{ ...HELLO, fault: { type: 'truncate', at_byte: at } }])
    expect(text).toBe(whole.slice(0, at))
    const { error } = decodeText(text).response
    expect(error?.code ?? null, String(at)).toBe(at < end ? 'stream_truncated' : null)
  }
})

test('P05 a reset comes before the head at 0, and after the bytes that were promised otherwise', async () => {
  const provider = await provide([
    { ...HELLO, fault: { type: 'reset', at_byte: 0 } },
    { ...HELLO, fault: { type: 'reset', at_byte: 50 } },
  ])
  await expect(post(provider, { input: 'hi', stream: true })).rejects.toThrow('fetch failed')
  const answer = await post(provider, { input: 'hi', stream: true })
  const chunks: Uint8Array[] = []
  const reading = (async () => {
    for await (const chunk of answer.body ?? []) chunks.push(chunk)
  })()
  await expect(reading).rejects.toThrow('terminated')
  expect(Buffer.concat(chunks)).toHaveLength(50)
})

test('P07 a stall holds the connection until somebody ends it, and closing the provider does', async () => {
  const provider = await startScriptedProvider({
    v: 1,
    turns: [{ ...HELLO, fault: { type: 'stall', at_byte: 30 } }],
  })
  const answer = await post(provider, { input: 'hi', stream: true })
  const reader = answer.body?.getReader()
  expect((await reader?.read())?.value).toHaveLength(30)
  const next = reader?.read()
  await provider.close()
  await expect(next).rejects.toThrow('terminated')
})

test('P08 a stall at 0 does not even give a head', async () => {
  const provider = await startScriptedProvider({
    v: 1,
    turns: [{ ...HELLO, fault: { type: 'stall', at_byte: 0 } }],
  })
  const answer = post(provider, { input: 'hi' }).then(
    () => 'answered',
    (error: unknown) => String(error),
  )
  while (provider.requests.length === 0) await new Promise((resolve) => setImmediate(resolve))
  await provider.close()
  expect(await answer).toBe('TypeError: fetch failed')
})

test('chunks of one byte give the same stream', async () => {
  expect(await streamText([{ ...ADD, chunk_bytes: 1 }])).toBe(await streamText([ADD]))
})

test('a body in many pieces takes a time that grows with its length, not with its square', async () => {
  const text = 'a'.repeat(50_000)
  const provider = await provide([{ output: [{ type: 'message', text: [text] }], chunk_bytes: 1 }])
  const startMs = performance.now()
  const body = await (await post(provider, { input: 'hi', stream: false })).text()
  expect(body).toContain(text)
  // It took twelve seconds when every piece left a listener behind.
  expect(performance.now() - startMs).toBeLessThan(8000)
})

test('waits go by the clock: before the head, and before each event', async () => {
  const clock = new ManualClock()
  const provider = await provide([{ ...HELLO, delay_ms: 500, event_delay_ms: 10 }], { clock })
  const answering = post(provider, { input: 'hi', stream: true })
  await armed(clock)
  expect(clock.armed).toEqual([clock.now() + 500])
  clock.advance(500)
  const answer = await answering
  const text = answer.text()
  let waits = 0
  for (;;) {
    const isOver = await Promise.race([text.then(() => true), armed(clock).then(() => false)])
    if (isOver) break
    waits += 1
    clock.advance(10)
  }
  expect(waits).toBe(decodeText(await text).events.length)
})

test('a client that leaves while the provider waits leaves no timer behind', async () => {
  const clock = new ManualClock()
  const provider = await provide([{ ...HELLO, delay_ms: 500 }], { clock })
  const controller = new AbortController()
  const asked = fetch(`${provider.url}/responses`, {
    method: 'POST',
    body: JSON.stringify({ input: 'hi' }),
    signal: controller.signal,
  }).catch(() => 'gone')
  await armed(clock)
  controller.abort()
  expect(await asked).toBe('gone')
  while (clock.timersArmed > 0) await new Promise((resolve) => setImmediate(resolve))
})

async function streamText(turns: readonly ScriptTurn[]): Promise<string> {
  const provider = await provide(turns, { clock: new ManualClock() })
  return (await post(provider, { input: 'hi', stream: true })).text()
}

async function armed(clock: ManualClock): Promise<void> {
  while (clock.timersArmed === 0) await new Promise((resolve) => setImmediate(resolve))
}
