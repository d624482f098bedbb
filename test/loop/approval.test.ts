import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { agent, type AgentOptions } from '../../src/agent.ts'
import { systemClock } from '../../src/clock.ts'
import { LoopchartError } from '../../src/errors.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { MemoryJournal } from '../../src/journal/memory-journal.ts'
import { openStore } from '../../src/journal/open-store.ts'
import type { RunStore } from '../../src/journal/run-store.ts'
import { run, type Run, type RunResult } from '../../src/loop/run.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { replay } from '../../src/replay-run.ts'
import type { Touch } from '../../src/tools/tool-settings.ts'
import {
  callsAnswer,
  framesOf,
  scriptedModel,
  textAnswer,
  toldOutputs,
  untilFrame,
  watchedTool,
} from '../scripted-model.ts'

type Calls = readonly (readonly [string, string])[]

interface Asked {
  readonly live: Run
  readonly ran: readonly string[]
  readonly model: ReturnType<typeof scriptedModel>
}

/** A run of turns with calls of tools that need a yes, and then an answer. */
function ask(turns: readonly Calls[], options: Partial<AgentOptions> = {}, settings: object = {}): Asked {
  const ran: string[] = []
  const tools = ['send', 'pay'].map(
    (name) =>
      watchedTool(name, () => (ran.push(name), `${name} ran`), { needsApproval: true, ...settings }).tool,
  )
  const model = scriptedModel([
    ...turns.map((calls, at) => callsAnswer(at + 1, calls)),
    textAnswer(turns.length + 1, 'done'),
  ])
  return { live: run(agent({ model, tools, ...options }), 'go', { runId: 'run_1' }), ran, model }
}

async function framesUntilEnd(live: Run): Promise<{ frames: readonly Frame[]; result: RunResult }> {
  const frames: Frame[] = []
  for await (const frame of live) frames.push(frame)
  return { frames, result: await live.result }
}

function outcomes({ calls }: RunResult): readonly (readonly [string, string])[] {
  return calls.map(({ callId, outcome }) => [callId, outcome] as const)
}

test('all calls of a response that need a yes are asked about at once, with what is shown and what it is bound to', async () => {
  const { live } = ask([
    [
      ['send', '{"to":"Ada"}'],
      ['pay', '{}'],
    ],
  ])
  await untilFrame(live, ({ type }) => type === 'state_entered' && live.state.endsWith('awaitingApproval'))
  void live.cancel()
  const { frames } = await framesUntilEnd(live)
  expect(framesOf(frames, 'approval_requested')).toMatchObject([
    { call_id: 'call_1_0', path: ['call_1_0'], reason: 'tool', each_time: false, shown: 'send {"to":"Ada"}' },
    { call_id: 'call_1_1', path: ['call_1_1'], arguments_hash: expect.stringMatching(/^[0-9a-f]{64}$/u) },
  ])
})

test('pending calls can be answered in any order, and a part of them before the others', async () => {
  const { live, ran } = ask([
    [
      ['send', '{}'],
      ['pay', '{}'],
      ['send', '{"n":2}'],
    ],
  ])
  await untilFrame(live, ({ type }) => type === 'approval_requested')
  expect(await live.approve('call_1_2')).toMatchObject({ answer: 'accepted' })
  expect(await live.deny('call_1_1', 'too dear')).toMatchObject({ answer: 'accepted' })
  expect(live.state).toBe('working.executing.awaitingApproval')
  expect(ran).toEqual([])
  await live.approve('call_1_0')
  expect(outcomes(await live.result)).toEqual([
    ['call_1_1', 'denied'],
    ['call_1_0', 'ok'],
    ['call_1_2', 'ok'],
  ])
})

test('a denial carries its message to the model', async () => {
  const { live, model } = ask([[['pay', '{}']]])
  await untilFrame(live, ({ type }) => type === 'approval_requested')
  await live.deny('call_1_0', 'ask my boss first')
  await live.result
  expect(toldOutputs(model.requests[1])[0]?.text).toContain('ask my boss first')
})

test('an approval is single: the same call in the next turn is asked about again', async () => {
  const { live, ran } = ask([[['pay', '{}']], [['pay', '{}']]])
  await untilFrame(live, ({ type }) => type === 'approval_requested')
  await live.approve('call_1_0')
  await untilFrame(live, (frame) => frame.type === 'approval_requested' && frame.call_id === 'call_2_0')
  expect(ran).toEqual(['pay'])
  expect(await live.approve('call_1_0')).toMatchObject({ answer: 'refused' })
  await live.deny('call_2_0', 'once is enough')
  expect(outcomes(await live.result)).toEqual([
    ['call_1_0', 'ok'],
    ['call_2_0', 'denied'],
  ])
})

test('fault T21: an answer about other arguments than those of the call is refused', async () => {
  const { live, ran } = ask([[['pay', '{"amount":1}']]])
  const asked = await untilFrame(live, ({ type }) => type === 'approval_requested')
  const argumentsHash = asked.type === 'approval_requested' ? asked.arguments_hash : ''
  expect(await live.approve('call_1_0', { argumentsHash: argumentsHash.replace(/./u, 'x') })).toEqual({
    answer: 'refused',
    reason: 'call call_1_0 has other arguments than the answer is about',
  })
  expect(ran).toEqual([])
  expect(await live.approve('call_1_0', { argumentsHash })).toMatchObject({ answer: 'accepted' })
  await live.result
  expect(ran).toEqual(['pay'])
})

test('an answer for the same arguments holds for the rest of the run, and for those arguments only', async () => {
  const { live, ran } = ask(
    [
      [
        ['pay', '{"amount":1}'],
        ['pay', '{ "amount": 1 }'],
      ],
      [['pay', '{"amount":1}']],
      [['pay', '{"amount":2}']],
    ],
    { limits: { noProgress: 9 } },
  )
  await untilFrame(live, ({ type }) => type === 'approval_requested')
  await live.approve('call_1_0', { remember: 'call' })
  await untilFrame(live, (frame) => frame.type === 'approval_requested' && frame.call_id === 'call_3_0')
  expect(ran).toEqual(['pay', 'pay', 'pay'])
  await live.deny('call_3_0', 'no')
  const { frames } = await framesUntilEnd(live)
  expect(framesOf(frames, 'approval_requested').map(({ call_id: callId }) => callId)).toEqual([
    'call_1_0',
    'call_1_1',
    'call_3_0',
  ])
  expect(replay(frames)).toMatchObject({ ok: true })
})

test('a no for a tool holds for the rest of the run, tells the model each time, and spares other tools', async () => {
  const { live, ran, model } = ask([
    [
      ['pay', '{"amount":1}'],
      ['send', '{}'],
    ],
    [['pay', '{"amount":2}']],
  ])
  await untilFrame(live, ({ type }) => type === 'approval_requested')
  await live.deny('call_1_0', 'never pay', { remember: 'tool' })
  expect(live.state).toBe('working.executing.awaitingApproval')
  await live.approve('call_1_1')
  const { frames, result } = await framesUntilEnd(live)
  expect(outcomes(result)).toEqual([
    ['call_1_0', 'denied'],
    ['call_1_1', 'ok'],
    ['call_2_0', 'denied'],
  ])
  expect(ran).toEqual(['send'])
  expect(toldOutputs(model.requests[2])[0]?.text).toContain('never pay')
  expect(replay(frames)).toMatchObject({ ok: true })
})

test('no answer for the whole run covers a call that is asked about each time', async () => {
  const each = { needsApproval: () => ({ reason: 'unsandboxed', isEachTime: true }) }
  const { live } = ask([[['pay', '{}']], [['pay', '{}']]], {}, each)
  await untilFrame(live, ({ type }) => type === 'approval_requested')
  expect(await live.approve('call_1_0', { remember: 'tool' })).toEqual({
    answer: 'refused',
    reason: 'call call_1_0 is asked about each time: the answer cannot hold for the whole run',
  })
  await live.approve('call_1_0')
  await untilFrame(live, (frame) => frame.type === 'approval_requested' && frame.call_id === 'call_2_0')
  await live.cancel()
  const { frames } = await framesUntilEnd(live)
  expect(framesOf(frames, 'approval_requested')).toMatchObject([
    { reason: 'unsandboxed', each_time: true },
    { reason: 'unsandboxed', each_time: true },
  ])
})

test('a word that `remember` does not know is refused, and not taken for a wider one', async () => {
  const { live } = ask([[['pay', '{}']]])
  await untilFrame(live, ({ type }) => type === 'approval_requested')
  for (const remember of ['once', 'forever', '']) {
    const options = { remember } as unknown as { remember: 'call' }
    expect(() => live.approve('call_1_0', options)).toThrow('remember must be call or tool')
    expect(() => live.deny('call_1_0', 'no', options)).toThrow('remember must be call or tool')
  }
  expect(live.state).toBe('working.executing.awaitingApproval')
  await live.cancel()
})

test('a long preview is cut visibly, its end is shown, and one that throws gives way to the arguments', async () => {
  const long = { preview: () => `start${'\n'.repeat(20_000)}; rm -rf /` }
  const { live } = ask([[['pay', '{}']]], {}, long)
  const frame = await untilFrame(live, ({ type }) => type === 'approval_requested')
  const shown = frame.type === 'approval_requested' ? frame.shown : ''
  expect(shown.length).toBeLessThanOrEqual(10_000)
  expect(shown).toMatch(/^start[^]+characters left out[^]+; rm -rf \/$/u)
  await live.cancel()
  const broken = { preview: () => Promise.reject(new Error('no')) }
  const other = ask([[['pay', '{"a":1}']]], {}, broken).live
  expect(await untilFrame(other, ({ type }) => type === 'approval_requested')).toMatchObject({
    shown: 'pay {"a":1}',
  })
  await other.cancel()
})

test('pending approvals, remembered answers and partial answers survive the end of the process', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'loopchart-approval-'))
  const ran: string[] = []
  const made = (answers: readonly string[]) =>
    agent({
      model: scriptedModel(answers),
      tools: [watchedTool('pay', () => (ran.push('pay'), 'paid'), { needsApproval: true }).tool],
    })
  const both: Calls = [
    ['pay', '{"amount":1}'],
    ['pay', '{"amount":2}'],
  ]
  try {
    const store = openStore(join(folder, 'runs.db'))
    const first = run(made([callsAnswer(1, both)]), 'go', { store, runId: 'run_1' })
    await untilFrame(first, ({ type }) => type === 'approval_requested')
    await first.approve('call_1_1', { remember: 'call' })
    expect(await first.suspend()).toBe(true)
    expect(await first.result).toMatchObject({
      status: 'suspended',
      reason: 'asked',
      state: 'working.executing.awaitingApproval',
    })
    expect(ran).toEqual([])
    const answers = [callsAnswer(2, [['pay', '{"amount":2}']]), textAnswer(3, 'done')]
    const second = run(made(answers), { resume: 'run_1' }, { store })
    expect(second.explain().waitsFor).toEqual(['a yes or a no for call call_1_0 of pay'])
    await second.deny('call_1_0', 'no')
    expect(outcomes(await second.result)).toEqual([
      ['call_1_0', 'denied'],
      ['call_1_1', 'ok'],
      ['call_2_0', 'ok'],
    ])
    expect(replay(store.read('run_1'))).toMatchObject({ ok: true })
    store.close()
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('fault T21: what was approved in one folder does not run in another', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'loopchart-approval-'))
  const ran: string[] = []
  const made = (scope: string, answers: readonly string[]) => {
    const model = scriptedModel(answers)
    const tools = [watchedTool('pay', () => (ran.push(scope), 'paid'), { needsApproval: true, scope }).tool]
    return { model, agent: agent({ model, tools }) }
  }
  try {
    const store = openStore(join(folder, 'runs.db'))
    const first = run(made('/here', [callsAnswer(1, [['pay', '{}']])]).agent, 'go', { store, runId: 'run_1' })
    await untilFrame(first, ({ type }) => type === 'approval_requested')
    await first.suspend()
    const there = made('/there', [textAnswer(2, 'done')])
    const second = run(there.agent, { resume: 'run_1' }, { store })
    await second.approve('call_1_0')
    const { frames, result } = await framesUntilEnd(second)
    expect(outcomes(result)).toEqual([['call_1_0', 'not_allowed']])
    expect(framesOf(frames, 'tool_failed')[0]?.error).toMatchObject({ code: 'approval_stale' })
    expect(ran).toEqual([])
    expect(toldOutputs(there.model.requests[0])[0]?.text).toContain('approved for other arguments')
    store.close()
  } finally {
    rmSync(folder, { recursive: true })
  }
})

function touches({ to }: JsonObject): readonly Touch[] {
  return [{ kind: 'path', path: JSON.stringify(to).replaceAll('"', ''), access: 'write' }]
}

test('a yes for a tool does not cover what a rule asks about', async () => {
  const policy = [{ decision: 'ask', tool: 'pay', path: 'prod/**' }] as const
  const { live, ran } = ask(
    [[['pay', '{"to":"a"}']], [['pay', '{"to":"b"}']], [['pay', '{"to":"prod/c"}']]],
    { policy },
    { touches },
  )
  await untilFrame(live, ({ type }) => type === 'approval_requested')
  await live.approve('call_1_0', { remember: 'tool' })
  const asked = await untilFrame(
    live,
    (frame) => frame.type === 'approval_requested' && frame.call_id === 'call_3_0',
  )
  expect(asked).toMatchObject({ reason: 'policy' })
  expect(ran).toEqual(['pay', 'pay'])
  await live.cancel()
})

test('an answer that the log cannot take is refused, and the run fails', async () => {
  const journal = new MemoryJournal(systemClock)
  const commit = journal.commit.bind(journal)
  journal.commit = (frames) =>
    frames.some(({ type }) => type === 'command_received')
      ? Promise.reject(new LoopchartError('store_full', 'no space is left'))
      : commit(frames)
  const store = { create: () => journal } as unknown as RunStore
  const { tool, ran } = watchedTool('pay', () => 'paid', { needsApproval: true })
  const model = scriptedModel([callsAnswer(1, [['pay', '{}']])])
  const live = run(agent({ model, tools: [tool] }), 'go', { store })
  await untilFrame(live, ({ type }) => type === 'approval_requested')
  expect(await live.approve('call_1_0')).toEqual({ answer: 'refused', reason: 'the log cannot be written' })
  await expect(live.result).rejects.toThrow('no space is left')
  expect(ran).toEqual([])
})
