import { expect, test } from 'vitest'
import { createActor, setup, toPromise, type InspectionEvent } from 'xstate'

import { loopMachine } from '../../machines/loop.machine.ts'
import type { LoopOutput } from '../../machines/loop.types.ts'
import { agent, type AgentOptions } from '../../src/agent.ts'
import { statePath } from '../model/state-path.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import type { Agent } from '../../src/loop/agent.ts'
import type { ModelRequest, SendFault } from '../../src/loop/model.ts'
import { loopInput } from '../../src/loop/loop-input.ts'
import { provideLoop } from '../../src/loop/provide-loop.ts'
import { run } from '../../src/loop/run.ts'
import { tool, type Tool } from '../../src/tools/tool.ts'
import { ManualClock } from '../manual-clock.ts'
import { callsAnswer, scriptedModel, textAnswer } from '../scripted-model.ts'

const ADD = ['add', '{"a":2,"b":3}'] as const

function addTool(execute?: (signal: AbortSignal) => unknown): Tool {
  const number = { type: 'number' }
  return tool({
    name: 'add',
    description: 'Add two numbers and return the sum.',
    inputSchema: { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] },
    execute: ({ a, b }, { signal, onOutput }) => {
      onOutput('stdout', 'adding')
      return execute === undefined ? Number(a) + Number(b) : execute(signal)
    },
  })
}

/** An actor of the loop that is not started yet, with every state that a subscriber of it sees. */
function actorOf(
  options: Agent | AgentOptions,
  { onFrame }: { onFrame?: (frame: Frame) => void } = {},
): { actor: ReturnType<typeof createActor<typeof loopMachine>>; seen: string[] } {
  const made = 'settings' in options ? options : agent(options)
  const machine = provideLoop(made, { runId: 'run_1', ...(onFrame && { onFrame }) })
  const actor = createActor(machine, { input: loopInput(made, 'what is 2+3?') })
  const seen: string[] = []
  actor.subscribe((snapshot) => {
    const path = statePath(snapshot)
    if (path !== seen.at(-1)) seen.push(path)
  })
  return { actor, seen }
}

/** A request that ends only when it is aborted. */
function hanging(opened: (request: ModelRequest) => void): (request: ModelRequest) => Promise<null> {
  return (request) =>
    new Promise((resolve) => {
      request.signal.addEventListener('abort', () => resolve(null))
      opened(request)
    })
}

test('an actor goes from the input over a real tool to done, through the states of the chart', async () => {
  const model = scriptedModel([callsAnswer(1, [ADD]), textAnswer(2, 'It is 5.')])
  const { actor, seen } = actorOf({ model, tools: [addTool()] })
  const output = await toPromise(actor.start())
  expect(output).toMatchObject({ state: 'done', reason: 'completed', text: 'It is 5.', turns: 2 })
  expect(seen).toEqual([
    'working.responding.requesting',
    'working.responding.streaming',
    'working.executing.running',
    'working.responding.requesting',
    'working.responding.streaming',
    'done',
  ])
  expect(model.requests[1]).toMatchObject({
    previous_response_id: 'resp_1',
    input: [{ type: 'function_call_output', call_id: 'call_1_0' }],
  })
})

test('an actor and run() come to the same output', async () => {
  const output = await toPromise(actorOf(twoTurns()).actor.start())
  const { status, calls, ...result } = await run(agent(twoTurns()), 'what is 2+3?').result
  expect([status, calls.length]).toEqual(['ended', 1])
  expect(output).toEqual(result)
})

function twoTurns(): AgentOptions {
  return { model: scriptedModel([callsAnswer(1, [ADD]), textAnswer(2, 'It is 5.')]), tools: [addTool()] }
}

test('a subscriber sees streaming with the first event, while the response is still being read', async () => {
  const opened = Promise.withResolvers<ModelRequest>()
  const model = scriptedModel([hanging(opened.resolve)])
  const { actor, seen } = actorOf({ model })
  actor.start()
  const request = await opened.promise
  request.onHead({ status: 200, requestId: null, contentType: 'text/event-stream' })
  expect(seen).toEqual(['working.responding.requesting'])
  const [first = ''] = textAnswer(1, '5').split('\n\n')
  request.onChunk(Buffer.from(`${first}\n\n`))
  expect(seen).toEqual(['working.responding.requesting', 'working.responding.streaming'])
  actor.stop()
})

test('a cancel aborts the request that is out', async () => {
  const opened = Promise.withResolvers<ModelRequest>()
  const { actor } = actorOf({ model: scriptedModel([hanging(opened.resolve)]) })
  actor.start()
  const { signal } = await opened.promise
  expect(signal.aborted).toBe(false)
  actor.send({ type: 'run.cancel' })
  expect(signal.aborted).toBe(true)
  expect(await toPromise(actor)).toMatchObject({ state: 'cancelled', reason: 'cancelled' })
})

test('stopping the actor aborts the request that is out', async () => {
  const opened = Promise.withResolvers<ModelRequest>()
  const { actor } = actorOf({ model: scriptedModel([hanging(opened.resolve)]) })
  actor.start()
  const { signal } = await opened.promise
  actor.stop()
  expect(signal.aborted).toBe(true)
})

test('a cancel aborts the tool that runs, and what it still answers is heard', async () => {
  const running = Promise.withResolvers<AbortSignal>()
  const add = addTool((signal) => {
    running.resolve(signal)
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve('half a sum')))
  })
  const { actor, seen } = actorOf({ model: scriptedModel([callsAnswer(1, [ADD, ADD])]), tools: [add] })
  const told: unknown[] = []
  actor.on('call_settled', ({ callId, answer }) => told.push([callId, answer.outcome, answer.output]))
  actor.start()
  const signal = await running.promise
  actor.send({ type: 'run.cancel' })
  expect(await toPromise(actor)).toMatchObject({
    state: 'cancelled',
    unansweredCalls: ['call_1_0', 'call_1_1'],
  })
  expect(signal.aborted).toBe(true)
  expect(seen.slice(-2)).toEqual(['stopping', 'cancelled'])
  expect(told).toEqual([['call_1_0', 'ok', expect.stringContaining('half a sum')]])
})

test('a tool that ignores the cancel is waited for two seconds and no longer', async () => {
  const clock = new ManualClock()
  const running = Promise.withResolvers<AbortSignal>()
  const add = addTool((signal) => {
    running.resolve(signal)
    return new Promise(() => undefined)
  })
  const { actor } = actorOf({ model: scriptedModel([callsAnswer(1, [ADD])]), tools: [add], clock })
  actor.start()
  await running.promise
  actor.send({ type: 'run.cancel' })
  clock.advance(1999)
  expect(actor.getSnapshot().status).toBe('active')
  clock.advance(1)
  expect(await toPromise(actor)).toMatchObject({ state: 'cancelled' })
})

test.for<[string, (made: Agent) => Agent]>([
  [
    'a model that rejects',
    (made) => ({
      ...made,
      models: made.models.map((model) => ({ ...model, send: () => Promise.reject(new Error('a bug')) })),
    }),
  ],
  [
    'a request that cannot be built',
    (made) => ({
      ...made,
      buildRequest: () => {
        throw new Error('a bug')
      },
    }),
  ],
  [
    'tools that reject',
    (made) => ({ ...made, tools: { ...made.tools, run: () => Promise.reject(new Error('a bug')) } }),
  ],
])('%s is a bug, and the run ends failed with internal_error', async ([, breakIt]) => {
  const made = agent({ model: scriptedModel([callsAnswer(1, [ADD])]), tools: [addTool()] })
  const { actor, seen } = actorOf(breakIt(made))
  expect(await toPromise(actor.start())).toMatchObject({ state: 'failed', reason: 'internal_error' })
  expect(seen.slice(-2)).toEqual(['stopping', 'failed'])
})

test('calls that do not conflict run side by side, and their outputs go back in output order', async () => {
  const started: unknown[] = []
  const both = Promise.withResolvers<undefined>()
  const look = tool({
    name: 'look',
    description: 'Look something up by its name.',
    inputSchema: { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] },
    readOnly: true,
    execute: async ({ at }) => {
      started.push(at)
      if (started.length === 2) both.resolve(undefined)
      await both.promise
      // The first to start is the last to end.
      if (at === 'a') for (let tick = 0; tick < 20; tick += 1) await Promise.resolve()
      return at
    },
  })
  const calls = [
    ['look', '{"at":"a"}'],
    ['look', '{"at":"b"}'],
  ] as const
  const model = scriptedModel([callsAnswer(1, calls), textAnswer(2, 'seen')])
  const { actor } = actorOf({ model, tools: [look], toolExecution: 'parallel' })
  const batches: unknown[] = []
  actor.on('batch_planned', ({ slots }) => batches.push(slots))
  expect(await toPromise(actor.start())).toMatchObject({ state: 'done', text: 'seen' })
  expect(batches).toEqual([[0, 1]])
  expect(model.requests[1]?.['input']).toMatchObject([
    { call_id: 'call_1_0', output: expect.stringContaining('"stdout":"a"') },
    { call_id: 'call_1_1', output: expect.stringContaining('"stdout":"b"') },
  ])
})

test('what the provider sends and the tools print is reported as frames of the run, in order', async () => {
  const frames: Frame[] = []
  const model = scriptedModel([callsAnswer(1, [ADD]), textAnswer(2, 'It is 5.')])
  const { actor } = actorOf({ model, tools: [addTool()] }, { onFrame: (frame) => frames.push(frame) })
  await toPromise(actor.start())
  expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, at) => at))
  expect(new Set(frames.map((frame) => frame.run_id))).toEqual(new Set(['run_1']))
  const texts = frames.flatMap((frame) => (frame.type === 'output_text_delta' ? [frame.delta] : []))
  expect(texts.join('')).toBe('It is 5.')
  const printed = frames.flatMap((frame) => (frame.type === 'tool_stdout' ? [frame.chunk] : []))
  expect(printed).toEqual(['adding'])
})

test('a response that goes on after a cancel is not reported any more', async () => {
  const opened = Promise.withResolvers<ModelRequest>()
  const frames: Frame[] = []
  const model = scriptedModel([hanging(opened.resolve)])
  const { actor, seen } = actorOf({ model }, { onFrame: (frame) => frames.push(frame) })
  actor.start()
  const request = await opened.promise
  actor.send({ type: 'run.cancel' })
  request.onChunk(Buffer.from(textAnswer(1, 'too late')))
  await toPromise(actor)
  expect(frames).toEqual([])
  expect(seen).not.toContain('working.responding.streaming')
})

test('a request that failed is sent again when its wait is over', async () => {
  const clock = new ManualClock()
  const busy: SendFault = {
    code: 'provider_unavailable',
    message: 'busy',
    provider: null,
    isRetryable: true,
    retryAt: clock.now() + 5000,
  }
  const { actor, seen } = actorOf({ model: scriptedModel([busy, textAnswer(1, 'here')]), clock })
  const waiting = Promise.withResolvers<number>()
  actor.on('retry_scheduled', ({ retryAt }) => waiting.resolve(retryAt))
  actor.start()
  clock.advance((await waiting.promise) - clock.now())
  expect(await toPromise(actor)).toMatchObject({ state: 'done', text: 'here' })
  expect(seen).toContain('working.backingOff')
})

test('wall time ends the run, and a run that ended leaves no timer behind', async () => {
  const clock = new ManualClock()
  const opened = Promise.withResolvers<ModelRequest>()
  const model = scriptedModel([hanging(opened.resolve), textAnswer(1, '5')])
  const limited = agent({ model, clock, limits: { ms: 60_000 } })
  const { actor } = actorOf(limited)
  actor.start()
  const { signal } = await opened.promise
  expect(clock.armed).toEqual([clock.now() + 60_000])
  clock.advance(60_000)
  expect(await toPromise(actor)).toMatchObject({ state: 'limitExceeded', reason: 'wall_time' })
  expect(signal.aborted).toBe(true)
  expect(await toPromise(actorOf(limited).actor.start())).toMatchObject({ state: 'done' })
  expect(clock.armed).toEqual([])
})

test('the loop is a child like any other: its output is the output of the invoke', async () => {
  const made = agent({
    model: scriptedModel([callsAnswer(1, [ADD]), textAnswer(2, 'It is 5.')]),
    tools: [addTool()],
  })
  const parent = setup({
    types: { output: {} as LoopOutput },
    actors: { askAgent: loopMachine },
  }).createMachine({
    initial: 'asking',
    output: ({ event }) => event['output'] as LoopOutput,
    states: {
      asking: {
        invoke: {
          id: 'agent',
          src: 'askAgent',
          input: () => loopInput(made, 'what is 2+3?'),
          onDone: 'answered',
        },
      },
      answered: { type: 'final', output: ({ event }) => event.output },
    },
  })
  const provided = parent.provide({ actors: { askAgent: provideLoop(made, { runId: 'run_1' }) } })
  const events: InspectionEvent[] = []
  const actor = createActor(provided, { inspect: (event) => events.push(event) })
  expect(await toPromise(actor.start())).toMatchObject({ state: 'done', text: 'It is 5.' })
  const states = events.flatMap((event) => {
    if (event.type !== '@xstate.snapshot' || !('id' in event.actorRef) || event.actorRef.id !== 'agent')
      return []
    return 'value' in event.snapshot ? [statePath(event.snapshot)] : []
  })
  expect(states).toContain('working.responding.streaming')
  expect(states.at(-1)).toBe('done')
})

test('a parent that leaves the state of its child stops the loop and what it has out', async () => {
  const opened = Promise.withResolvers<ModelRequest>()
  const made = agent({ model: scriptedModel([hanging(opened.resolve)]) })
  const parent = setup({ actors: { askAgent: loopMachine } }).createMachine({
    initial: 'asking',
    states: {
      asking: {
        invoke: { src: 'askAgent', input: () => loopInput(made, 'hello') },
        on: { 'order.withdraw': 'withdrawn' },
      },
      withdrawn: { type: 'final' },
    },
  })
  const actor = createActor(
    parent.provide({ actors: { askAgent: provideLoop(made, { runId: 'run_1' }) } }),
  ).start()
  const { signal } = await opened.promise
  actor.send({ type: 'order.withdraw' })
  expect(signal.aborted).toBe(true)
})

test('an input that cannot be sent is refused at the door', () => {
  const made = agent({ model: scriptedModel([]) })
  expect(() => loopInput(made, '')).toThrow(expect.objectContaining({ code: 'usage' }))
})
