// What Fiber gets wrong, by its numbers in the list of requirements, and what loopchart does instead.
import { expect, test } from 'vitest'

import { responseResource, sseText, StreamBuilder } from '../../scripts/fixtures/stream-builder.ts'
import {
  ADD,
  callsAnswer,
  finishRun,
  framesOf,
  sentTypes,
  startRun,
  streamAnswer,
  textAnswer,
  toldOutputs,
  untilFrame,
  watchedTool,
} from '../scripted-model.ts'

const threeTurns = [callsAnswer(1, [ADD]), callsAnswer(2, [['add', '{"a":5,"b":1}']]), textAnswer(3, '6')]

test.for(['previous_response_id', 'stateless', 'auto'] as const)(
  'no request has both an earlier id and earlier items (Fiber 1, %s)',
  async (continuity) => {
    const started = startRun(threeTurns, { continuity })
    await finishRun(started)
    const isStateless = continuity === 'stateless'
    const followUps = started.model.requests.slice(1)
    expect(followUps.map((request) => request['previous_response_id'])).toEqual(
      isStateless ? [undefined, undefined] : ['resp_1', 'resp_2'],
    )
    const pair = ['function_call', 'function_call_output']
    const [one, two] = followUps.map(sentTypes)
    expect(one).toEqual(isStateless ? ['message user', ...pair] : ['function_call_output'])
    expect(two).toEqual(isStateless ? ['message user', ...pair, ...pair] : ['function_call_output'])
  },
)

test('a history has each call before its output, and what the assistant said (Fiber 2)', async () => {
  const talking = sseText(
    new StreamBuilder('resp_1').start().message(0, ['Let me see.']).call(1, 'add', [ADD[1]]).end().events,
  )
  const started = startRun([talking, textAnswer(2, '5')], { continuity: 'stateless' })
  await finishRun(started)
  expect(started.model.requests[1]?.['input']).toMatchObject([
    { type: 'message', role: 'user' },
    { type: 'message', role: 'assistant', content: [{ text: 'Let me see.' }] },
    { type: 'function_call', call_id: 'call_1', name: 'add', arguments: ADD[1] },
    { type: 'function_call_output', call_id: 'call_1' },
  ])
})

test('a run has limits of turns, tokens and time, and can be cancelled (Fiber 3)', async () => {
  const outcomes = await Promise.all([
    finishRun(startRun(threeTurns, { limits: { turns: 2 } })),
    finishRun(startRun(threeTurns, { limits: { tokens: 100 } })),
  ])
  expect(outcomes.map(({ result }) => result.reason)).toEqual(['turns', 'tokens'])
  const hanging = watchedTool('add', () => new Promise(() => undefined))
  const timed = startRun(threeTurns, { tools: [hanging.tool], limits: { ms: 1000 } })
  await untilFrame(timed.live, ({ type }) => type === 'tool_started')
  timed.clock.advance(1000)
  await untilFrame(timed.live, (frame) => frame.type === 'state_entered' && frame.state === 'stopping')
  timed.clock.advance(2000)
  expect(await timed.live.result).toMatchObject({ state: 'limitExceeded', reason: 'wall_time' })
  const cancelled = startRun(threeTurns)
  await cancelled.live.cancel()
  expect((await finishRun(cancelled)).result.state).toBe('cancelled')
})

test('usage counts every turn with its details, and each turn keeps its own (Fiber 4)', async () => {
  const { result, frames } = await finishRun(startRun(threeTurns))
  expect(result.usage).toEqual({
    prompt_tokens: 360,
    completion_tokens: 102,
    total_tokens: 462,
    cached: 192,
    reasoning: 24,
  })
  const kept = framesOf(frames, 'response_settled').map(({ usage }) => usage)
  expect(kept).toHaveLength(3)
  expect(kept[0]).toMatchObject({ input_tokens: 120, input_tokens_details: { cached_tokens: 64 } })
})

test('a response without usage is no fault (Fiber 4)', async () => {
  const without = streamAnswer(1, (stream) => stream.message(0, ['hi']).end('completed', { usage: null }))
  const { result } = await finishRun(startRun([without]))
  expect(result).toMatchObject({ state: 'done', text: 'hi', usage: { total_tokens: 0 } })
})

test('reasoning is told as it comes, in the result, and to the next request (Fiber 5)', async () => {
  const thinking = sseText(
    new StreamBuilder('resp_1')
      .start()
      .reasoning(0, ['Adding ', 'up.'], ['2+3'])
      .call(1, 'add', [ADD[1]])
      .end().events,
  )
  const last = sseText(
    new StreamBuilder('resp_2').start().reasoning(0, ['Done.'], ['5'], 'rs_9').message(1, ['5']).end().events,
  )
  const started = startRun([thinking, last], { continuity: 'stateless' })
  const { result, frames } = await finishRun(started)
  const summary = framesOf(frames, 'reasoning_delta').filter(({ part }) => part === 'summary')
  expect(summary.map(({ delta }) => delta)).toEqual(['Adding ', 'up.', 'Done.'])
  expect(result.reasoning).toMatchObject([{ type: 'reasoning', id: 'rs_9', summary: [{ text: 'Done.' }] }])
  expect(started.model.requests[1]?.['input']).toContainEqual({
    type: 'reasoning',
    id: 'rs_0',
    summary: [{ type: 'summary_text', text: 'Adding up.' }],
    encrypted_content: 'b3BhcXVlLXRvLXVz',
  })
})

test('the tool choice is sent, and a call outside of it does not run (Fiber 6)', async () => {
  const shell = watchedTool('shell')
  const read = watchedTool('read')
  const answer = callsAnswer(1, [
    ['shell', '{}'],
    ['read', '{}'],
  ])
  const toolChoice = { type: 'allowed_tools', tools: [{ type: 'function', name: 'read' }] } as const
  const started = startRun([answer, textAnswer(2, 'ok')], {
    tools: [shell.tool, read.tool],
    request: { toolChoice },
  })
  const { result } = await finishRun(started)
  expect(started.model.requests[0]?.['tool_choice']).toMatchObject({ type: 'allowed_tools', mode: 'auto' })
  expect(result.calls.map(({ outcome }) => outcome)).toEqual(['not_allowed', 'ok'])
  expect([shell.ran.length, read.ran.length]).toEqual([0, 1])
  expect(toldOutputs(started.model.requests[1])[0]?.text).toContain('available tools: read')
})

test('a tool that needs a yes does not run without one, whatever the choice of tools is (Fiber 6)', async () => {
  const shell = watchedTool('shell', () => 'ran', { needsApproval: true })
  const started = startRun([callsAnswer(1, [['shell', '{}']]), textAnswer(2, 'ok')], {
    tools: [shell.tool],
    request: { toolChoice: { type: 'function', name: 'shell' } },
  })
  await untilFrame(started.live, ({ type }) => type === 'approval_requested')
  expect(shell.ran).toEqual([])
  await started.live.deny('call_1_0', 'not here')
  const { result } = await finishRun(started)
  expect(result.calls).toMatchObject([{ outcome: 'denied' }])
  expect(shell.ran).toEqual([])
})

test('whoever reads the frames sees the results of tools between the words, and the words as they come (Fiber 7)', async () => {
  const talking = sseText(
    new StreamBuilder('resp_1').start().message(0, ['Let ', 'me see.']).call(1, 'add', [ADD[1]]).end().events,
  )
  const started = startRun([talking, textAnswer(2, 'It is 5.')])
  const { frames } = await finishRun(started)
  const seen = frames.flatMap((frame) => {
    if (frame.type === 'output_text_delta') return [frame.delta]
    return frame.type === 'tool_ended' ? [frame.type] : []
  })
  expect(seen).toEqual(['Let ', 'me see.', 'tool_ended', 'It is 5.'])
})

test('every request asks for a stream where the model can stream, and for none where it cannot (Fiber 7)', async () => {
  const streamed = startRun([textAnswer(1, 'hi')])
  await finishRun(streamed)
  expect(streamed.model.requests[0]?.['stream']).toBe(true)
  const part = { type: 'output_text', text: 'hi', annotations: [], logprobs: [] }
  const output = [{ type: 'message', id: 'msg_0', status: 'completed', role: 'assistant', content: [part] }]
  const whole = startRun(
    [
      (request) => {
        request.onChunk(Buffer.from(JSON.stringify(responseResource({ output }))))
        return Promise.resolve(null)
      },
    ],
    {},
    { isStreamed: false },
  )
  const { result } = await finishRun(whole)
  expect(whole.model.requests[0]?.['stream']).toBe(false)
  expect(result).toMatchObject({ state: 'done', text: 'hi' })
})
