import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { agent } from '../../src/agent.ts'
import { formatFrame } from '../../src/frames/format-frame.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { openStore } from '../../src/journal/open-store.ts'
import { run } from '../../src/loop/run.ts'
import { forkRun, replay } from '../../src/replay-run.ts'
import type { ForkedRun } from '../../src/replay/fork-run.ts'
import { ManualClock } from '../manual-clock.ts'
import {
  callsAnswer,
  framesOf,
  scriptedModel,
  textAnswer,
  toldOutputs,
  watchedTool,
} from '../scripted-model.ts'
import { MemoryStore } from './memory-store.ts'

const ONE_EACH = callsAnswer(1, [
  ['read', '{}'],
  ['post', '{}'],
  ['ask', '{}'],
])

interface World {
  readonly frames: readonly Frame[]
  readonly ran: readonly string[]
}

function agentOf(answers: readonly string[], ran: string[], name = 'scripted-1') {
  const make = (tool: string, settings: object): ReturnType<typeof watchedTool>['tool'] =>
    watchedTool(tool, () => (ran.push(tool), `${tool} ran`), settings).tool
  const model = scriptedModel(answers, { name })
  const made = agent({
    model,
    tools: [make('read', { readOnly: true }), make('post', {}), make('ask', { needsApproval: true })],
    clock: new ManualClock(),
  })
  return { agent: made, model }
}

// The last of the three: it was asked about with the first, and is answered when its turn has come.
const ASKED = 'call_1_2'

function isWaiting(frame: Frame): boolean {
  return frame.type === 'state_entered' && frame.state.endsWith('awaitingApproval')
}

/** Three calls, of which the last is denied; then an answer. */
async function originalRun(): Promise<World> {
  const ran: string[] = []
  const live = run(agentOf([ONE_EACH, textAnswer(2, 'done')], ran).agent, 'go', { runId: 'run_old' })
  const frames: Frame[] = []
  for await (const frame of live) {
    frames.push(frame)
    if (isWaiting(frame)) void live.deny(ASKED, 'no')
  }
  return { frames, ran }
}

/** Goes on with a fork and sends what it needs. */
async function goOn(
  fork: ForkedRun,
  answers: readonly string[],
  modelName?: string,
): Promise<World & { readonly model: ReturnType<typeof scriptedModel> }> {
  const ran: string[] = []
  const { agent: made, model } = agentOf(answers, ran, modelName)
  const live = run(made, { resume: fork.runId }, { store: new MemoryStore(fork.frames) })
  const frames: Frame[] = []
  for await (const frame of live) {
    frames.push(frame)
    // One that was decided already refuses it.
    if (isWaiting(frame)) void live.deny(ASKED, 'no')
    if (frame.type !== 'state_entered' || !frame.state.endsWith('reconciling')) continue
    for (const command of fork.commands) {
      if (command.type === 'call.reconcile') void live.reconcile(command.callId, 'rerun')
    }
  }
  return { frames, ran, model }
}

function endOf(frames: readonly Frame[], call: string): number {
  return frames.findIndex(
    (frame) => (frame.type === 'tool_ended' || frame.type === 'tool_failed') && frame.call_id === call,
  )
}

test('a fork with another tool result goes on from there, runs only what had not ended, and replays', async () => {
  const { frames } = await originalRun()
  const at = endOf(frames, 'call_1_0')
  const fork = forkRun(frames, { at, change: { kind: 'output', output: 'something else' }, runId: 'run_new' })
  expect(fork.frames.every(({ run_id: id }, seq) => id === 'run_new' && fork.frames[seq]?.seq === seq)).toBe(
    true,
  )
  expect(fork.frames[0]).toMatchObject({ forked_from: { run_id: 'run_old', seq: at } })
  expect(fork.commands).toEqual([{ type: 'call.reconcile', callId: 'call_1_1', as: 'rerun' }])
  expect(replay(fork.frames)).toMatchObject({ ok: true })
  const { frames: whole, ran, model } = await goOn(fork, [textAnswer(2, 'otherwise')])
  expect(ran).toEqual(['post'])
  expect(toldOutputs(model.requests[0]).map(({ text }) => text)).toEqual([
    'something else',
    expect.stringContaining('post ran'),
    expect.stringContaining('declined'),
  ])
  expect(whole.at(-1)).toMatchObject({ type: 'run_ended', state: 'done', text: 'otherwise' })
  expect(replay(whole)).toMatchObject({ ok: true, frames: whole.length })
})

test('a tool result can be changed to a failure', async () => {
  const { frames } = await originalRun()
  const at = endOf(frames, 'call_1_1')
  const fork = forkRun(frames, { at, change: { kind: 'output', output: 'it broke', outcome: 'error' } })
  expect(fork.runId).not.toBe('run_old')
  const { frames: whole } = await goOn(fork, [textAnswer(2, 'sorry')])
  expect(whole[endOf(whole, 'call_1_1')]).toMatchObject({
    type: 'tool_failed',
    outcome: 'error',
    output: 'it broke',
  })
  expect(replay(whole)).toMatchObject({ ok: true })
})

test('a fork with a yes instead of a no runs the call', async () => {
  const { frames } = await originalRun()
  const at = frames.findIndex(({ type }) => type === 'command_received')
  const fork = forkRun(frames, { at, change: { kind: 'approve' } })
  expect(fork.commands).toEqual([{ type: 'call.reconcile', callId: 'call_1_2', as: 'rerun' }])
  const { frames: whole, ran } = await goOn(fork, [textAnswer(2, 'asked')])
  expect(ran).toEqual(['ask'])
  expect(whole[endOf(whole, 'call_1_2')]).toMatchObject({
    outcome: 'ok',
    output: expect.stringContaining('ask ran'),
  })
  expect(replay(whole)).toMatchObject({ ok: true })
})

test('a fork with another reason for a no tells the model that reason', async () => {
  const { frames } = await originalRun()
  const at = frames.findIndex(({ type }) => type === 'command_received')
  const fork = forkRun(frames, { at, change: { kind: 'deny', reason: 'never on Sundays' } })
  const { frames: whole, model } = await goOn(fork, [textAnswer(2, 'fine')])
  expect(toldOutputs(model.requests[0]).at(-1)?.text).toContain('never on Sundays')
  expect(replay(whole)).toMatchObject({ ok: true })
})

test('a fork with another model asks that model, and the replay makes its requests as that model’s', async () => {
  const { frames } = await originalRun()
  const at = frames.findLastIndex(({ type }) => type === 'response_settled')
  const fork = forkRun(frames, { at, change: { kind: 'model', model: 'scripted-2' } })
  const { frames: whole, ran } = await goOn(fork, [textAnswer(2, 'I am new')], 'scripted-2')
  expect(ran).toEqual([])
  const requests = framesOf(whole, 'request_sent').map(({ model, body }) => [model, JSON.parse(body).model])
  expect(requests).toEqual([
    ['scripted-1', 'scripted-1'],
    ['scripted-1', 'scripted-1'],
    ['scripted-2', 'scripted-2'],
  ])
  expect(whole.at(-1)).toMatchObject({ state: 'done', text: 'I am new' })
  expect(replay(whole)).toMatchObject({ ok: true, frames: whole.length })
})

test('a fork can be imported into a store, resumed there and replayed from there', async () => {
  const { frames } = await originalRun()
  const at = endOf(frames, 'call_1_1')
  const fork = forkRun(frames, { at, change: { kind: 'output', output: 'not posted' } })
  const folder = mkdtempSync(join(tmpdir(), 'loopchart-fork-'))
  const store = openStore(join(folder, 'runs.sqlite'))
  try {
    store.importRun(fork.frames.map(formatFrame))
    const live = run(agentOf([textAnswer(2, 'so be it')], []).agent, { resume: fork.runId }, { store })
    const approved = live.approve('call_1_2')
    await expect(approved).resolves.toMatchObject({ answer: 'accepted' })
    await expect(live.result).resolves.toMatchObject({ state: 'done', text: 'so be it' })
    expect(replay(store.read(fork.runId))).toMatchObject({ ok: true })
  } finally {
    store.close()
    rmSync(folder, { recursive: true })
  }
})

test('a fork without a change ends before the decision, which is then made anew', async () => {
  const { frames } = await originalRun()
  const at = frames.findIndex(({ type }) => type === 'command_received')
  const fork = forkRun(frames, { at })
  expect(fork.frames.at(-1)).toMatchObject({ state: 'working.executing.awaitingApproval' })
  expect(replay(fork.frames)).toMatchObject({ ok: true })
})

test.for([
  ['something that is no decision', 1, { kind: 'approve' }, 'frame 1 is no decision'],
  ['a call as if it were an answer', 'tool_ended', { kind: 'approve' }, 'not a yes or a no'],
  [
    'a response as if it were a call',
    'response_settled',
    { kind: 'output', output: '' },
    'not the end of a call',
  ],
  ['a call as if it were a response', 'tool_ended', { kind: 'model', model: 'x' }, 'not a response'],
] as const)('forking at %s is refused', async ([, at, change, reason]) => {
  const { frames } = await originalRun()
  const seq = typeof at === 'number' ? at : frames.findIndex(({ type }) => type === at)
  expect(() => forkRun(frames, { at: seq, change })).toThrow(reason)
})

const LONG = `{"note":"${'a long story '.repeat(60)}"}`

function compactingAgent(answers: readonly string[]) {
  const model = scriptedModel(answers)
  const tools = [watchedTool('read', () => 'ran', { readOnly: true }).tool]
  const compaction = { atItems: 5, keepTokens: 100 }
  return { model, agent: agent({ model, tools, compaction, clock: new ManualClock() }) }
}

async function compactedRun(): Promise<readonly Frame[]> {
  const answers = [callsAnswer(1, [['read', LONG]]), callsAnswer(2, [['read', LONG]]), textAnswer(3, 'short')]
  const frames: Frame[] = []
  for await (const frame of run(compactingAgent(answers).agent, 'go', { runId: 'run_old' }))
    frames.push(frame)
  return frames
}

test('a compaction is undone by a fork, which goes on with the whole conversation and by id', async () => {
  const frames = await compactedRun()
  expect(framesOf(frames, 'history_compacted')).toHaveLength(1)
  const at = frames.findIndex(({ type }) => type === 'effect_settled')
  const fork = forkRun(frames, { at, change: { kind: 'keep_history' }, runId: 'run_new' })
  expect(framesOf(fork.frames, 'history_compacted')).toEqual([])
  expect(replay(fork.frames)).toMatchObject({ ok: true })
  const { agent: made, model } = compactingAgent([textAnswer(3, 'whole')])
  const store = new MemoryStore(fork.frames)
  const result = await run(made, { resume: 'run_new' }, { store }).result
  expect(result).toMatchObject({ status: 'ended', state: 'done', text: 'whole' })
  expect(model.requests[0]).toMatchObject({ previous_response_id: 'resp_2' })
  expect(toldOutputs(model.requests[0])).toHaveLength(1)
})

test('history is kept only where a compaction ended with something shorter', async () => {
  const frames = await compactedRun()
  const response = frames.findIndex(({ type }) => type === 'response_settled')
  const change = { kind: 'keep_history' } as const
  expect(() => forkRun(frames, { at: response, change })).toThrow('not the end of a compaction')
  const at = frames.findIndex(({ type }) => type === 'effect_settled')
  const fork = forkRun(frames, { at, change })
  expect(() => forkRun(fork.frames, { at, change })).toThrow('not the end of a compaction')
})
