import { expect, test } from 'vitest'

import { agent } from '../../src/agent.ts'
import { run } from '../../src/loop/run.ts'
import { loadStrict } from '../../src/protocol/load-strict.ts'
import { assistantMessage, functionCall, modelError } from '../../src/testing/script-turns.ts'
import { scriptedModel, type ScriptedTurn } from '../../src/testing/scripted-model.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { framesOf, untilFrame, watchedTool } from '../scripted-model.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'

const strict = await loadStrict()

async function runScript(turns: readonly ScriptedTurn[]) {
  const clock = new SimulatedClock()
  const model = scriptedModel(turns, { clock })
  const { tool: add, ran } = watchedTool('add', ({ a, b }) => Number(a) + Number(b))
  const live = run(agent({ model, tools: [add], clock, profile: strict, random: () => 0 }), 'what is 2+3?')
  const frames: Frame[] = []
  for await (const frame of live) {
    frames.push(frame)
    if (frame.type !== 'retry_scheduled') continue
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(60_000)
  }
  return { model, ran, frames, result: await live.result }
}

test('a script of calls and words drives a run to its end, without an anomaly', async () => {
  const { model, ran, result, frames } = await runScript([
    [assistantMessage('Let me see.'), functionCall('add', { a: 2, b: 3 })],
    assistantMessage(['It is ', '5.']),
  ])
  expect(result).toMatchObject({ state: 'done', text: 'It is 5.', turns: 2 })
  expect(ran).toEqual([{ a: 2, b: 3 }])
  expect(model.requests.map(({ previous_response_id: id }) => id ?? null)).toEqual([null, 'resp_1'])
  expect(framesOf(frames, 'provider_event').flatMap((one) => [...one.anomalies, ...one.errors])).toEqual([])
  model.assertComplete()
})

test('a turn can ask about the request that it answers', async () => {
  const { result } = await runScript([
    functionCall('add', '{"a":2,"b":3}', 'call_mine'),
    ({ input }, turn) => assistantMessage(`${turn}: ${JSON.stringify(input)}`),
  ])
  expect(result.text).toContain('2: [{"type":"function_call_output","call_id":"call_mine"')
})

test('an error is retried when its status allows it, and ends the run otherwise', async () => {
  const retried = await runScript([modelError(503), assistantMessage('hello')])
  expect(retried.result.state).toBe('done')
  const refused = await runScript([modelError(401, { code: 'invalid_api_key' }), assistantMessage('hello')])
  expect(refused.result).toMatchObject({ state: 'failed', reason: 'key_refused' })
})

test('a retry waits for as long as the error asks', async () => {
  const clock = new SimulatedClock(0)
  const model = scriptedModel(
    [modelError(429, { headers: { 'Retry-After': '7' } }), assistantMessage('hello')],
    {
      clock,
    },
  )
  const live = run(agent({ model, clock }), 'hi')
  await untilFrame(live, ({ type }) => type === 'retry_scheduled')
  expect(clock.armed).toEqual([7000])
  clock.advance(7000)
  expect((await live.result).state).toBe('done')
})

test('a stream that is cut, reset or other bytes is asked for again', async () => {
  for (const fault of [
    { type: 'truncate', at_byte: 200 },
    { type: 'reset', at_byte: 0 },
    { type: 'reset', at_byte: 200 },
    { type: 'raw', text: 'data: {\n\n' },
    { type: 'raw_base64', base64: 'AAEC' },
  ] as const) {
    const { result, model } = await runScript([{ fault }, assistantMessage('hello')])
    expect(result.text, JSON.stringify(fault)).toBe('hello')
    expect(model.requests).toHaveLength(2)
  }
})

test('a reset is told apart from an end', async () => {
  const causes: string[] = []
  for (const type of ['reset', 'truncate'] as const) {
    const { frames } = await runScript([{ fault: { type, at_byte: 200 } }, assistantMessage('hello')])
    causes.push(...framesOf(frames, 'retry_scheduled').map(({ cause }) => cause))
  }
  expect(causes).toEqual(['connection_lost', 'stream_truncated'])
})

test('a model that falls silent can be cancelled', async () => {
  const model = scriptedModel([{ fault: { type: 'stall', at_byte: 300 } }])
  const live = run(agent({ model }), 'hi')
  await untilFrame(live, ({ type }) => type === 'response_first_byte')
  expect((await live.cancel()).answer).toBe('accepted')
  expect((await live.result).state).toBe('cancelled')
})

test('a wait of the script goes by the clock', async () => {
  const clock = new SimulatedClock(0)
  const model = scriptedModel([{ output: [assistantMessage('late')], delay_ms: 500 }], { clock })
  const live = run(agent({ model, clock }), 'hi')
  await untilFrame(live, ({ type }) => type === 'request_sent')
  expect(clock.armed).toEqual([500])
  clock.advance(500)
  expect((await live.result).text).toBe('late')
})

test('a request too many ends the run, and a turn too many is named', async () => {
  const { result } = await runScript([functionCall('add', { a: 1, b: 1 })])
  expect(result).toMatchObject({ state: 'failed', reason: 'script_exhausted' })
  const { model } = await runScript([assistantMessage('done'), assistantMessage('never')])
  expect(() => model.assertComplete()).toThrow('1 of 2 scripted turns were not asked for')
})

test('a turn that is none throws at once', () => {
  expect(() => scriptedModel([{ outputs: [] } as never])).toThrow(
    'script is not valid: outputs is not a field of it',
  )
})

test('what the function of a turn throws is what the run says, and it may take its time', async () => {
  const failing = scriptedModel([
    () => {
      throw new Error('expected 2 items, got 1')
    },
  ])
  const failed = await run(agent({ model: failing }), 'hi').result
  expect([failed.state, failed.reason]).toEqual(['failed', 'script_invalid'])
  expect(failed.message).toContain('expected 2 items, got 1')
  const slow = scriptedModel([() => Promise.resolve(assistantMessage('at last'))])
  expect((await run(agent({ model: slow }), 'hi').result).text).toBe('at last')
})

test('an error means what it means over HTTP: its code, a fallback, a date to wait for, an empty account', async () => {
  const second = scriptedModel([assistantMessage('Here I am.')])
  const models = [scriptedModel([modelError(404)]), second] as const
  expect((await run(agent({ model: models }), 'hi').result).text).toBe('Here I am.')
  const broke = await runScript([modelError(429, { code: 'insufficient_quota' })])
  expect(broke.result).toMatchObject({ state: 'failed', reason: 'quota_used_up' })
  const clock = new SimulatedClock()
  const at = new Date(clock.now() + 30_000)
  at.setMilliseconds(0)
  const asked = scriptedModel([modelError(503, { headers: { 'Retry-After': at.toUTCString() } })], { clock })
  const live = run(agent({ model: asked, clock }), 'hi')
  const frame = await untilFrame(live, ({ type }) => type === 'retry_scheduled')
  expect(frame).toMatchObject({ figures: { retry_at: at.getTime() } })
  await live.cancel()
})
