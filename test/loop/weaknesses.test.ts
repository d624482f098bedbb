// What RIP and Fiber get wrong, by their numbers in the list of requirements, and what loopchart does instead.
import { expect, test } from 'vitest'

import { formatFrame } from '../../src/frames/format-frame.ts'
import { sseText, StreamBuilder } from '../../scripts/fixtures/stream-builder.ts'
import { readBody, readStream } from '../decode.ts'
import {
  ADD,
  bodyAnswer,
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

const failedStream = streamAnswer(1, (stream) =>
  stream.end('failed', { error: { code: 'invalid_prompt', message: 'no' } }),
)
const incompleteStream = streamAnswer(1, (stream) =>
  stream.end('incomplete', { incomplete_details: { reason: 'max_output_tokens' } }),
)
const errorStream = streamAnswer(1, (stream) =>
  stream.event('error', { code: 'invalid_prompt', message: 'no', param: null }),
)

test.for([
  ['response.failed', failedStream, 'invalid_prompt'],
  ['response.incomplete', incompleteStream, 'incomplete'],
  ['error', errorStream, 'invalid_prompt'],
] as const)('a stream that ends with %s is not a completed run (RIP 2)', async ([, answer, reason]) => {
  const { result } = await finishRun(startRun([answer]))
  expect(result).toMatchObject({ state: 'failed', reason })
})

test('a body in JSON where a stream was asked for is read, and its call runs (RIP 3)', async () => {
  const started = startRun([bodyAnswer('application/json', readBody('call')), textAnswer(2, '5')])
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', text: '5', calls: [{ outcome: 'ok' }] })
  expect(started.ran).toHaveLength(1)
  expect(framesOf(frames, 'provider_event').filter(({ turn }) => turn === 1)).toHaveLength(1)
})

test.for([
  ['text/html', '<html>busy</html>'],
  ['text/event-stream', '{"id":"resp_1"}'],
  ['application/json', '<html>busy</html>'],
] as const)(
  'a body that is no response (%s) is not a completed run with nothing (RIP 3)',
  async ([type, body]) => {
    const answers = Array.from({ length: 5 }, () => bodyAnswer(type, body))
    const { result } = await finishRun(startRun(answers))
    expect(result.state).toBe('failed')
    expect(result.reason).not.toBe('completed')
  },
)

test('a stream cut before its terminal event is not success and runs no call (RIP 4)', async () => {
  const whole = callsAnswer(1, [ADD])
  const cut = whole.slice(0, whole.indexOf('event: response.completed'))
  const started = startRun(Array.from({ length: 5 }, () => cut))
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'failed', reason: 'stream_truncated', calls: [] })
  expect(started.model.requests).toHaveLength(5)
  expect(started.ran).toEqual([])
})

test('a repeated output_item.done runs the tool once and sends one output (RIP 6)', async () => {
  const started = startRun([readStream('item-done-repeated'), textAnswer(2, '5')])
  await finishRun(started)
  expect(started.ran).toHaveLength(1)
  expect(toldOutputs(started.model.requests[1])).toHaveLength(1)
})

test('a call that is only in the terminal response runs (RIP 6)', async () => {
  const started = startRun([readStream('quirk-call-only-in-terminal'), textAnswer(2, '5')])
  await finishRun(started)
  expect(started.ran).toEqual([{ a: 2, b: 3 }])
})

test('a call item that says it is incomplete does not run, and the model is told (RIP 6)', async () => {
  const item = {
    type: 'function_call',
    id: 'fc_0',
    call_id: 'call_0',
    name: 'add',
    arguments: ADD[1],
    status: 'incomplete',
  }
  const started = startRun([streamAnswer(1, (stream) => stream.doneItem(0, item).end()), textAnswer(2, 'ok')])
  const { result } = await finishRun(started)
  expect(result.calls).toMatchObject([{ callId: 'call_0', outcome: 'truncated' }])
  expect(started.ran).toEqual([])
  expect(toldOutputs(started.model.requests[1])[0]?.text).toContain('cut off')
})

test('every frame of a tool names its call, and the first one its item and place (RIP 7)', async () => {
  const talking = watchedTool('talk', (_, { onOutput }) => onOutput('stdout', 'hm'))
  const calls = [
    ['talk', '{}'],
    ['talk', '{"n":2}'],
  ] as const
  const started = startRun([callsAnswer(1, calls), textAnswer(2, 'ok')], { tools: [talking.tool] })
  const { frames } = await finishRun(started)
  expect(framesOf(frames, 'tool_started')).toMatchObject([
    { call_id: 'call_1_0', item_id: 'fc_1_0', output_index: 0 },
    { call_id: 'call_1_1', item_id: 'fc_1_1', output_index: 1 },
  ])
  for (const type of ['tool_stdout', 'tool_ended'] as const)
    expect(framesOf(frames, type).map((frame) => frame.call_id)).toEqual(['call_1_0', 'call_1_1'])
})

test('what a tool says while it runs is told at once and in its order, stderr between stdout (RIP 8)', async () => {
  const goOn = Promise.withResolvers<undefined>()
  const slow = watchedTool('slow', async (_, { onOutput }) => {
    onOutput('stdout', 'one')
    onOutput('stderr', 'two')
    onOutput('stdout', 'three')
    await goOn.promise
    return 'done'
  })
  const started = startRun([callsAnswer(1, [['slow', '{}']]), textAnswer(2, 'ok')], { tools: [slow.tool] })
  await untilFrame(started.live, (frame) => frame.type === 'tool_stdout' && frame.chunk === 'three')
  expect(started.live.state).toBe('working.executing.running')
  goOn.resolve(undefined)
  const { frames } = await finishRun(started)
  const said = frames.flatMap((frame) =>
    frame.type === 'tool_stdout' || frame.type === 'tool_stderr' ? [[frame.type, frame.chunk]] : [],
  )
  expect(said).toEqual([
    ['tool_stdout', 'one'],
    ['tool_stderr', 'two'],
    ['tool_stdout', 'three'],
  ])
})

test('a call of the model has a deadline, and the run goes on after it (RIP 9)', async () => {
  const hanging = watchedTool('hanging', () => new Promise(() => undefined), { timeoutMs: 1000 })
  const started = startRun([callsAnswer(1, [['hanging', '{}']]), textAnswer(2, 'ok')], {
    tools: [hanging.tool],
  })
  await untilFrame(started.live, ({ type }) => type === 'tool_started')
  started.clock.advance(1000)
  expect((await finishRun(started)).result).toMatchObject({ state: 'done', calls: [{ outcome: 'timeout' }] })
})

test('a provider that is out for a moment is asked again, with the same bytes (RIP 9)', async () => {
  const started = startRun([refusalAnswer('overloaded', true), textAnswer(1, 'here')])
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', text: 'here', turns: 1 })
  expect(started.model.sent[0]).toBe(started.model.sent[1])
  expect(framesOf(frames, 'request_sent').map(({ attempt }) => attempt)).toEqual([0, 1])
})

test('a provider that never answers does not hold a run with a limit of wall time (RIP 9)', async () => {
  let wasAborted = false
  const silent = ({ signal }: { signal: AbortSignal }): Promise<null> =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        wasAborted = true
        resolve(null)
      })
    })
  const started = startRun([silent], { limits: { ms: 60_000 } })
  await untilFrame(started.live, ({ type }) => type === 'request_sent')
  started.clock.advance(60_000)
  expect(await started.live.result).toMatchObject({ state: 'limitExceeded', reason: 'wall_time' })
  expect(wasAborted).toBe(true)
})

test('a tool never sees arguments that are not what its schema says (RIP 10)', async () => {
  const calls = ['{"a":2', '"{}"', 'a=2', '{"a":{},"b":3}'].map((text) => ['add', text] as const)
  const started = startRun([callsAnswer(1, calls), textAnswer(2, 'ok')])
  const { result } = await finishRun(started)
  expect(result.calls.map(({ outcome }) => outcome)).toEqual(calls.map(() => 'bad_arguments'))
  expect(started.ran).toEqual([])
})

function thinkingAnswer(turn: number): string {
  return sseText(
    new StreamBuilder(`resp_${turn}`)
      .start()
      .reasoning(0, ['Adding.'], ['2 and 3'], `rs_${turn}`)
      .message(1, ['Let me see.'], `msg_${turn}`)
      .doneItem(2, {
        type: 'function_call',
        id: `fc_${turn}`,
        call_id: `call_${turn}`,
        name: 'add',
        arguments: `{"a":${turn},"b":3}`,
        status: 'completed',
      })
      .end().events,
  )
}

test('a stateless history has the reasoning, what the assistant said and the follow-up message, and only grows (RIP 11)', async () => {
  const started = startRun([thinkingAnswer(1), thinkingAnswer(2), textAnswer(3, '5')], {
    continuity: 'stateless',
    followUpMessage: 'Go on.',
  })
  await finishRun(started)
  const turnTypes = [
    'reasoning',
    'message assistant',
    'function_call',
    'function_call_output',
    'message user',
  ]
  expect(sentTypes(started.model.requests[2])).toEqual(['message user', ...turnTypes, ...turnTypes])
  const inputs = started.model.sent.map((text) => text.slice(text.indexOf('"input":')).slice(0, -2))
  expect(inputs[1]?.startsWith(inputs[0] ?? '?')).toBe(true)
  expect(inputs[2]?.startsWith(inputs[1] ?? '?')).toBe(true)
})

test('a limit in the middle of a response loses no output, and names the calls without one (RIP 12)', async () => {
  const calls = [1, 2, 3].map((a) => ['add', `{"a":${a},"b":1}`] as const)
  const started = startRun([callsAnswer(1, [ADD]), callsAnswer(2, calls)], { limits: { toolCalls: 3 } })
  const { result } = await finishRun(started)
  expect(result).toMatchObject({
    state: 'limitExceeded',
    reason: 'tool_calls',
    unansweredCalls: ['call_2_0', 'call_2_1', 'call_2_2'],
    calls: [{ callId: 'call_1_0', outcome: 'ok' }],
  })
  expect(result.message).toContain('4 of 3')
  expect(toldOutputs(started.model.requests[1])).toHaveLength(1)
})

test('at a limit every open call can be answered, and the model has a last word (RIP 12)', async () => {
  const calls = [1, 2, 3].map((a) => ['add', `{"a":${a},"b":1}`] as const)
  const started = startRun([callsAnswer(1, calls), textAnswer(2, 'I stop here.')], {
    limits: { toolCalls: 2 },
    onLimit: 'wrap_up',
  })
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'limitExceeded', text: 'I stop here.', unansweredCalls: [] })
  const told = toldOutputs(started.model.requests[1])
  expect(told.map(({ callId }) => callId)).toEqual(['call_1_0', 'call_1_1', 'call_1_2'])
  expect(told.every(({ text }) => text.includes('a limit of this run was reached'))).toBe(true)
  expect(started.ran).toEqual([])
})

test('the log has every request as it was sent, letter for letter (RIP 13)', async () => {
  const started = startRun([callsAnswer(1, [ADD]), refusalAnswer('overloaded', true), textAnswer(2, '5')])
  const { frames } = await finishRun(started)
  expect(framesOf(frames, 'request_sent').map(({ body }) => body)).toEqual(started.model.sent)
})

test('a log holds what it takes to drive the same run again, frame for frame (RIP 14)', async () => {
  const first = startRun([thinkingAnswer(1), thinkingAnswer(2), textAnswer(3, '5')])
  const { frames } = await finishRun(first)
  const answers = [1, 2, 3].map((turn) =>
    framesOf(frames, 'provider_event')
      .filter((frame) => frame.turn === turn)
      .map(({ event_name: name, raw }) => `${name === null ? '' : `event: ${name}\n`}data: ${raw ?? ''}\n\n`)
      .join(''),
  )
  const again = await finishRun(startRun(answers))
  expect(again.frames.map(formatFrame)).toEqual(frames.map(formatFrame))
})

test('a cancelled call hears of it and has its frame before the run ends (RIP 17)', async () => {
  let heard = false
  const slow = watchedTool(
    'slow',
    (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          heard = true
          reject(signal.reason as Error)
        })
      }),
  )
  const started = startRun([callsAnswer(1, [['slow', '{}']])], { tools: [slow.tool] })
  await untilFrame(started.live, ({ type }) => type === 'tool_started')
  await started.live.cancel()
  const { result, frames } = await finishRun(started)
  expect(heard).toBe(true)
  expect(result).toMatchObject({ state: 'cancelled', calls: [{ callId: 'call_1_0', outcome: 'cancelled' }] })
  expect(frames.at(-1)?.type).toBe('run_ended')
  expect(framesOf(frames, 'tool_failed')).toMatchObject([{ call_id: 'call_1_0', outcome: 'cancelled' }])
})

test('a cancelled call that ignores its signal is given up after two seconds (RIP 17)', async () => {
  const deaf = watchedTool('deaf', () => new Promise(() => undefined))
  const started = startRun([callsAnswer(1, [['deaf', '{}']])], { tools: [deaf.tool] })
  await untilFrame(started.live, ({ type }) => type === 'tool_started')
  await started.live.cancel()
  await everythingElse()
  expect(started.live.state).toBe('stopping')
  started.clock.advance(2000)
  expect(await started.live.result).toMatchObject({ state: 'cancelled', calls: [{ outcome: 'cancelled' }] })
  expect(started.clock.armed).toEqual([])
})

test('usage is summed, a token budget stops the run, and instructions go with every request (RIP 20)', async () => {
  const started = startRun([callsAnswer(1, [ADD]), callsAnswer(2, [['add', '{"a":1,"b":1}']])], {
    instructions: 'Be brief.',
    limits: { tokens: 300 },
  })
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'limitExceeded', reason: 'tokens', usage: { total_tokens: 308 } })
  expect(result.message).toContain('308 of 300')
  expect(started.ran).toHaveLength(1)
  expect(started.model.requests.map((request) => request['instructions'])).toEqual(['Be brief.', 'Be brief.'])
})
