import { expect, test } from 'vitest'

import { agent, type AgentOptions } from '../../src/agent.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { formatFrame } from '../../src/frames/format-frame.ts'
import { parseFrame } from '../../src/frames/parse-frame.ts'
import { run, type Run } from '../../src/loop/run.ts'
import { tool, type Tool } from '../../src/tools/tool.ts'
import {
  callsAnswer,
  scriptedModel,
  textAnswer,
  type ScriptedAnswer,
  type ScriptedModel,
} from '../scripted-model.ts'

const numbers = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
} as const

interface AddCalls {
  readonly ran: unknown[]
  readonly add: Tool
}

function addTool(options: Partial<Parameters<typeof tool>[0]> = {}): AddCalls {
  const ran: unknown[] = []
  const add = tool({
    name: 'add',
    description: 'Add two numbers and return the sum.',
    inputSchema: numbers,
    execute: (args) => {
      ran.push(args)
      return Number(args['a']) + Number(args['b'])
    },
    ...options,
  } as Parameters<typeof tool>[0])
  return { ran, add }
}

function start(
  answers: readonly ScriptedAnswer[],
  options: Partial<AgentOptions> = {},
): { run: Run; model: ScriptedModel; ran: unknown[] } {
  const { add, ran } = addTool()
  const model = scriptedModel(answers)
  const live = run(agent({ model, tools: [add], instructions: 'Be brief.', ...options }), 'what is 2+3?', {
    runId: 'run_1',
  })
  return { run: live, model, ran }
}

async function allFrames(live: Run): Promise<readonly Frame[]> {
  const frames: Frame[] = []
  for await (const frame of live) frames.push(frame)
  return frames
}

const ADD = ['add', '{"a":2,"b":3}'] as const

test('a model asks for a tool, the tool runs, its result goes back, the answer is the result', async () => {
  const { run: live, model, ran } = start([callsAnswer(1, [ADD]), textAnswer(2, 'It is 5.')])
  const result = await live.result
  expect(result).toMatchObject({
    status: 'ended',
    state: 'done',
    reason: 'completed',
    text: 'It is 5.',
    turns: 2,
  })
  expect(result.calls).toEqual([{ callId: 'call_1_0', name: 'add', outcome: 'ok' }])
  expect(ran).toEqual([{ a: 2, b: 3 }])
  expect(model.requests[1]).toMatchObject({
    previous_response_id: 'resp_1',
    instructions: 'Be brief.',
    input: [{ type: 'function_call_output', call_id: 'call_1_0' }],
  })
  expect(result.usage.total_tokens).toBe(308)
})

test('the log of a run is whole: numbered, readable, in the order of what happened', async () => {
  const { run: live } = start([callsAnswer(1, [ADD]), textAnswer(2, 'It is 5.')])
  const frames = await allFrames(live)
  expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, at) => at))
  expect(frames.map((frame) => parseFrame(formatFrame(frame)))).toEqual(JSON.parse(JSON.stringify(frames)))
  const told = frames.flatMap((frame) => {
    if (frame.type === 'state_entered') return [frame.state]
    return /_event|_delta|first_byte|headers/u.test(frame.type) ? [] : [frame.type]
  })
  expect(told).toEqual([
    'run_started',
    'working.responding.requesting',
    'request_sent',
    'working.responding.streaming',
    'response_settled',
    'working.assembling',
    'working.executing.choosing',
    'working.executing.running',
    'batch_planned',
    'tool_started',
    'tool_ended',
    'working.executing.choosing',
    'working.followingUp',
    'working.responding.requesting',
    'request_sent',
    'working.responding.streaming',
    'response_settled',
    'working.assembling',
    'done',
    'run_ended',
  ])
})

test('any number of readers see every frame, and leaving early ends nothing', async () => {
  const { run: live } = start([callsAnswer(1, [ADD]), textAnswer(2, 'It is 5.')])
  for await (const frame of live) if (frame.type === 'request_sent') break
  const [one, two] = await Promise.all([allFrames(live), allFrames(live)])
  expect(one).toEqual(two)
  expect(one.at(-1)?.type).toBe('run_ended')
  const texts: string[] = []
  for await (const text of live.textStream()) texts.push(text)
  expect(texts.join('')).toBe('It is 5.')
})

test('a response without anything in it is done with nothing', async () => {
  const { run: live } = start([callsAnswer(1, [])])
  expect(await live.result).toMatchObject({ state: 'done', text: '', calls: [] })
})

test.for([
  ['an unknown tool', ['subtract', '{}'], 'unknown_tool'],
  ['arguments that are no JSON', ['add', '{"a":'], 'bad_arguments'],
  ['arguments of the wrong type', ['add', '{"a":"2","b":3}'], 'bad_arguments'],
] as const)('%s is answered in words, and the other call still runs', async ([, bad, outcome]) => {
  const { run: live, model, ran } = start([callsAnswer(1, [bad, ADD]), textAnswer(2, 'ok')])
  const result = await live.result
  expect(result.calls.map((call) => call.outcome)).toEqual([outcome, 'ok'])
  expect(ran).toHaveLength(1)
  const input = model.requests[1]?.['input'] as readonly { call_id: string; output: string }[]
  expect(input.map(({ call_id: callId }) => callId)).toEqual(['call_1_0', 'call_1_1'])
  expect(JSON.parse(input[0]?.output ?? '')).toMatchObject({ ok: false })
})

test('the turn limit stops before the tools of a turn that nobody would read', async () => {
  const { run: live, ran } = start([callsAnswer(1, [ADD])], { limits: { turns: 1 } })
  const result = await live.result
  expect(result).toMatchObject({ state: 'limitExceeded', reason: 'turns', unansweredCalls: ['call_1_0'] })
  expect(result.message).toContain('1 of 1')
  expect(ran).toEqual([])
})

test('with wrap_up the model has a last word, without tools', async () => {
  const {
    run: live,
    model,
    ran,
  } = start([callsAnswer(1, [ADD]), textAnswer(2, 'I must stop here.')], {
    limits: { turns: 1 },
    onLimit: 'wrap_up',
  })
  expect(await live.result).toMatchObject({
    state: 'limitExceeded',
    reason: 'turns',
    text: 'I must stop here.',
  })
  expect(model.requests[1]).toMatchObject({ tool_choice: 'none' })
  expect(ran).toEqual([])
})

test('the same call with the same result three times is no progress', async () => {
  const answers = [1, 2, 3, 4].map((turn) => callsAnswer(turn, [ADD]))
  const { run: live, ran } = start(answers)
  expect(await live.result).toMatchObject({ state: 'limitExceeded', reason: 'no_progress' })
  expect(ran).toHaveLength(3)
})

test('a call that needs approval waits, and a denial is told to the model', async () => {
  const { add, ran } = addTool({ needsApproval: true })
  const model = scriptedModel([callsAnswer(1, [ADD, ADD]), textAnswer(2, 'fine')])
  const live = run(agent({ model, tools: [add] }), 'go')
  for await (const frame of live) if (frame.type === 'approval_requested') break
  expect(live.state).toBe('working.executing.awaitingApproval')
  expect(live.explain().waitsFor.join(' ')).toContain('call_1_0')
  expect(await live.approve('nobody')).toMatchObject({ answer: 'refused' })
  expect(await live.deny('call_1_1', 'not twice')).toEqual({ answer: 'accepted', reason: null })
  expect(await live.approve('call_1_0')).toEqual({ answer: 'accepted', reason: null })
  const result = await live.result
  expect(result.calls.map(({ callId, outcome }) => [callId, outcome])).toEqual([
    ['call_1_1', 'denied'],
    ['call_1_0', 'ok'],
  ])
  expect(ran).toHaveLength(1)
  const input = model.requests[1]?.['input'] as readonly { call_id: string; output: string }[]
  expect(input.map(({ call_id: callId }) => callId)).toEqual(['call_1_0', 'call_1_1'])
  expect(input[1]?.output).toContain('not twice')
})

test('a steer is queued and goes with the next request, after the outputs', async () => {
  const steered = Promise.withResolvers<undefined>()
  const { add } = addTool({ execute: () => steered.promise.then(() => 5) })
  const model = scriptedModel([callsAnswer(1, [ADD]), textAnswer(2, 'ok')])
  const live = run(agent({ model, tools: [add] }), 'go')
  for await (const frame of live) if (frame.type === 'tool_started') break
  expect(await live.steer('in French, please')).toMatchObject({ answer: 'queued' })
  steered.resolve(undefined)
  expect(await live.result).toMatchObject({ state: 'done', turns: 2 })
  expect(model.requests[1]?.['input']).toMatchObject([
    { type: 'function_call_output' },
    { role: 'user', content: [{ text: 'in French, please' }] },
  ])
})

test('a steer in the last moment gives the model another turn', async () => {
  let live: Run | null = null
  const model = scriptedModel([
    async (request) => {
      await live?.steer('and in words')
      request.onHead({ status: 200, requestId: null, contentType: 'text/event-stream' })
      request.onChunk(Buffer.from(textAnswer(1, '5')))
      return null
    },
    textAnswer(2, 'five'),
  ])
  live = run(agent({ model }), 'go')
  expect(await live.result).toMatchObject({ state: 'done', text: 'five', turns: 2 })
})

test('a cancelled run never calls another tool and ends cancelled', async () => {
  const running = Promise.withResolvers<undefined>()
  const { add, ran } = addTool({
    execute: (_args, { signal }) =>
      new Promise((resolve) => {
        running.resolve(undefined)
        signal.addEventListener('abort', () => resolve('stopped'))
      }),
  })
  const model = scriptedModel([callsAnswer(1, [ADD, ADD])])
  const live = run(agent({ model, tools: [add] }), 'go')
  await running.promise
  expect(await live.cancel()).toEqual({ answer: 'accepted', reason: null })
  const result = await live.result
  expect(result).toMatchObject({ state: 'cancelled', unansweredCalls: ['call_1_0', 'call_1_1'] })
  expect(ran).toEqual([])
  expect(await live.cancel()).toMatchObject({ answer: 'refused' })
})

test('an abort signal cancels the run', async () => {
  const controller = new AbortController()
  const model = scriptedModel([
    (request) => new Promise((resolve) => request.signal.addEventListener('abort', () => resolve(null))),
  ])
  const live = run(agent({ model }), 'go', { signal: controller.signal })
  controller.abort()
  expect(await live.result).toMatchObject({ state: 'cancelled' })
})

test('two runs of one script give the same log, letter for letter', async () => {
  const logs = await Promise.all(
    [1, 2].map(async () => {
      const { add } = addTool()
      const model = scriptedModel([callsAnswer(1, [ADD]), textAnswer(2, 'It is 5.')])
      const clock = { now: () => 5, setTimer: () => () => undefined }
      const live = run(agent({ model, tools: [add], clock }), 'go', { runId: 'run_1' })
      return (await allFrames(live)).map(formatFrame)
    }),
  )
  expect(logs[0]).toEqual(logs[1])
})

test('a cancel that comes before a call starts keeps it from starting', async () => {
  const { add, ran } = addTool({ needsApproval: true })
  const live = run(agent({ model: scriptedModel([callsAnswer(1, [ADD])]), tools: [add] }), 'go')
  for await (const frame of live) if (frame.type === 'approval_requested') break
  const answers = await Promise.all([live.approve('call_1_0'), live.cancel()])
  expect(answers.map(({ answer }) => answer)).toEqual(['accepted', 'accepted'])
  expect(await live.result).toMatchObject({ state: 'cancelled' })
  expect(ran).toEqual([])
})

test('the cause of an effect that breaks its contract is in the log', async () => {
  const model = scriptedModel([() => Promise.reject(new Error('socket hang up'))])
  const live = run(agent({ model }), 'go')
  expect(await live.result).toMatchObject({ state: 'failed', reason: 'internal_error' })
  const settled = (await allFrames(live)).find((frame) => frame.type === 'effect_settled')
  expect(settled).toMatchObject({
    id: 'respond',
    error: { code: 'internal_error', message: 'Error: socket hang up' },
  })
})

test.for([
  ['no model', {}, /model must be/u],
  [
    'an unknown continuity',
    { continuity: 'foo' },
    /continuity must be previous_response_id or stateless or auto/u,
  ],
  ['an unknown way to run tools', { toolExecution: 'both' }, /toolExecution/u],
  ['a retry that is no number', { retry: { times: Number.NaN } }, /times must be a whole number/u],
  ['a limit that is no number', { streamLimits: { eventsMax: 'many' } }, /eventsMax must be a whole number/u],
  ['a profile by name', { profile: 'strict' }, /profile must be/u],
  ['no turns', { limits: { turns: 0 } }, /limits.turns must be at least 1/u],
] as const)('an agent with %s is refused at once', ([what, options, message]) => {
  const model = what === 'no model' ? {} : { model: scriptedModel([]) }
  expect(() => agent({ ...model, ...options } as unknown as AgentOptions)).toThrow(message)
})

test('an option that is undefined does not hide its default', async () => {
  const broken = textAnswer(1, 'x').slice(0, 300)
  const model = scriptedModel([broken, textAnswer(1, 'again')])
  const retry = { times: undefined, waitMs: 0 } as unknown as { times: number }
  expect(await run(agent({ model, retry }), 'go').result).toMatchObject({ state: 'done', text: 'again' })
})

test('a run needs a name that can be written, and a steer a text', async () => {
  const idle = agent({ model: scriptedModel([textAnswer(1, 'x')]) })
  expect(() => run(idle, 'go', { runId: '' })).toThrow(/runId/u)
  const live = run(idle, 'go')
  expect(() => live.steer(5 as unknown as string)).toThrow(/steer needs a text/u)
  await live.result
})
