import { expect, test, vi } from 'vitest'

import { createCoverage, describeTransition } from '../../src/chart/coverage.ts'
import { loopMachine } from '../../machines/loop.machine.ts'
import { createFold } from '../../src/chart/pure-fold.ts'
import { coverLoop } from '../../src/testing/cover-loop.ts'
import { loopPaths, pathName } from '../../src/testing/loop-paths.ts'
import { runPath } from '../../src/testing/run-path.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { tool } from '../../src/tools/tool.ts'
import { kitAgent } from './kit-agent.ts'

vi.setConfig({ testTimeout: 60_000 })

const ALL = createCoverage(loopMachine).missing()

test('an ordinary agent comes to every state and takes every transition that its settings leave open', async () => {
  const { agent, looked, paid } = kitAgent()
  const report = await coverLoop(agent)
  expect(report.violations).toEqual([])
  expect(report.left).toEqual([])
  for (const part of [report.states, report.transitions, report.guards]) expect(part.missing).toEqual([])
  expect(report.states.unreachable).toEqual([
    { name: 'working.compacting', because: 'there is no compaction' },
  ])
  const { covered, unreachable } = report.transitions
  expect(covered.length + unreachable.length).toBe(ALL.length)
  expect([...covered, ...unreachable.map(({ name }) => name)].sort()).toEqual(
    ALL.map(describeTransition).sort(),
  )
  expect(unreachable.map(({ because }) => because)).toContain('onLimit is stop')
  expect(report.toolCalls).toMatchObject({ look_up: expect.any(Number), pay: expect.any(Number) })
  expect(looked.length).toBeGreaterThan(100)
  expect(paid.length).toBeGreaterThan(50)
})

test('an agent with every setting on leaves only what the settings themselves exclude', async () => {
  const { agent } = kitAgent({
    model: [scriptedModel([]), scriptedModel([])],
    limits: { turns: 3, ms: 60_000, tokens: 5000 },
    onLimit: 'wrap_up',
    onIncomplete: 'continue',
    continuity: 'auto',
    toolExecution: 'parallel',
    retry: { times: 1 },
    compaction: {
      atTokens: 2000,
      compact: async ([first]) => ({ ok: true, items: first ? [first] : [], usage: null }),
    },
    output: {
      name: 'sum',
      schema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
    },
  })
  const report = await coverLoop(agent, { samples: { pay: [{ amount: 5 }] } })
  expect(report.violations).toEqual([])
  expect(report.left).toEqual([])
  for (const part of [report.states, report.transitions, report.guards]) expect(part.missing).toEqual([])
  expect(report.guards.unreachable.map(({ name }) => name).sort()).toEqual([
    'canStartNewChain',
    'isCutShort',
    'isOverLimit',
    'isSpent',
    'isUsedUp',
  ])
})

test.for([
  ['rules', { atTokens: 2000 }],
  ['rules', { atItems: 4 }],
  ['model', { atTokens: 2000 }],
] as const)('a compaction by %s is covered whatever it goes by: %j', async ([way, when]) => {
  const { agent } = kitAgent({ compaction: { way, ...when } })
  const report = await coverLoop(agent)
  expect([report.violations, report.left]).toEqual([[], []])
  expect(report.guards.missing).toEqual([])
  expect(report.guards.covered).toEqual(expect.arrayContaining(['needsCompaction', 'isCompacted']))
})

test('a compaction that no test can wait for is named', async () => {
  const { agent } = kitAgent({ compaction: { atItems: 1001 } })
  const report = await coverLoop(agent)
  expect(report.states.missing).toEqual([])
  expect(report.states.unreachable).toContainEqual({
    name: 'working.compacting',
    because: 'compaction.atItems is too far away',
  })
})

test('a tool that needs a yes runs after one on every path, and never without', async () => {
  const { agent, paid } = kitAgent()
  const watch = createFold(loopMachine)
  const unasked: string[] = []
  for (const path of await loopPaths(agent)) {
    const { frames } = await runPath(agent, path, { answer: 'done', watch, patienceMs: 10_000 })
    const approved = new Set<unknown>()
    for (const frame of frames) {
      if (frame.type === 'command_received' && frame.command['type'] === 'call.approve')
        approved.add(frame.command['callId'])
      if (frame.type === 'tool_started' && frame.name === 'pay' && !approved.has(frame.call_id))
        unasked.push(pathName(path))
    }
  }
  expect(unasked).toEqual([])
  expect(paid.length).toBeGreaterThan(50)
})

test('paths have every answer that people can give', async () => {
  const paths = await loopPaths(kitAgent().agent)
  const types = new Set(paths.flatMap(({ events }) => events.map(({ type }) => type)))
  for (const type of ['run.cancel', 'run.steer', 'call.approve', 'call.deny', 'call.reconcile'])
    expect(types).toContain(type)
})

test('a sample for each side of a policy brings both sides into the paths', async () => {
  const pay = tool({
    name: 'pay',
    description: 'Pay an amount of money to the supplier.',
    inputSchema: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
    needsApproval: ({ amount }) => Number(amount) > 10,
    execute: () => 'paid',
  })
  const { agent } = kitAgent({ tools: [pay] })
  const small = await coverLoop(agent, { samples: { pay: { amount: 1 } } })
  expect(small.states.unreachable).toContainEqual({
    name: 'working.executing.awaitingApproval',
    because: 'no sample call needs approval',
  })
  const both = await coverLoop(agent, { samples: { pay: [{ amount: 1 }, { amount: 100 }] } })
  expect(both.states.covered).toContain('working.executing.awaitingApproval')
})

test('an agent without tools is covered too', async () => {
  const { agent } = kitAgent({ tools: [] })
  const report = await coverLoop(agent)
  expect([report.violations, report.left, report.transitions.missing]).toEqual([[], [], []])
})

test('limits that are too far away are named', async () => {
  const { agent } = kitAgent({ tools: [], limits: { turns: 1_000_000, toolCalls: 1000, noProgress: 1000 } })
  const report = await coverLoop(agent)
  expect(report.guards.unreachable).toContainEqual({
    name: 'isOverLimit',
    because: 'every limit is too far away to walk to',
  })
  expect(report.guards.unreachable).toContainEqual({
    name: 'isUsedUp',
    because: 'limits.noProgress is too far away',
  })
})

test.for([
  ['limits.turns is 1', { turns: 1 }, 'stop'],
  ['limits.turns is 1', { turns: 1 }, 'wrap_up'],
  ['limits.toolCalls is 0', { toolCalls: 0 }, 'stop'],
] as const)('what %s rules out is named, and not missing: %j, %s', async ([because, limits, onLimit]) => {
  const { agent } = kitAgent({ limits, onLimit })
  const { states, guards, transitions } = await coverLoop(agent)
  expect([states.missing, guards.missing, transitions.missing]).toEqual([[], [], []])
  expect(states.unreachable).toContainEqual({ name: 'working.executing.running', because })
})

test('a tool that does not end in time is a violation with the path to it', async () => {
  const hangs = tool({
    name: 'hang',
    description: 'Hangs for ever and says nothing.',
    inputSchema: { type: 'object' },
    execute: (_, { signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve('late'))),
  })
  const { agent } = kitAgent({ tools: [hangs], retry: { times: 0 } })
  const report = await coverLoop(agent, { patienceMs: 5 })
  const late = report.violations.filter(({ rule }) => rule === 'in_time')
  expect(late.length).toBeGreaterThan(0)
  expect(late[0]?.where).toContain('tool.0')
  expect(late[0]?.detail).toBe('tool.0 did not settle within 5 ms')
})

test('an agent that changes its mind about a call is seen to leave its path', async () => {
  const { agent } = kitAgent()
  let asked = 0
  const appraise: typeof agent.tools.appraise = async (...given) => {
    asked += 1
    const facts = await agent.tools.appraise(...given)
    return asked > 3 ? { ...facts, approval: null } : facts
  }
  const report = await coverLoop({ ...agent, tools: { ...agent.tools, appraise } })
  expect(report.left.length).toBeGreaterThan(0)
  expect(report.violations).toEqual([])
})

test('samples that no tool takes, or for no tool, are refused', async () => {
  const { agent } = kitAgent()
  await expect(coverLoop(agent, { samples: { pay: { amount: 'all' } } })).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining('give others in samples.pay'),
  })
  await expect(loopPaths(agent, { samples: { pray: {} } })).rejects.toThrow(
    'samples.pray: there is no such tool',
  )
})

test('the paths of an agent are always the same', async () => {
  const first = await loopPaths(kitAgent().agent)
  const second = await loopPaths(kitAgent().agent)
  expect(first.map(({ scenario, events }) => [scenario, events])).toEqual(
    second.map(({ scenario, events }) => [scenario, events]),
  )
})
