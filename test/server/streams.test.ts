import { expect, test } from 'vitest'

import type { Frame } from '../../src/frames/generated/frame.ts'
import { ManualClock } from '../manual-clock.ts'
import {
  GatedModel,
  seqs,
  serviceKit,
  SSE,
  streamOf,
  talkingAgent,
  until,
  upTo,
  type ServiceKit,
} from './service-kit.ts'

const isSaid = (text: string) => (frame: Frame) => frame.type === 'output_text_delta' && frame.delta === text

async function finished(kit: ServiceKit): Promise<string> {
  const runId = await kit.start()
  await until(() => kit.store.find(runId)?.status === 'ended')
  return runId
}

test('fault S03: a reader goes on after any frame of a run, without a gap and without a repeat', async () => {
  const kit = serviceKit(talkingAgent())
  const runId = await finished(kit)
  const all = await (await streamOf(kit, runId)).frames()
  for (const { seq } of all) {
    const byHeader = await streamOf(kit, runId, { headers: { 'last-event-id': String(seq) } })
    expect(seqs(await byHeader.frames())).toEqual(upTo(all.length).slice(seq + 1))
    const byQuery = await streamOf(kit, runId, { after: seq })
    expect(seqs(await byQuery.frames())).toEqual(upTo(all.length).slice(seq + 1))
  }
  expect(seqs(await (await streamOf(kit, runId, { after: -1 })).frames())).toEqual(upTo(all.length))
})

test('fault S03: the header outranks the query, as a browser sends both when it comes back', async () => {
  const kit = serviceKit(talkingAgent())
  const runId = await finished(kit)
  const client = await streamOf(kit, runId, { after: 0, headers: { 'last-event-id': '3' } })
  expect((await client.frames())[0]?.seq).toBe(4)
})

test('fault S03: a place that the log has not reached is 409, whoever drives the run', async () => {
  const gate = new GatedModel()
  const kit = serviceKit(gate.made)
  const runId = await kit.start()
  const ended = await finished(serviceKit(talkingAgent(), { store: kit.store }))
  for (const id of [runId, ended]) {
    const response = await kit.ask(`/runs/${id}/frames`, { headers: { ...SSE, 'last-event-id': '100000' } })
    expect(response.status).toBe(409)
    expect(await response.json()).toMatchObject({ error: { code: 'cursor_ahead' } })
  }
})

test.each([
  ['words', 'abc'],
  ['a negative number', '-2'],
  ['a number with a fraction', '1.5'],
  ['a number in another notation', '1e3'],
  ['a hexadecimal number', '0x10'],
  ['spaces inside', '1 2'],
  ['the id of another run and a number', '00000000-0000-7000-8000-000000000000:3'],
  ['10 kB of digits', '9'.repeat(10_000)],
])('fault S03: %s is no place in a log, and 400', async (_, id) => {
  const kit = serviceKit(talkingAgent())
  const runId = await finished(kit)
  expect((await kit.ask(`/runs/${runId}/frames`, { headers: { ...SSE, 'last-event-id': id } })).status).toBe(
    400,
  )
  expect(
    (await kit.ask(`/runs/${runId}/frames?after=${encodeURIComponent(id)}`, { headers: SSE })).status,
  ).toBe(400)
})

test('a stream says in its headers that nobody may keep it back or change it', async () => {
  const kit = serviceKit(talkingAgent())
  const response = await kit.ask(`/runs/${await finished(kit)}/frames`, {
    headers: { ...SSE, 'accept-encoding': 'gzip' },
  })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  expect(response.headers.get('x-accel-buffering')).toBe('no')
  expect(response.headers.get('cache-control')).toBe('no-store, no-transform')
  expect(response.headers.get('content-encoding')).toBeNull()
  await response.body?.cancel()
})

test('a stream ends with why the run did, also for a reader that had every frame', async () => {
  const kit = serviceKit(talkingAgent())
  const runId = await finished(kit)
  const last = (kit.store.find(runId)?.frames ?? 0) - 1
  const client = await streamOf(kit, runId, { after: last })
  expect(await client.next()).toEqual({
    id: null,
    event: 'end',
    data: '{"reason":"completed","state":"done"}',
  })
  expect(await client.next()).toBeNull()
})

test('fault S04: a stream in which nothing happens says every 15 seconds that it is alive', async () => {
  const clock = new ManualClock()
  const gate = new GatedModel()
  const kit = serviceKit(gate.made, { clock })
  const client = await streamOf(kit, await kit.start())
  const { length } = await client.frames((frame) => frame.type === 'response_headers')
  expect(length).toBeGreaterThan(0)
  for (let beat = 0; beat < 3; beat += 1) {
    const next = client.next()
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(14_000)
    clock.advance(1_000)
    expect(await next).toEqual({ id: null, event: 'comment', data: 'ka' })
  }
  await client.cancel()
  expect(clock.timersArmed).toBe(0)
})

test('fault S01: a reader that takes nothing holds one write, and is closed with too_slow while the run goes on', async () => {
  const clock = new ManualClock()
  const gate = new GatedModel()
  const kit = serviceKit(gate.made, { clock })
  const runId = await kit.start()
  const client = await streamOf(kit, runId)
  await client.frames((frame) => frame.type === 'response_headers')
  // More than 2 MiB that the reader does not take.
  const before = kit.store.find(runId)?.frames ?? 0
  for (let at = 0; at < 256; at += 1) gate.say(`${at} `.padEnd(4_096, 'x'))
  await until(() => (kit.store.find(runId)?.frames ?? 0) >= before + 512)
  clock.advance(1_000)
  clock.advance(29_000)
  const metrics = await (await kit.ask('/metrics')).text()
  expect(metrics).toContain('loopchart_readers 1\n')
  clock.advance(1_000)
  expect(await (await kit.ask('/metrics')).text()).toContain(
    'loopchart_readers_closed_total{reason="too_slow"} 1\n',
  )
  // What it still gets is why, and it goes on from the last frame that it has.
  const late = await client.next()
  expect(late?.event).toBe('too_slow')
  expect(await client.next()).toBeNull()
  expect(Math.max(...client.reads)).toBeLessThanOrEqual(64 * 1024)
  gate.end()
  await until(() => kit.store.find(runId)?.status === 'ended')
})

test('fault S01: a slow reader is not closed as long as it takes something now and then', async () => {
  const clock = new ManualClock()
  const gate = new GatedModel()
  const kit = serviceKit(gate.made, { clock })
  const runId = await kit.start()
  const client = await streamOf(kit, runId)
  await until(() => gate.requests === 1)
  for (let at = 0; at < 64; at += 1) gate.say(`${at} `.padEnd(8_192, 'x'))
  gate.end()
  await until(() => kit.store.find(runId)?.status === 'ended')
  const frames: Frame[] = []
  let reads = 0
  for (let event = await client.next(); event?.event === 'frame'; event = await client.next()) {
    frames.push(JSON.parse(event.data) as Frame)
    // Within one read nothing is asked for.
    if (client.reads.length > reads) clock.advance(25_000)
    reads = client.reads.length
  }
  expect(seqs(frames)).toEqual(upTo(kit.store.find(runId)?.frames ?? 0))
})

test('fault S01: many small frames go out in one write, and one large frame in writes of at most 64 KiB', async () => {
  const kit = serviceKit(talkingAgent(Array.from({ length: 2_000 }, () => 'x')))
  const runId = await finished(kit)
  const client = await streamOf(kit, runId)
  const frames = await client.frames()
  expect(client.reads.length).toBeLessThan(frames.length / 20)
  const large = serviceKit(talkingAgent(['y'.repeat(500_000)]))
  const reader = await streamOf(large, await finished(large))
  await reader.frames()
  expect(Math.max(...reader.reads)).toBeLessThanOrEqual(64 * 1024)
})

test('fault S02: a reader that leaves is forgotten, and its run goes on', async () => {
  const gate = new GatedModel()
  const kit = serviceKit(gate.made)
  const runId = await kit.start()
  const client = await streamOf(kit, runId)
  await client.frames((frame) => frame.type === 'response_headers')
  await client.cancel()
  expect(await (await kit.ask('/metrics')).text()).toContain('loopchart_readers 0\n')
  gate.end()
  await until(() => kit.store.find(runId)?.status === 'ended')
  expect(kit.store.find(runId)?.state).toBe('done')
})

test('fault S02: with cancelOnDisconnect a run is cancelled when the last of its readers leaves', async () => {
  const gate = new GatedModel()
  const kit = serviceKit(gate.made, { cancelOnDisconnect: true })
  const runId = await kit.start()
  const [one, other] = [await streamOf(kit, runId), await streamOf(kit, runId)]
  await one.frames((frame) => frame.type === 'response_headers')
  await one.cancel()
  gate.say('still here')
  await other.frames(isSaid('still here'))
  await other.cancel()
  await until(() => kit.store.find(runId)?.status === 'ended')
  expect(kit.store.find(runId)?.state).toBe('cancelled')
})

test('fault S05: beyond the cap on streams a reader is told when to come back, and one that leaves makes room', async () => {
  const gate = new GatedModel()
  const kit = serviceKit(gate.made, { limits: { streams: 2 } })
  const runId = await kit.start()
  const first = await streamOf(kit, runId)
  await streamOf(kit, runId)
  const refused = await kit.ask(`/runs/${runId}/frames`, { headers: SSE })
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  await first.cancel()
  await (await streamOf(kit, runId)).cancel()
})

test('fault S05: beyond the cap on runs none is begun, and beyond the rate no request is answered', async () => {
  const clock = new ManualClock()
  const gate = new GatedModel()
  const kit = serviceKit(gate.made, { clock, limits: { runs: 1, requestsPerSecond: 4 } })
  await kit.start()
  const refused = await kit.ask('/runs', { body: { input: 'another' } })
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('5')
  expect(kit.store.list()).toHaveLength(1)
  expect((await kit.ask('/access')).status).toBe(200)
  expect((await kit.ask('/access')).status).toBe(200)
  const over = await kit.ask('/access')
  expect(over.status).toBe(429)
  expect(over.headers.get('retry-after')).toBe('1')
  clock.advance(1_000)
  expect((await kit.ask('/access')).status).toBe(200)
})

test('many readers of one run at different places each get every frame once', async () => {
  const gate = new GatedModel()
  const kit = serviceKit(gate.made)
  const runId = await kit.start()
  const clients = await Promise.all(upTo(20).map(() => streamOf(kit, runId)))
  const reading = clients.map((client) => client.frames())
  await until(() => gate.requests === 1)
  for (let at = 0; at < 50; at += 1) {
    gate.say(`${at} `)
    if (at % 7 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  gate.end()
  for (const frames of await Promise.all(reading)) {
    expect(seqs(frames)).toEqual(upTo(kit.store.find(runId)?.frames ?? 0))
  }
})

test('pages of frames give each frame once, say how far the log goes, and end where it ends', async () => {
  const kit = serviceKit(talkingAgent(Array.from({ length: 60 }, (_, at) => `${at} `)))
  const runId = await finished(kit)
  const total = kit.store.find(runId)?.frames ?? 0
  const seen: number[] = []
  for (let isEnded = false; !isEnded;) {
    const page = await kit.json(`/runs/${runId}/frames?limit=7&after=${seen.at(-1) ?? -1}`)
    expect(page['last_seq']).toBe(total - 1)
    seen.push(...(page['frames'] as unknown as Frame[]).map(({ seq }) => seq))
    isEnded = page['is_ended'] === true
  }
  expect(seen).toEqual(upTo(total))
  expect(await kit.json(`/runs/${runId}/frames?after=${total - 1}`)).toEqual({
    frames: [],
    last_seq: total - 1,
    is_ended: true,
  })
  expect((await kit.ask(`/runs/${runId}/frames?limit=x`)).status).toBe(400)
})

test('a page has at most 4 MiB, and always one frame', async () => {
  const kit = serviceKit(talkingAgent(Array.from({ length: 2 }, () => 'z'.repeat(1_200_000))))
  const runId = await finished(kit)
  const text = await (await kit.ask(`/runs/${runId}/frames?limit=5000`)).text()
  const { frames } = JSON.parse(text) as { frames: readonly Frame[] }
  expect(text.length).toBeLessThan(5 * 1024 * 1024)
  expect(seqs(frames)).toEqual(upTo(frames.length))
  const large = frames.length
  expect(large).toBeLessThan(kit.store.find(runId)?.frames ?? 0)
})
