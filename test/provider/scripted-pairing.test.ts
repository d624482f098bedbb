import { expect, test } from 'vitest'

import { agent, type AgentOptions } from '../../src/agent.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import type { Agent } from '../../src/loop/agent.ts'
import { isDecision } from '../../src/loop/decisions.ts'
import { run, type Run, type RunResult } from '../../src/loop/run.ts'
import { openResponses } from '../../src/provider/open-responses.ts'
import type { ScriptTurn } from '../../src/provider/scripted/script.ts'
import type { ScriptedProvider } from '../../src/provider/scripted/start-scripted-provider.ts'
import { forkRun } from '../../src/replay-run.ts'
import { MemoryStore } from '../replay/memory-store.ts'
import { untilFrame, watchedTool } from '../scripted-model.ts'
import { ADD, FIVE, HELLO, post, postJson, provide, textOf } from './scripted-kit.ts'

const USER = { type: 'message', role: 'user', content: 'add' }
const SAID = { type: 'message', role: 'assistant', content: 'Well.' }
const CALL = { type: 'function_call', call_id: 'call_y', name: 'add', arguments: '{}' }
const OUTPUT = { type: 'function_call_output', call_id: 'call_y', output: '5' }
const OTHER = { ...CALL, call_id: 'call_z' }
const OTHER_OUTPUT = { ...OUTPUT, call_id: 'call_z' }
const THOUGHT = { type: 'reasoning', id: 'rs_own', summary: [], encrypted_content: 'b3BhcXVl' }
const ANSWER = { ...OUTPUT, call_id: 'call_x' }

const NO_OUTPUT = 'No tool output found for function call call_y.'
const NO_CALL = 'No tool call found for function call output with call_id call_y.'
const TWO_CALLS = 'More than one function call came with call_id call_y.'
const TWO_OUTPUTS = 'More than one output came for function call call_y.'
const NO_FOLLOWER = "Reasoning item 'rs_own' came without the item that has to follow it."

async function errorFor(provider: ScriptedProvider, body: object): Promise<unknown> {
  const answer = await post(provider, body)
  return { status: answer.status, ...((await answer.json()) as object) }
}

function refused(message: string): object {
  return { status: 400, error: { message, type: 'invalid_request_error', param: 'input', code: null } }
}

test.for<readonly [string, readonly object[], string]>([
  ['a call without its output', [USER, CALL], NO_OUTPUT],
  ['a call without its output, and another with', [CALL, OTHER, OTHER_OUTPUT], NO_OUTPUT],
  ['an output after the model has spoken again', [CALL, USER, SAID, OUTPUT], NO_OUTPUT],
  ['an output after other calls were made', [CALL, OTHER, OTHER_OUTPUT, SAID, OUTPUT], NO_OUTPUT],
  ['an output without its call', [USER, OUTPUT], NO_CALL],
  ['an output before its call', [OUTPUT, CALL], NO_CALL],
  ['two outputs for one call', [CALL, OUTPUT, OUTPUT], TWO_OUTPUTS],
  ['two calls with one id', [CALL, CALL, OUTPUT], TWO_CALLS],
  ['two calls with one id and an output each', [CALL, OUTPUT, CALL, OUTPUT], TWO_CALLS],
  ['reasoning at the end', [USER, THOUGHT], NO_FOLLOWER],
  ['reasoning before words of the user', [THOUGHT, USER], NO_FOLLOWER],
  ['reasoning behind the call that it led to', [CALL, THOUGHT, OUTPUT], NO_FOLLOWER],
])('a conversation with %s is refused', async ([, input, message]) => {
  const provider = await provide([HELLO])
  expect(await errorFor(provider, { input })).toEqual(refused(message))
})

test.for<readonly [string, readonly object[]]>([
  ['words between a call and its output', [CALL, SAID, USER, OUTPUT]],
  ['outputs in another order than the calls', [CALL, OTHER, OTHER_OUTPUT, OUTPUT]],
  ['each output directly behind its call', [CALL, OUTPUT, OTHER, OTHER_OUTPUT]],
  ['reasoning in several items before a call', [THOUGHT, { ...THOUGHT, id: 'rs_2' }, CALL, OUTPUT]],
  ['reasoning before words of the model', [THOUGHT, SAID, USER]],
])('a conversation with %s goes on', async ([, input]) => {
  expect(textOf(await postJson(await provide([HELLO]), { input }))).toBe('Hello there.')
})

test('a chain needs the outputs of the last response, once each, and nothing that is in it already', async () => {
  const provider = await provide([ADD, FIVE, HELLO])
  const first = await postJson(provider, { input: 'add' })
  const previous_response_id = first['id']
  const [, , call] = first['output'] as object[]
  const noOutput = refused('No tool output found for function call call_x.')
  const twoOutputs = refused('More than one output came for function call call_x.')
  for (const [input, error] of [
    [[USER], noOutput],
    [[SAID, ANSWER], noOutput],
    [[ANSWER, ANSWER], twoOutputs],
    [[call, ANSWER], refused('More than one function call came with call_id call_x.')],
    [[ANSWER, OUTPUT], refused(NO_CALL)],
  ] as const) {
    expect(await errorFor(provider, { input, previous_response_id })).toEqual(error)
  }
  const second = await postJson(provider, { input: [USER, ANSWER], previous_response_id })
  expect(textOf(second)).toBe('It is 5.')
  const again = { input: [ANSWER], previous_response_id: second['id'] }
  expect(await errorFor(provider, again)).toEqual(twoOutputs)
})

test('an id that the script itself uses again is not held against a client that continues by id', async () => {
  const call = { type: 'function_call', name: 'add', call_id: 'call_x' } as const
  const provider = await provide([{ output: [call, call] }, { output: [call] }, FIVE])
  const first = await postJson(provider, { input: 'add' })
  const second = await postJson(provider, { input: [ANSWER], previous_response_id: first['id'] })
  const unanswered = { input: 'and?', previous_response_id: second['id'] }
  expect((await post(provider, unanswered)).status).toBe(400)
  const third = await postJson(provider, { input: [ANSWER], previous_response_id: second['id'] })
  expect(textOf(third)).toBe('It is 5.')
})

test('items that came from here are told apart by their response, wherever they stand', async () => {
  const two = [
    { type: 'function_call', name: 'add', call_id: 'call_y' },
    { type: 'function_call', name: 'add', call_id: 'call_z' },
  ] as const
  const provider = await provide([{ output: two }, HELLO, FIVE])
  const first = (await postJson(provider, { input: 'add' }))['output'] as object[]
  const [call, other] = first
  const whole = [USER, call, OUTPUT, other, OTHER_OUTPUT]
  const second = (await postJson(provider, { input: whole }))['output'] as object[]
  const wrong = [USER, call, other, ...second, OUTPUT, OTHER_OUTPUT]
  expect(await errorFor(provider, { input: wrong })).toEqual(refused(NO_OUTPUT))
  const right = [USER, call, other, OUTPUT, OTHER_OUTPUT, ...second, USER]
  expect((await post(provider, { input: right })).status).toBe(200)
})

test('reasoning that came from here needs the item that it led to, and no other', async () => {
  const provider = await provide([ADD, FIVE, HELLO])
  const [thought, said, call] = (await postJson(provider, { input: 'add' }))['output'] as { id: string }[]
  const error = refused(`Reasoning item '${thought?.id}' came without the item that has to follow it.`)
  const whole = [USER, thought, said, call, ANSWER]
  const [five] = (await postJson(provider, { input: whole }))['output'] as object[]
  for (const input of [
    [USER, thought, call, ANSWER],
    [USER, said, call, ANSWER, thought, five],
    [USER, thought, { ...SAID, id: 'msg_own' }, call, ANSWER],
    [USER, said, thought, call, ANSWER],
  ]) {
    expect(await errorFor(provider, { input })).toEqual(error)
  }
  const named = [thought, said].map((item) => ({ type: 'item_reference', id: item?.id }))
  const { id: _, ...withoutId } = said ?? { id: '' }
  for (const input of [whole, [...named, call, ANSWER], [thought, withoutId, call, ANSWER]]) {
    expect((await post(provider, { input })).status).toBe(200)
  }
})

test('reasoning that led to a call is not followed by words instead', async () => {
  const call = { type: 'function_call', name: 'add', call_id: 'call_x' } as const
  const provider = await provide([{ output: [{ type: 'reasoning' }, call] }, FIVE])
  const [thought, made] = (await postJson(provider, { input: 'add' }))['output'] as object[]
  expect((await post(provider, { input: [USER, thought, SAID, made, ANSWER] })).status).toBe(400)
  const { id: _, ...withoutId } = made as { id: string }
  expect((await post(provider, { input: [USER, thought, withoutId, ANSWER] })).status).toBe(200)
})

test('reasoning that led to nothing cannot be sent back, and a chain goes on after it', async () => {
  const cut: ScriptTurn = { output: [{ type: 'reasoning', summary: 'Hm.' }], end: { status: 'incomplete' } }
  const provider = await provide([cut, HELLO])
  const { id, output } = await postJson(provider, { input: 'add' })
  const [thought] = output as { id: string }[]
  expect(await errorFor(provider, { input: [USER, thought, SAID] })).toEqual(
    refused(`Reasoning item '${thought?.id}' came without the item that has to follow it.`),
  )
  expect(textOf(await postJson(provider, { input: 'go on', previous_response_id: id }))).toBe('Hello there.')
})

const THINK = { type: 'reasoning', summary: 'Hm.', encrypted: 'b3BhcXVl' } as const
const PARALLEL: ScriptTurn = {
  output: [
    THINK,
    { type: 'message', text: 'Let me see.', phase: 'commentary' },
    { type: 'function_call', name: 'look' },
    { type: 'function_call', name: 'pay' },
    THINK,
    { type: 'function_call', name: 'fail' },
    { type: 'function_call', name: 'nobody' },
    { type: 'function_call', name: 'look', arguments: '{"half": ' },
  ],
}
const ONE_MORE: ScriptTurn = { output: [THINK, THINK, { type: 'function_call', name: 'look' }] }
const DONE: ScriptTurn = { output: [THINK, { type: 'message', text: 'done' }] }

interface World {
  readonly provider: ScriptedProvider
  readonly agent: Agent
  /** What was answered to each request. */
  readonly statuses: readonly number[]
  /** From now on `look` comes back only when its call is let go of. */
  block(): void
  unblock(): void
}

async function world(turns: readonly ScriptTurn[], options: Partial<AgentOptions>): Promise<World> {
  const provider = await provide(turns)
  const statuses: number[] = []
  let isBlocked = false
  const model = openResponses({
    model: 'any-model',
    baseUrl: provider.url,
    apiKey: 'none',
    fetch: async (input, init) => {
      const answer = await fetch(input, init)
      statuses.push(answer.status)
      return answer
    },
  })
  const look = watchedTool('look', (_, { signal }) => (isBlocked ? aborted(signal) : 'seen'), {
    readOnly: true,
  })
  const pay = watchedTool('pay', () => 'paid', { needsApproval: true })
  const fail = watchedTool('fail', () => Promise.reject(new Error('it broke')))
  const tools = [look.tool, pay.tool, fail.tool]
  return {
    provider,
    statuses,
    agent: agent({
      model,
      tools,
      toolExecution: 'parallel',
      retry: { waitMs: 1 },
      limits: { noProgress: 9 },
      ...options,
    }),
    block: () => void (isBlocked = true),
    unblock: () => void (isBlocked = false),
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('let go of')), { once: true })
  })
}

/** Follows a run to its end and says no to what it asks. */
async function follow(live: Run): Promise<{ readonly frames: readonly Frame[]; readonly result: RunResult }> {
  const frames: Frame[] = []
  for await (const frame of live) {
    frames.push(frame)
    if (frame.type === 'approval_requested') void live.deny(frame.call_id, 'too dear')
  }
  return { frames, result: await live.result }
}

const MODES = [
  ['by id', { continuity: 'previous_response_id' }],
  ['stateless', { continuity: 'stateless' }],
  ['stateless with nothing stored', { request: { store: false, encryptedReasoning: true } }],
] as const satisfies readonly (readonly [string, Partial<AgentOptions>])[]

test.for(MODES)(
  'a loop, %s, with calls that run, fail, are denied and are wrong, is never refused',
  async ([, mode]) => {
    const lost: ScriptTurn = { fault: { type: 'truncate', at_byte: 200 } }
    const there = await world([PARALLEL, lost, ONE_MORE, PARALLEL, DONE], mode)
    const { result } = await follow(run(there.agent, 'go'))
    expect(result).toMatchObject({ state: 'done', text: 'done', turns: 4 })
    const each = ['bad_arguments', 'denied', 'error', 'ok', 'unknown_tool']
    const outcomes = result.calls.map(({ outcome }) => outcome)
    expect(outcomes.toSorted()).toEqual([...each, ...each, 'ok'].toSorted())
    expect(there.statuses).toEqual([200, 200, 200, 200, 200])
  },
)

test.for(MODES)('a loop, %s, that is let go of in a call and resumed, is never refused', async ([, mode]) => {
  const there = await world([ONE_MORE, PARALLEL, ONE_MORE, DONE], mode)
  there.block()
  const live = run(there.agent, 'go', { runId: 'run_1' })
  const frames: Frame[] = []
  for await (const frame of live) {
    frames.push(frame)
    if (frame.type === 'tool_started') void live.suspend()
  }
  expect(await live.result).toMatchObject({ status: 'suspended' })
  there.unblock()
  const { result } = await follow(run(there.agent, { resume: 'run_1' }, { store: new MemoryStore(frames) }))
  expect(result).toMatchObject({ state: 'done', text: 'done', turns: 4 })
  expect(there.statuses).toEqual([200, 200, 200, 200])
})

test.for(MODES)(
  'a loop, %s, that is cancelled in a call and taken up before that, is never refused',
  async ([, mode]) => {
    const there = await world([PARALLEL, ONE_MORE, DONE], mode)
    there.block()
    const live = run(there.agent, 'go', { runId: 'run_1' })
    const started = untilFrame(live, ({ type }) => type === 'tool_started')
    void started.then(() => live.cancel('enough'))
    const { frames, result } = await follow(live)
    expect(result).toMatchObject({ state: 'cancelled' })
    there.unblock()
    const at = frames.findIndex((frame) => isDecision(frame) && JSON.stringify(frame).includes('run.cancel'))
    const fork = forkRun(frames, { at })
    const again = run(there.agent, { resume: fork.runId }, { store: new MemoryStore(fork.frames) })
    expect((await follow(again)).result).toMatchObject({ state: 'done', text: 'done', turns: 3 })
    expect(there.statuses).toEqual([200, 200, 200])
  },
)
