import { expect, test } from 'vitest'

import { agent } from '../../src/agent.ts'
import { run } from '../../src/loop/run.ts'
import type { Model, SendFault } from '../../src/loop/model.ts'
import type { CompactResource } from '../../src/protocol/generated/openresponses.ts'
import { strictCompactionValidator } from '../../src/protocol/generated/strict-events.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
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

const USER = { type: 'message', role: 'user', content: 'add' }
const CALL = { type: 'function_call', call_id: 'call_y', name: 'add', arguments: '{}' }
const OUTPUT = { type: 'function_call_output', call_id: 'call_y', output: '5' }
const SAID = { type: 'message', role: 'assistant', content: 'Well.' }

interface Sent {
  readonly fault: SendFault | null
  readonly text: string
  readonly contentType: string | null
}

async function sendTo(to: Pick<Model, 'send'> | null | undefined, body: object): Promise<Sent> {
  const chunks: Uint8Array[] = []
  let contentType: string | null = null
  const fault = await to?.send({
    body: JSON.stringify({ model: 'scripted-1', ...body }),
    idempotencyKey: 'key',
    signal: new AbortController().signal,
    onHead: (head) => void ({ contentType } = head),
    onChunk: (chunk) => chunks.push(chunk) > 0,
  })
  return { fault: fault ?? null, text: Buffer.concat(chunks).toString(), contentType }
}

function refusedWith(code: string, param: string): object {
  return { isRetryable: false, provider: { status: 400, code, param } }
}

test('a model that forgets refuses to continue what it said before, and uses up no turn for it', async () => {
  const model = scriptedModel([assistantMessage('one'), assistantMessage('two'), assistantMessage('three')])
  expect((await sendTo(model, { input: 'a', previous_response_id: 'resp_of_another' })).fault).toBeNull()
  model.forget()
  for (const id of ['resp_1', 'resp_of_another']) {
    const { fault } = await sendTo(model, { input: 'b', previous_response_id: id })
    expect(fault).toMatchObject(refusedWith('previous_response_not_found', 'previous_response_id'))
  }
  expect((await sendTo(model, { input: 'b' })).text).toContain('two')
  expect((await sendTo(model, { input: 'c', previous_response_id: 'resp_4' })).text).toContain('three')
  model.assertComplete()
})

test('a turn can make the model forget, itself included', async () => {
  const model = scriptedModel([
    { output: [assistantMessage('one')], forgets: true },
    () => ({ output: [assistantMessage('two')], forgets: true }),
    assistantMessage('three'),
  ])
  await sendTo(model, { input: 'a' })
  const lost = refusedWith('previous_response_not_found', 'previous_response_id')
  expect((await sendTo(model, { input: 'b', previous_response_id: 'resp_1' })).fault).toMatchObject(lost)
  await sendTo(model, { input: 'b' })
  expect((await sendTo(model, { input: 'c', previous_response_id: 'resp_3' })).fault).toMatchObject(lost)
})

test('a model can refuse the calls of earlier runs, once or for good', async () => {
  const earlier = { input: [USER, CALL, OUTPUT, SAID, USER] }
  const refused = refusedWith('invalid_input', 'input')
  const never = scriptedModel([assistantMessage('one')], { refusesCalls: true })
  expect((await sendTo(never, earlier)).fault).toMatchObject(refused)
  expect((await sendTo(never, { input: [USER, CALL, OUTPUT] })).fault).toBeNull()
  const once = scriptedModel([
    modelError(400, { code: 'invalid_input', param: 'input' }),
    assistantMessage('one'),
  ])
  expect((await sendTo(once, earlier)).fault).toMatchObject(refused)
  expect((await sendTo(once, earlier)).fault).toBeNull()
})

test('a model says of itself what its options say, and by default that it can do nothing more', () => {
  expect(scriptedModel([])).toMatchObject({ nativeToolHistory: false, contextWindow: null, compact: null })
  const able = { nativeToolHistory: true, contextWindow: 1000, compact: true, endpoint: 'one:' }
  expect(scriptedModel([], able)).toMatchObject({
    endpoint: 'one:',
    nativeToolHistory: true,
    contextWindow: 1000,
    compact: { endpoint: 'one:/compact' },
  })
})

async function windowOf(model: Model, input: readonly object[]): Promise<CompactResource> {
  const { fault, text, contentType } = await sendTo(model.compact, { input })
  expect([fault, contentType]).toEqual([null, 'application/json'])
  const window: unknown = JSON.parse(text)
  expect(strictCompactionValidator(window)).toBe(true)
  return window as CompactResource
}

test('a compaction in process is one that its own endpoint takes back, and no other', async () => {
  const model = scriptedModel([assistantMessage('one')], { compact: true })
  const { output } = await windowOf(model, [USER, CALL, OUTPUT, SAID])
  expect(output.map(({ type }) => type)).toEqual(['message', 'compaction'])
  expect((await sendTo(model, { input: [...output, USER] })).fault).toBeNull()
  const later = scriptedModel([assistantMessage('one')], { compact: true })
  expect((await sendTo(later, { input: [...output, USER] })).fault).toBeNull()
  expect((await windowOf(later, [...output, USER])).output).toHaveLength(3)
  const elsewhere = scriptedModel([assistantMessage('one')], { endpoint: 'elsewhere:', compact: true })
  for (const to of [elsewhere, elsewhere.compact]) {
    const { fault } = await sendTo(to, { input: [...output, USER] })
    expect(fault).toMatchObject(refusedWith('invalid_encrypted_content', 'input'))
  }
  const bodies: readonly JsonObject[] = model.compactRequests
  expect(bodies).toEqual([{ model: 'scripted-1', input: [USER, CALL, OUTPUT, SAID] }])
  expect(model.requests).toHaveLength(1)
})

test('a compaction in process refuses half a pair, and what is no request', async () => {
  const model = scriptedModel([], { compact: true })
  const { fault } = await sendTo(model.compact, { input: [USER, CALL] })
  expect(fault?.message).toContain('No tool output found for function call call_y.')
  expect((await sendTo(model.compact, {})).fault?.message).toContain('There is nothing to compact.')
  expect((await sendTo(model.compact, { input: 7 })).fault?.code).toBe('request_refused')
})

test('compactions in process fail as they are told to', async () => {
  const some = scriptedModel([], { compact: [{ fault: { type: 'status', status: 500 } }] })
  expect((await sendTo(some.compact, { input: 'a' })).fault).toMatchObject({ isRetryable: true })
  expect((await sendTo(some.compact, { input: 'a' })).fault).toBeNull()
  const none = scriptedModel([], { compact: { fault: { type: 'status', status: 404 } } })
  for (const input of ['a', 'b']) {
    expect((await sendTo(none.compact, { input })).fault?.code).toBe('endpoint_not_found')
  }
  const lost = scriptedModel([], { compact: { fault: { type: 'reset', at_byte: 10 } } })
  const { fault, text } = await sendTo(lost.compact, { input: 'a' })
  expect([fault?.code, text.length]).toEqual(['connection_lost', 10])
  const raw = scriptedModel([], { compact: { fault: { type: 'raw', text: '{' } } })
  expect(await sendTo(raw.compact, { input: 'a' })).toMatchObject({ fault: null, text: '{' })
  expect(() => scriptedModel([], { compact: { output: [] } as never })).toThrow(
    'script is not valid: output is not a field of it',
  )
})
