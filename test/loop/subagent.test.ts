import { expect, test } from 'vitest'

import { agent } from '../../src/agent.ts'
import type { Agent } from '../../src/loop/agent.ts'
import { run } from '../../src/loop/run.ts'
import { replay } from '../../src/replay-run.ts'
import type { Tool } from '../../src/tools/tool.ts'
import {
  callsAnswer,
  framesOf,
  refusalAnswer,
  scriptedModel,
  textAnswer,
  toldOutputs,
  untilFrame,
  watchedTool,
} from '../scripted-model.ts'
import { ASK, asking, framesUntilEnd, hasFrame, makeStore, pair, until } from './subagent-kit.ts'

test('a call of an agent is a run with a log of its own, which the two logs name for each other', async () => {
  const store = makeStore()
  const made = pair([textAnswer(1, 'it is 42')], [callsAnswer(1, ASK), textAnswer(2, 'so 42')])
  const live = run(made.agent, 'go', { store, runId: 'outer' })
  const frames = await framesUntilEnd(live)
  expect(await live.result).toMatchObject({ state: 'done', text: 'so 42' })
  expect(framesOf(frames, 'child_started')).toMatchObject([
    { call_id: 'call_1_0', child_run_id: 'outer.1.0' },
  ])
  const inner = [...store.read('outer.1.0')]
  expect(inner[0]).toMatchObject({
    type: 'run_started',
    input: 'find out',
    parent: { run_id: 'outer', call_id: 'call_1_0' },
  })
  expect(inner.at(-1)).toMatchObject({ type: 'run_ended', text: 'it is 42' })
  expect(toldOutputs(made.parent.requests[1])[0]?.text).toContain('it is 42')
  expect(replay(frames)).toMatchObject({ ok: true })
  expect(replay(inner)).toMatchObject({ ok: true })
})

test('an agent that does not finish is an error of the call, and the run that asked it goes on', async () => {
  const store = makeStore()
  const made = pair([refusalAnswer('invalid_request')], [callsAnswer(1, ASK), textAnswer(2, 'a pity')])
  const live = run(made.agent, 'go', { store, runId: 'outer' })
  expect(await live.result).toMatchObject({ state: 'done', calls: [{ outcome: 'error' }] })
  expect(toldOutputs(made.parent.requests[1])[0]?.text).toContain(
    'the agent did not finish, it ended as failed',
  )
})

test('a question of the inner run comes up in the outer one with its path, and the answer finds its way', async () => {
  const store = makeStore()
  const ran: unknown[] = []
  const inner = [callsAnswer(1, [['pay', '{"amount":1}']]), textAnswer(2, 'paid it')]
  const made = pair(inner, [callsAnswer(1, ASK), textAnswer(2, 'done')], { tools: [asking(ran)] })
  const live = run(made.agent, 'go', { store, runId: 'outer' })
  const question = await untilFrame(live, ({ type }) => type === 'approval_requested')
  expect(question).toMatchObject({
    run_id: 'outer',
    call_id: 'call_1_0',
    path: ['call_1_0', 'call_1_0'],
    shown: 'pay {"amount":1}',
  })
  expect(live.state).toBe('working.executing.running')
  expect(live.children.get('call_1_0')?.id).toBe('outer.1.0')
  expect(await live.approve(['call_9_9', 'call_1_0'])).toEqual({
    answer: 'refused',
    reason: 'call call_9_9 has no run at work',
  })
  expect(ran).toEqual([])
  expect(await live.approve(['call_1_0', 'call_1_0'])).toMatchObject({ answer: 'accepted' })
  const frames = await framesUntilEnd(live)
  expect(ran).toEqual([{ amount: 1 }])
  expect(await live.result).toMatchObject({ state: 'done' })
  expect(replay(frames)).toMatchObject({ ok: true })
})

test('a question two runs down has the whole way in its path', async () => {
  const store = makeStore()
  const ran: unknown[] = []
  const innermost = agent({
    model: scriptedModel([callsAnswer(1, [['pay', '{}']]), textAnswer(2, 'a')]),
    tools: [asking(ran)],
  })
  const middle = agent({
    model: scriptedModel([callsAnswer(1, [['deep', '{"input":"x"}']]), textAnswer(2, 'b')]),
    tools: [innermost.asTool({ name: 'deep', description: 'Go deeper.' })],
  })
  const outer = agent({
    model: scriptedModel([callsAnswer(1, ASK), textAnswer(2, 'c')]),
    tools: [middle.asTool({ name: 'research', description: 'Find something out.' })],
  })
  const live = run(outer, 'go', { store, runId: 'outer' })
  const question = await untilFrame(live, ({ type }) => type === 'approval_requested')
  expect(question).toMatchObject({ path: ['call_1_0', 'call_1_0', 'call_1_0'] })
  await live.deny(['call_1_0', 'call_1_0', 'call_1_0'], 'not so deep')
  expect(await live.result).toMatchObject({ state: 'done', text: 'c' })
  expect(ran).toEqual([])
  expect([...store.read('outer.1.0.1.0')].at(-1)).toMatchObject({ type: 'run_ended', text: 'a' })
})

test('a run that is let go of lets go of the run of its call; resumed, both go on and nothing is done twice', async () => {
  const store = makeStore()
  const ran: unknown[] = []
  const first = pair([callsAnswer(1, [['pay', '{}']])], [callsAnswer(1, ASK)], { tools: [asking(ran)] })
  const live = run(first.agent, 'go', { store, runId: 'outer' })
  await untilFrame(live, ({ type }) => type === 'approval_requested')
  expect(await live.suspend()).toBe(true)
  expect([...store.read('outer.1.0')].at(-1)?.type).not.toBe('run_ended')
  const second = pair([textAnswer(2, 'paid it')], [textAnswer(2, 'done')], { tools: [asking(ran)] })
  const resumed = run(second.agent, { resume: 'outer' }, { store })
  const from = [...store.read('outer')].length
  for await (const frame of resumed.frames(from - 1)) {
    if (frame.type !== 'approval_requested') continue
    expect(frame.path).toEqual(['call_1_0', 'call_1_0'])
    void resumed.approve(frame.path)
  }
  expect(await resumed.result).toMatchObject({ state: 'done', text: 'done' })
  expect(ran).toHaveLength(1)
  expect(store.list().map(({ runId, status }) => [runId, status])).toEqual(
    expect.arrayContaining([
      ['outer', 'ended'],
      ['outer.1.0', 'ended'],
    ]),
  )
  expect(replay(store.read('outer'))).toMatchObject({ ok: true })
})

test('a run of a call that had ended when the process died is not run again', async () => {
  const store = makeStore()
  const made = pair([textAnswer(1, 'it is 42')], [callsAnswer(1, ASK), textAnswer(2, 'so 42')])
  await run(made.agent, 'go', { store, runId: 'outer' }).result
  // The log as it was before the outer run heard of the end of the inner one.
  const frames = [...store.read('outer')]
  const cut = frames.slice(
    0,
    frames.findIndex(({ type }) => type === 'tool_ended'),
  )
  const other = makeStore()
  other.importRun(cut.map((frame) => JSON.stringify(frame)))
  other.importRun([...store.read('outer.1.0')].map((frame) => JSON.stringify(frame)))
  const again = pair([], [textAnswer(2, 'so 42')])
  const resumed = run(again.agent, { resume: 'outer' }, { store: other })
  expect(await resumed.result).toMatchObject({ state: 'done', text: 'so 42', calls: [{ outcome: 'ok' }] })
  expect(again.child.requests).toEqual([])
  expect(toldOutputs(again.parent.requests[0])[0]?.text).toContain('it is 42')
})

test('a tool of somebody’s own can run an agent, and what is no agent is refused', async () => {
  const child = agent({ model: scriptedModel([textAnswer(1, 'from inside')]) })
  const own = watchedTool('own', async (args, { runAgent }) => {
    const { text } = await runAgent(args['bad'] === true ? {} : child, 'go')
    return `${text}!`
  }).tool
  const calls = callsAnswer(1, [
    ['own', '{}'],
    ['own', '{"bad":true}'],
  ])
  const model = scriptedModel([calls, textAnswer(2, 'done')])
  const live = run(agent({ model, tools: [own] }), 'go')
  expect((await live.result).calls.map(({ outcome }) => outcome)).toEqual(['ok', 'error'])
  const [good, bad] = toldOutputs(model.requests[1])
  expect(good?.text).toContain('from inside!')
  expect(bad?.text).toContain('that is no agent')
})

function answering(text: string): Agent {
  return agent({ model: scriptedModel([textAnswer(1, text)]) })
}

function both(first: string, second: string): Tool {
  return watchedTool(
    'both',
    async (_, { runAgent }) => {
      const one = await runAgent(answering(first), 'go')
      const two = await runAgent(answering(second), 'go')
      return `${one.runId} ${one.text}, ${two.runId} ${two.text}`
    },
    { idempotent: true },
  ).tool
}

test('two agents that one call runs one after the other have runs of their own, also when the call is run again', async () => {
  const store = makeStore()
  const model = scriptedModel([callsAnswer(1, [['both', '{}']]), textAnswer(2, 'done')])
  await run(agent({ model, tools: [both('A', 'B')] }), 'go', { store, runId: 'outer' }).result
  expect(toldOutputs(model.requests[1])[0]?.text).toContain('outer.1.0 A, outer.1.0-2 B')
  const frames = [...store.read('outer')]
  const other = makeStore()
  const cut = frames.slice(
    0,
    frames.findIndex(({ type }) => type === 'tool_ended'),
  )
  for (const log of [cut, [...store.read('outer.1.0')], [...store.read('outer.1.0-2')]]) {
    other.importRun(log.map((frame) => JSON.stringify(frame)))
  }
  const again = scriptedModel([textAnswer(2, 'done')])
  await run(agent({ model: again, tools: [both('C', 'D')] }), { resume: 'outer' }, { store: other }).result
  expect(toldOutputs(again.requests[0])[0]?.text).toContain('outer.1.0 A, outer.1.0-2 B')
})

test('a run that has the id which the run of a call would have, and is not it, is never taken for it', async () => {
  const store = makeStore()
  const stranger = agent({ model: scriptedModel([textAnswer(1, 'of somebody else')]) })
  await run(stranger, 'find out', { store, runId: 'outer.1.0' }).result
  const made = pair([textAnswer(1, 'mine')], [callsAnswer(1, ASK), textAnswer(2, 'done')])
  const live = run(made.agent, 'go', { store, runId: 'outer' })
  expect(await live.result).toMatchObject({ calls: [{ outcome: 'error' }] })
  expect(toldOutputs(made.parent.requests[1])[0]?.text).toContain('it is not that of this call')
})

function slow(): Tool {
  return watchedTool('slow', () => new Promise(() => undefined)).tool
}

test('a call in doubt further in is shown in the outer log with its path, and can be settled from there', async () => {
  const store = makeStore()
  const first = pair([callsAnswer(1, [['slow', '{}']])], [callsAnswer(1, ASK)], { tools: [slow()] })
  const live = run(first.agent, 'go', { store, runId: 'outer' })
  await until(
    () =>
      store.list().some(({ runId }) => runId === 'outer.1.0') && hasFrame(store, 'outer.1.0', 'tool_started'),
  )
  await live.suspend()
  const second = pair([textAnswer(2, 'x')], [textAnswer(2, 'done')], { tools: [slow()] })
  const resumed = run(second.agent, { resume: 'outer' }, { store })
  const said = await untilFrame(
    resumed,
    ({ type, ...frame }) => type === 'warning' && 'cause' in frame && frame.cause === 'call_in_doubt',
  )
  expect(said).toMatchObject({ figures: { path: ['call_1_0', 'call_1_0'] } })
  expect(resumed.explain().waitsFor).toContain(
    'somebody to say what became of call call_1_0 of slow, in the run of call call_1_0',
  )
  await resumed.suspend()
  const third = pair([textAnswer(2, 'x')], [textAnswer(2, 'done')], { tools: [slow()] })
  const again = run(third.agent, { resume: 'outer' }, { store })
  const from = [...store.read('outer')].length
  for await (const frame of again.frames(from)) {
    if (frame.type !== 'warning') continue
    expect(frame.figures['path']).toEqual(['call_1_0', 'call_1_0'])
    void again.reconcile(['call_1_0', 'call_1_0'], 'done', 'it was slow')
  }
  expect(await again.result).toMatchObject({ state: 'done', text: 'done' })
  expect(replay(store.read('outer'))).toMatchObject({ ok: true })
})

test('after any number of resumes a question two runs down is asked once more each time, and answered ones are not', async () => {
  const store = makeStore()
  const ran: unknown[] = []
  const nested = (inner: readonly string[], middle: readonly string[], outer: readonly string[]) => {
    const innermost = agent({ model: scriptedModel(inner), tools: [asking(ran)] })
    const between = agent({
      model: scriptedModel(middle),
      tools: [innermost.asTool({ name: 'deep', description: 'Go deeper.' })],
    })
    return agent({
      model: scriptedModel(outer),
      tools: [between.asTool({ name: 'research', description: 'Find something out.' })],
    })
  }
  const deep = callsAnswer(1, [['deep', '{"input":"x"}']])
  let live = run(
    nested(
      [callsAnswer(1, [['pay', '{"n":1}']]), callsAnswer(2, [['pay', '{"n":2}']])],
      [deep],
      [callsAnswer(1, ASK)],
    ),
    'go',
    { store, runId: 'outer' },
  )
  await untilFrame(live, ({ type }) => type === 'approval_requested')
  await live.approve(['call_1_0', 'call_1_0', 'call_1_0'])
  await untilFrame(live, (frame) => frame.type === 'approval_requested' && frame.shown.includes('"n":2'))
  await live.suspend()
  for (const times of [2, 3]) {
    live = run(nested([], [], []), { resume: 'outer' }, { store })
    await until(() => questions().length === times + 1)
    await live.suspend()
  }
  expect(questions()).toEqual(['pay {"n":1}', 'pay {"n":2}', 'pay {"n":2}', 'pay {"n":2}'])
  function questions(): readonly string[] {
    return framesOf([...store.read('outer')], 'approval_requested').map(({ shown }) => shown)
  }
})
