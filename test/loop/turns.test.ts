import { expect, test } from 'vitest'

import type { ModelRequest } from '../../src/loop/model.ts'
import type { AnyItem } from '../../src/protocol/items.ts'
import {
  ADD,
  callsAnswer,
  everythingElse,
  finishRun,
  framesOf,
  refusalAnswer,
  sentTypes,
  startRun,
  streamAnswer,
  textAnswer,
  toldOutputs,
  untilFrame,
  watchedTool,
} from '../scripted-model.ts'

const cutShort = { incomplete_details: { reason: 'max_output_tokens' } }

test('a response that was cut short may go on, in a turn of its own', async () => {
  const first = streamAnswer(1, (stream) => stream.message(0, ['One, ']).end('incomplete', cutShort))
  const started = startRun([first, textAnswer(2, 'two.')], { onIncomplete: 'continue' })
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', text: 'two.', turns: 2 })
  expect(started.model.requests[1]).toMatchObject({
    previous_response_id: 'resp_1',
    input: [{ role: 'user', content: [{ text: 'Continue where you stopped.' }] }],
  })
})

test('a call in a response that was cut short does not run when the response goes on, and is answered', async () => {
  const first = streamAnswer(1, (stream) => stream.call(0, 'add', [ADD[1]]).end('incomplete', cutShort))
  const started = startRun([first, textAnswer(2, 'ok')], { onIncomplete: 'continue' })
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', calls: [{ callId: 'call_0', outcome: 'truncated' }] })
  expect(started.ran).toEqual([])
  expect(toldOutputs(started.model.requests[1])).toMatchObject([
    { callId: 'call_0', text: expect.stringContaining('cut off before this call was complete') },
  ])
})

test('a response that is cut short for ever comes to the limit of turns', async () => {
  const answers = [1, 2, 3, 4].map((turn) =>
    streamAnswer(turn, (stream) => stream.message(0, ['.']).end('incomplete', cutShort)),
  )
  const started = startRun(answers, { onIncomplete: 'continue', limits: { turns: 3 } })
  expect((await finishRun(started)).result).toMatchObject({ state: 'limitExceeded', reason: 'turns' })
})

const output = {
  name: 'sum',
  schema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
}

test('an answer of the format asked for is parsed', async () => {
  const started = startRun([textAnswer(1, '{"sum":5}')], { output })
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', output: { sum: 5 }, turns: 1 })
  expect(started.model.requests[0]?.['text']).toMatchObject({ format: { type: 'json_schema', name: 'sum' } })
})

test.for([
  ['is no JSON', 'It is 5.', 'it is not JSON'],
  ['breaks the schema', '{"sum":"5"}', 'sum must be number'],
] as const)('an answer that %s goes back once with the reason', async ([, wrong, reason]) => {
  const started = startRun([textAnswer(1, wrong), textAnswer(2, '{"sum":5}')], { output })
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', output: { sum: 5 }, turns: 2 })
  expect(started.model.requests[1]?.['input']).toMatchObject([
    { role: 'user', content: [{ text: expect.stringContaining(reason) }] },
  ])
})

test('an answer that has the wrong format twice fails the run and is kept as text', async () => {
  const started = startRun(
    [textAnswer(1, 'five'), textAnswer(2, 'Five!'), textAnswer(3, 'never asked for')],
    { output },
  )
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'failed', reason: 'output_invalid', text: 'Five!', output: null })
  expect(started.model.requests).toHaveLength(2)
})

test('a call before the answer is not held against the format', async () => {
  const started = startRun([callsAnswer(1, [ADD]), textAnswer(2, '{"sum":5}')], { output })
  expect((await finishRun(started)).result).toMatchObject({ state: 'done', output: { sum: 5 }, turns: 2 })
})

test('a follow-up message goes after the outputs of every turn', async () => {
  const answers = [callsAnswer(1, [ADD]), callsAnswer(2, [['add', '{"a":1,"b":1}']]), textAnswer(3, 'ok')]
  const started = startRun(answers, { followUpMessage: 'Go on.' })
  await untilFrame(started.live, ({ type }) => type === 'run_ended')
  expect(started.model.requests.map(sentTypes)).toEqual([
    ['message user'],
    ['function_call_output', 'message user'],
    ['function_call_output', 'message user'],
  ])
  expect(started.model.sent[1]).toContain('Go on.')
})

test('a conversation over its size is made shorter before the next request, which starts afresh', async () => {
  const seen: AnyItem[][] = []
  const summary: AnyItem = {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: 'so far: 5' }],
  }
  const usage = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11, cached: 0, reasoning: 0 }
  const started = startRun([callsAnswer(1, [ADD]), textAnswer(2, '5')], {
    compaction: {
      atTokens: 150,
      compact: (items) => {
        seen.push([...items])
        return Promise.resolve({ ok: true, items: [summary], usage })
      },
    },
  })
  const { result, frames } = await finishRun(started)
  expect(seen[0]?.map(({ type }) => type)).toEqual(['message', 'function_call', 'function_call_output'])
  expect(started.model.requests[1]).not.toHaveProperty('previous_response_id')
  expect(started.model.requests[1]?.['input']).toMatchObject([{ content: [{ text: 'so far: 5' }] }])
  expect(framesOf(frames, 'history_compacted')).toMatchObject([
    { cause: 'tokens', figures: { way: 'custom', detail: null, items_before: 3, items_after: 1 } },
  ])
  expect(framesOf(frames, 'state_entered').map(({ state }) => state)).toContain('working.compacting')
  expect(result).toMatchObject({ state: 'done', usage: { total_tokens: 154 * 2 + 11 } })
})

test.for<readonly [string, () => Promise<{ ok: false; message: string }>]>([
  ['cannot', () => Promise.resolve({ ok: false, message: 'no' })],
  ['throws', () => Promise.reject(new Error('no'))],
])('a conversation goes on as it is when what should shorten it %s', async ([, compact]) => {
  const started = startRun([callsAnswer(1, [ADD]), textAnswer(2, '5')], {
    compaction: { atTokens: 1, compact },
  })
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', text: '5' })
  expect(started.model.requests[1]).toMatchObject({ previous_response_id: 'resp_1' })
  expect(framesOf(frames, 'history_compacted')).toEqual([])
})

test('a run that waits to ask again is seen to, says until when, and goes on by the clock', async () => {
  const fault = refusalAnswer('overloaded', true)
  const started = startRun([fault, fault, textAnswer(1, 'here')])
  const { live, clock, model } = started
  const startMs = clock.now()
  const first = await untilFrame(live, ({ type }) => type === 'retry_scheduled')
  expect(first).toMatchObject({ cause: 'overloaded', figures: { attempt: 1, retry_at: startMs + 250 } })
  expect(live.state).toBe('working.backingOff')
  expect(clock.armed).toEqual([startMs + 250])
  clock.advance(249)
  await everythingElse()
  expect(model.requests).toHaveLength(1)
  clock.advance(1)
  await everythingElse()
  expect(model.requests).toHaveLength(2)
  expect(live.state).toBe('working.backingOff')
  expect(clock.armed).toEqual([startMs + 250 + 500])
  clock.advance(500)
  expect((await finishRun(started)).result).toMatchObject({ state: 'done', text: 'here', turns: 1 })
})

test('a provider that says when to come back is not asked sooner', async () => {
  const retryAt = 1_000_000 + 90_000
  const started = startRun([{ ...refusalAnswer('overloaded', true), retryAt }, textAnswer(1, 'here')])
  const { live, clock, model } = started
  await untilFrame(live, ({ type }) => type === 'retry_scheduled')
  expect(clock.armed).toEqual([retryAt])
  clock.advance(89_999)
  await everythingElse()
  expect(model.requests).toHaveLength(1)
  clock.advance(1)
  expect((await finishRun(started)).result).toMatchObject({ state: 'done', text: 'here' })
})

test('a wait to ask again can be cancelled', async () => {
  const started = startRun([refusalAnswer('overloaded', true)])
  await untilFrame(started.live, ({ type }) => type === 'retry_scheduled')
  expect(await started.live.cancel()).toMatchObject({ answer: 'accepted' })
  expect(await started.live.result).toMatchObject({ state: 'cancelled' })
  expect(started.clock.armed).toEqual([])
  expect(started.model.requests).toHaveLength(1)
})

test('retries are counted for each request anew', async () => {
  const fault = refusalAnswer('overloaded', true)
  const started = startRun([fault, fault, callsAnswer(1, [ADD]), fault, fault, textAnswer(2, '5')], {
    retry: { times: 2 },
  })
  expect((await finishRun(started)).result).toMatchObject({ state: 'done', turns: 2 })
})

test('the log of a run has no gap in its numbers, though a model goes on after it was cancelled', async () => {
  const started = startRun([
    async (request) => {
      const text = textAnswer(1, 'on and on')
      request.onHead({ status: 200, requestId: null, contentType: 'text/event-stream' })
      request.onChunk(Buffer.from(text.slice(0, 3000)))
      await new Promise((resolve) => {
        request.signal.addEventListener('abort', resolve)
      })
      request.onChunk(Buffer.from(text.slice(3000)))
      return null
    },
  ])
  await untilFrame(started.live, ({ type }) => type === 'provider_event')
  await started.live.cancel()
  const { result, frames } = await finishRun(started)
  expect(result.state).toBe('cancelled')
  expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, at) => at))
})

test('the log of a run has no gap in its numbers, though a tool talks on after it was cancelled', async () => {
  const asked = Promise.withResolvers<undefined>()
  const chatty = watchedTool('chatty', async (_, { onOutput }) => {
    await asked.promise
    for (let said = 0; said < 100; said += 1) {
      onOutput('stdout', 'on and on')
      await Promise.resolve()
    }
    return 'done'
  })
  const started = startRun([callsAnswer(1, [['chatty', '{}']])], { tools: [chatty.tool] })
  await untilFrame(started.live, ({ type }) => type === 'tool_started')
  const cancelled = started.live.cancel()
  asked.resolve(undefined)
  await cancelled
  const { result, frames } = await finishRun(started)
  expect(result.state).toBe('cancelled')
  expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, at) => at))
})

test('a warning about an option of the agent is told once', async () => {
  const started = startRun([callsAnswer(1, [ADD]), textAnswer(2, '5')], {
    request: { toolChoice: { type: 'function', function: { name: 'add' } } },
  })
  const { frames } = await finishRun(started)
  const warnings = framesOf(frames, 'warning').map(({ cause }) => cause)
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toContain('chat completions')
})

const broken = { ...refusalAnswer('ignored', true), code: 'connection_lost', provider: null }

test('a connection that breaks after the response was whole takes nothing away from it', async () => {
  const started = startRun([
    (request) => {
      request.onHead({ status: 200, requestId: null, contentType: 'text/event-stream' })
      request.onChunk(Buffer.from(textAnswer(1, 'whole')))
      return Promise.resolve(broken)
    },
  ])
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', text: 'whole' })
})

test('a connection that breaks inside a response is a reason to ask again, under its own name', async () => {
  const started = startRun([
    (request) => {
      request.onHead({ status: 200, requestId: null, contentType: 'text/event-stream' })
      const [cut = ''] = callsAnswer(1, [ADD]).split('event: response.completed')
      request.onChunk(Buffer.from(cut))
      return Promise.resolve(broken)
    },
    textAnswer(1, 'whole'),
  ])
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', text: 'whole', calls: [] })
  expect(framesOf(frames, 'retry_scheduled')).toMatchObject([{ cause: 'connection_lost' }])
})

test('attempts at one request share a key, and a request said in another way has its own', async () => {
  const keys: string[] = []
  const faults = [refusalAnswer('overloaded', true), refusalAnswer('previous_response_not_found'), null]
  const started = startRun(
    [
      callsAnswer(1, [ADD]),
      ...faults.map((fault) => (request: ModelRequest) => {
        keys.push(request.idempotencyKey)
        if (fault === null) request.onChunk(Buffer.from(textAnswer(2, '5')))
        return Promise.resolve(fault)
      }),
    ],
    { continuity: 'auto' },
  )
  expect((await finishRun(started)).result.state).toBe('done')
  expect(keys[0]).toBe(keys[1])
  expect(keys[2]).not.toBe(keys[1])
})

test('a format that nobody would hold answers to is refused', () => {
  const request = { format: { name: 'sum', schema: { type: 'object' } } }
  expect(() => startRun([], { request } as never)).toThrow('request.format: say it as output')
})
