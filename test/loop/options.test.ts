import { expect, test } from 'vitest'

import { sseText, StreamBuilder } from '../../scripts/fixtures/stream-builder.ts'
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

const threeTurns = [callsAnswer(1, [ADD]), callsAnswer(2, [['add', '{"a":5,"b":1}']]), textAnswer(3, '6')]

test('the input of a stateless request begins with the whole input of the one before, letter for letter', async () => {
  const started = startRun(threeTurns, { continuity: 'stateless', instructions: 'Be brief.' })
  await finishRun(started)
  const { sent, requests } = started.model
  // The rest of the calls is said before the input and differs; what is said of the conversation only grows.
  const inputs = sent.map((text) => text.slice(text.indexOf('"input":'), -2))
  expect(inputs[1]?.startsWith(inputs[0] ?? '?')).toBe(true)
  expect(inputs[2]?.startsWith(inputs[1] ?? '?')).toBe(true)
  expect(sentTypes(requests[0])).toEqual(['message system', 'message user'])
  expect(requests.some((request) => 'previous_response_id' in request || 'instructions' in request)).toBe(
    false,
  )
  expect(requests.map(({ tools }) => JSON.stringify(tools))).toEqual(
    Array(3).fill(JSON.stringify(requests[0]?.['tools'])),
  )
})

test('ids of outputs in a stateless run are made from their call ids', async () => {
  const started = startRun(threeTurns, { continuity: 'stateless' })
  await finishRun(started)
  expect(started.model.requests[1]?.['input']).toContainEqual(
    expect.objectContaining({ type: 'function_call_output', id: 'output_call_1_0', call_id: 'call_1_0' }),
  )
})

test('auto sends the whole conversation once the provider has lost its response, and never an id again', async () => {
  const started = startRun(
    [callsAnswer(1, [ADD]), refusalAnswer('previous_response_not_found'), ...threeTurns.slice(1)],
    { continuity: 'auto' },
  )
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', text: '6', turns: 3 })
  expect(framesOf(frames, 'continuity_switched')).toMatchObject([
    { cause: 'previous_response_not_found', figures: { to: 'stateless' } },
  ])
  const { requests } = started.model
  expect(requests.map((request) => request['previous_response_id'])).toEqual([
    undefined,
    'resp_1',
    undefined,
    undefined,
  ])
  const pair = ['function_call', 'function_call_output']
  expect(requests.map(sentTypes)).toEqual([
    ['message user'],
    ['function_call_output'],
    ['message user', ...pair],
    ['message user', ...pair, ...pair],
  ])
  expect(started.ran).toHaveLength(2)
})

test('auto also switches on an error in the stream that is about previous_response_id', async () => {
  const unsupported = streamAnswer(2, (stream) =>
    stream.event('error', {
      code: 'unsupported_parameter',
      message: 'unknown parameter',
      param: 'previous_response_id',
    }),
  )
  const started = startRun([callsAnswer(1, [ADD]), unsupported, textAnswer(2, '5')], { continuity: 'auto' })
  const { result, frames } = await finishRun(started)
  expect(result.state).toBe('done')
  expect(framesOf(frames, 'continuity_switched')).toHaveLength(1)
  expect(framesOf(frames, 'retry_scheduled')).toEqual([])
})

test('a run that was told to continue by id does not switch, and fails by the code of the provider', async () => {
  const refused = refusalAnswer('unsupported_parameter')
  const provider = refused.provider === null ? null : { ...refused.provider, param: 'previous_response_id' }
  const started = startRun([callsAnswer(1, [ADD]), { ...refused, provider }])
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'failed', reason: 'unsupported_parameter' })
  expect(framesOf(frames, 'continuity_switched')).toEqual([])
})

test('auto is stateless from the start where the model keeps no responses', async () => {
  const started = startRun(threeTurns, { continuity: 'auto' }, { canContinueById: false })
  await finishRun(started)
  expect(started.model.requests.some((request) => 'previous_response_id' in request)).toBe(false)
})

const thinking = sseText(
  new StreamBuilder('resp_1').start().reasoning(0, ['Adding.'], ['2+3']).call(1, 'add', [ADD[1]]).end()
    .events,
)

test('encrypted reasoning is asked for once, stores nothing, and goes back with the whole conversation', async () => {
  const started = startRun([thinking, textAnswer(2, '5')], {
    request: { encryptedReasoning: true, include: ['reasoning.encrypted_content'] },
  })
  await finishRun(started)
  const { requests } = started.model
  expect(requests[1]).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] })
  expect(requests[1]).not.toHaveProperty('previous_response_id')
  expect(sentTypes(requests[1])).toEqual([
    'message user',
    'reasoning',
    'function_call',
    'function_call_output',
  ])
  expect(requests[1]?.['input']).toContainEqual(
    expect.objectContaining({ type: 'reasoning', encrypted_content: 'b3BhcXVlLXRvLXVz' }),
  )
})

test('encrypted reasoning with store: true goes on by id', async () => {
  const started = startRun([thinking, textAnswer(2, '5')], {
    request: { encryptedReasoning: true, store: true },
  })
  await finishRun(started)
  expect(started.model.requests[1]).toMatchObject({ store: true, previous_response_id: 'resp_1' })
  expect(sentTypes(started.model.requests[1])).toEqual(['function_call_output'])
})

test('with tool choice none a call does not run, and the model is told so', async () => {
  const started = startRun([callsAnswer(1, [ADD]), textAnswer(2, 'ok')], { request: { toolChoice: 'none' } })
  const { result } = await finishRun(started)
  expect(started.model.requests.map((request) => request['tool_choice'])).toEqual(['none', 'none'])
  expect(result.calls).toMatchObject([{ outcome: 'not_allowed' }])
  expect(started.ran).toEqual([])
  expect(toldOutputs(started.model.requests[1])[0]?.text).toContain('no tool may be called in this turn')
})

test.for([
  ['required', 'required'],
  ['one function', { type: 'function', name: 'add' }],
  ['one function in the words of chat completions', { type: 'function', function: { name: 'add' } }],
] as const)('a forced choice (%s) is free once it was followed', async ([, toolChoice]) => {
  const started = startRun(threeTurns, { request: { toolChoice } })
  const { result } = await finishRun(started)
  const forced = toolChoice === 'required' ? 'required' : { type: 'function', name: 'add' }
  expect(started.model.requests.map((request) => request['tool_choice'])).toEqual([forced, 'auto', 'auto'])
  expect(result).toMatchObject({ state: 'done', calls: [{ outcome: 'ok' }, { outcome: 'ok' }] })
})

test('a forced choice that is sticky stays forced', async () => {
  const started = startRun(threeTurns, { request: { toolChoice: 'required', stickyToolChoice: true } })
  await finishRun(started)
  expect(started.model.requests.map((request) => request['tool_choice'])).toEqual(Array(3).fill('required'))
})

function shellAndRead(turn: number): string {
  return callsAnswer(turn, [
    ['shell', `{"turn":${turn}}`],
    ['read', `{"turn":${turn}}`],
  ])
}

test('while one function is forced no other runs, and after it any may', async () => {
  const shell = watchedTool('shell')
  const read = watchedTool('read')
  const started = startRun([shellAndRead(1), shellAndRead(2), textAnswer(3, 'ok')], {
    tools: [shell.tool, read.tool],
    request: { toolChoice: { type: 'function', name: 'read' } },
  })
  const { result } = await finishRun(started)
  expect(result.calls.map(({ outcome }) => outcome)).toEqual(['not_allowed', 'ok', 'ok', 'ok'])
  expect(shell.ran).toEqual([{ turn: 2 }])
})

test('a list of allowed tools stays in force for the whole run', async () => {
  const shell = watchedTool('shell')
  const read = watchedTool('read')
  const tools = [{ type: 'function', name: 'read' }] as const
  const started = startRun(
    [callsAnswer(1, [['read', '{}']]), callsAnswer(2, [['shell', '{}']]), textAnswer(3, 'ok')],
    {
      tools: [shell.tool, read.tool],
      request: { toolChoice: { type: 'allowed_tools', mode: 'required', tools } },
    },
  )
  const { result } = await finishRun(started)
  const modes = started.model.requests.map(({ tool_choice: choice }) => (choice as { mode: string }).mode)
  expect(modes).toEqual(['required', 'auto', 'auto'])
  expect(result.calls.map(({ outcome }) => outcome)).toEqual(['ok', 'not_allowed'])
  expect(shell.ran).toEqual([])
})

test('a request says how many calls are left, and one at a time unless told otherwise', async () => {
  const started = startRun(threeTurns, { limits: { toolCalls: 3 } })
  await finishRun(started)
  expect(started.model.requests.map((request) => request['max_tool_calls'])).toEqual([3, 2, 1])
  expect(started.model.requests[0]?.['parallel_tool_calls']).toBe(false)
})

test('calls of one tool run one after the other unless told otherwise', async () => {
  const slow = watchedTool('slow', () => everythingElse(), { readOnly: true })
  const calls = [1, 2].map((n) => ['slow', `{"n":${n}}`] as const)
  const started = startRun([callsAnswer(1, calls), textAnswer(2, 'ok')], { tools: [slow.tool] })
  const { frames } = await finishRun(started)
  const order = frames.map(({ type }) => type).filter((type) => /^tool_(started|ended)$/u.test(type))
  expect(order).toEqual(['tool_started', 'tool_ended', 'tool_started', 'tool_ended'])
})

test('in parallel mode calls that conflict are in different batches, and outputs keep the order of the calls', async () => {
  const gates = new Map([0, 1, 2, 3].map((n) => [n, Promise.withResolvers<undefined>()]))
  const write = watchedTool(
    'write',
    ({ n }) => gates.get(Number(n))?.promise.then(() => `wrote ${Number(n)}`),
    { conflicts: ({ file }) => [JSON.stringify(file)] },
  )
  const files = ['a', 'b', 'b', 'c']
  const calls = files.map((file, n) => ['write', JSON.stringify({ n, file })] as const)
  const started = startRun([callsAnswer(1, calls), textAnswer(2, 'ok')], {
    tools: [write.tool],
    toolExecution: 'parallel',
  })
  const { live, model } = started
  await untilFrame(live, (frame) => frame.type === 'tool_started' && frame.slot === 1)
  expect(write.ran.map(({ n }) => n)).toEqual([0, 1])
  gates.get(1)?.resolve(undefined)
  await untilFrame(live, (frame) => frame.type === 'tool_ended' && frame.call_id === 'call_1_1')
  gates.get(0)?.resolve(undefined)
  await untilFrame(live, (frame) => frame.type === 'tool_started' && frame.slot === 3)
  gates.get(3)?.resolve(undefined)
  await untilFrame(live, (frame) => frame.type === 'tool_ended' && frame.call_id === 'call_1_3')
  gates.get(2)?.resolve(undefined)
  const { result, frames } = await finishRun(started)
  expect(framesOf(frames, 'batch_planned').map(({ figures }) => figures['slots'])).toEqual([
    [0, 1],
    [2, 3],
  ])
  expect(result.calls.map(({ callId }) => callId)).toEqual(['call_1_1', 'call_1_0', 'call_1_3', 'call_1_2'])
  const told = toldOutputs(model.requests[1])
  expect(told.map(({ callId }) => callId)).toEqual(['call_1_0', 'call_1_1', 'call_1_2', 'call_1_3'])
  expect(told.map(({ text }) => /wrote \d/u.exec(text)?.[0])).toEqual([
    'wrote 0',
    'wrote 1',
    'wrote 2',
    'wrote 3',
  ])
  expect(model.requests[0]?.['parallel_tool_calls']).toBe(true)
})

test('in parallel mode a tool that says nothing of conflicts runs alone, and no batch is larger than allowed', async () => {
  const read = watchedTool('read', () => 'ran', { readOnly: true })
  const shell = watchedTool('shell')
  const names = ['read', 'read', 'read', 'shell', 'read']
  const calls = names.map((name, n) => [name, `{"n":${n}}`] as const)
  const started = startRun([callsAnswer(1, calls), textAnswer(2, 'ok')], {
    tools: [read.tool, shell.tool],
    toolExecution: 'parallel',
    maxConcurrency: 2,
  })
  const { frames } = await finishRun(started)
  expect(framesOf(frames, 'batch_planned').map(({ figures }) => figures['slots'])).toEqual([
    [0, 1],
    [2],
    [3],
    [4],
  ])
})

test('wall time ends a run that waits for a person', async () => {
  const shell = watchedTool('shell', () => 'ran', { needsApproval: true })
  const started = startRun([callsAnswer(1, [['shell', '{}']])], { tools: [shell.tool], limits: { ms: 5000 } })
  const { live, clock } = started
  await untilFrame(live, ({ type }) => type === 'approval_requested')
  clock.advance(4999)
  await everythingElse()
  expect(live.state).toBe('working.executing.awaitingApproval')
  clock.advance(1)
  const { result } = await finishRun(started)
  expect(result).toMatchObject({
    state: 'limitExceeded',
    reason: 'wall_time',
    unansweredCalls: ['call_1_0'],
    usage: { total_tokens: 154 },
  })
  expect(shell.ran).toEqual([])
  expect(clock.armed).toEqual([])
})

test('wall time ends a run that waits to ask again, before it does', async () => {
  const started = startRun([refusalAnswer('overloaded', true)], { limits: { ms: 100 } })
  await untilFrame(started.live, ({ type }) => type === 'retry_scheduled')
  started.clock.advance(100)
  expect((await finishRun(started)).result).toMatchObject({ state: 'limitExceeded', reason: 'wall_time' })
  expect(started.model.requests).toHaveLength(1)
})

test('a limit of tokens does not take back an answer that is already there', async () => {
  const { result } = await finishRun(startRun([textAnswer(1, 'hi')], { limits: { tokens: 10 } }))
  expect(result).toMatchObject({ state: 'done', text: 'hi' })
})

test('a tool that may be called twice in a run is not run a third time, over turns too', async () => {
  const pay = watchedTool('pay', ({ n }) => n, { maxCalls: 2 })
  const answers = [
    callsAnswer(1, [['pay', '{"n":1}']]),
    callsAnswer(2, [
      ['pay', '{"n":2}'],
      ['pay', '{"n":3}'],
    ]),
    textAnswer(3, 'ok'),
  ]
  const started = startRun(answers, { tools: [pay.tool] })
  const { result } = await finishRun(started)
  expect(pay.ran).toEqual([{ n: 1 }, { n: 2 }])
  expect(result.state).toBe('done')
  const told = toldOutputs(started.model.requests[2])
  expect(told.map(({ callId }) => callId)).toEqual(['call_2_0', 'call_2_1'])
  expect(told[1]?.text).toContain('at most 2 calls of this tool')
})

test('a refused call does not follow a forced choice', async () => {
  const shell = watchedTool('shell')
  const read = watchedTool('read')
  const started = startRun(
    [callsAnswer(1, [['shell', '{}']]), callsAnswer(2, [['shell', '{"again":1}']]), textAnswer(3, 'ok')],
    {
      tools: [shell.tool, read.tool],
      request: { toolChoice: { type: 'function', name: 'read' } },
    },
  )
  const { result } = await finishRun(started)
  expect(result.calls.map(({ outcome }) => outcome)).toEqual(['not_allowed', 'not_allowed'])
  expect(shell.ran).toEqual([])
})
