import { mkdtempSync, renameSync, rmSync, writeFileSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { agent } from '../../src/agent.ts'
import { openStore, type SqliteStore } from '../../src/journal/open-store.ts'
import type { Agent } from '../../src/loop/agent.ts'
import { run } from '../../src/loop/run.ts'
import { replay } from '../../src/replay-run.ts'
import { builtinTools } from '../../src/tools/builtin/builtin-tools.ts'
import {
  callsAnswer,
  framesOf,
  scriptedModel,
  textAnswer,
  toldOutputs,
  untilFrame,
  watchedTool,
  type ScriptedModel,
} from '../scripted-model.ts'

let folder = ''
let store: SqliteStore

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loopchart-suspend-'))
  store = openStore(join(folder, 'runs.db'))
})

afterEach(() => {
  store.close()
  rmSync(folder, { recursive: true })
})

const PATCH = ['*** Begin Patch', '*** Add File: new.txt', '+hello', '*** End Patch'].join('\n')

async function worker(
  workspace: string,
  answers: readonly string[],
): Promise<{ agent: Agent; model: ScriptedModel }> {
  const model = scriptedModel(answers)
  const tools = await builtinTools({ workspace, stateFolder: join(folder, 'state'), isAutoEdit: true })
  return { agent: agent({ model, tools }), model }
}

test('fault T14: a run whose workspace is gone is suspended, runs nothing elsewhere, and goes on when it is back', async () => {
  const workspace = join(folder, 'workspace')
  mkdirSync(workspace)
  const calls = callsAnswer(1, [['apply_patch', JSON.stringify({ patch: PATCH })]])
  const { agent: first } = await worker(workspace, [calls])
  renameSync(workspace, `${workspace}-away`)
  const live = run(first, 'go', { store, runId: 'run_1' })
  expect(await live.result).toMatchObject({
    status: 'suspended',
    reason: 'workspace_missing',
    state: 'working.executing.running',
  })
  expect(framesOf([...store.read('run_1')], 'run_ended')).toEqual([])
  renameSync(`${workspace}-away`, workspace)
  const second = await worker(workspace, [textAnswer(2, 'done')])
  const resumed = run(second.agent, { resume: 'run_1' }, { store })
  expect(await resumed.result).toMatchObject({ state: 'done', calls: [{ outcome: 'ok' }] })
  expect(toldOutputs(second.model.requests[0])[0]?.text).toContain('A new.txt')
  expect(replay(store.read('run_1'))).toMatchObject({ ok: true })
})

test('fault T14: a command that deletes its own workspace is followed by a suspension and not by another folder', async () => {
  const workspace = join(folder, 'workspace')
  mkdirSync(workspace)
  writeFileSync(join(workspace, 'a.txt'), 'a')
  const model = scriptedModel([
    callsAnswer(1, [['shell', JSON.stringify({ command: 'cd / && rm -rf "$OLDPWD"/* && rmdir "$OLDPWD"' })]]),
    callsAnswer(2, [['shell', JSON.stringify({ command: 'pwd' })]]),
  ])
  const shell = { sandbox: 'off', isUnsandboxedAllowed: true } as const
  const tools = await builtinTools({ workspace, stateFolder: join(folder, 'state'), shell })
  const policy = [{ decision: 'allow', tool: 'shell' }] as const
  const live = run(agent({ model, tools, policy }), 'go', { store, runId: 'run_1' })
  expect(await live.result).toMatchObject({ status: 'suspended', reason: 'workspace_missing' })
  expect(framesOf([...store.read('run_1')], 'tool_started')).toHaveLength(2)
  expect(framesOf([...store.read('run_1')], 'tool_ended')).toHaveLength(1)
})

test('a run that is let go of says so, leaves its log open, and starts nothing further', async () => {
  const { tool, ran } = watchedTool('pay', () => 'paid', { needsApproval: true })
  const model = scriptedModel([callsAnswer(1, [['pay', '{}']])])
  const live = run(agent({ model, tools: [tool] }), 'go', { store, runId: 'run_1' })
  await untilFrame(live, ({ type }) => type === 'approval_requested')
  const [first, second] = await Promise.all([live.suspend(), live.suspend()])
  expect([first, second]).toEqual([true, true])
  expect(await live.approve('call_1_0')).toEqual({ answer: 'refused', reason: 'the run was let go of' })
  expect(ran).toEqual([])
  expect(store.list()).toMatchObject([{ runId: 'run_1', status: 'open', owner: null }])
})

test('a run that has ended cannot be let go of', async () => {
  const live = run(agent({ model: scriptedModel([textAnswer(1, 'hello')]) }), 'go', { store, runId: 'run_1' })
  await live.result
  expect(await live.suspend()).toBe(false)
  expect(await live.result).toMatchObject({ status: 'ended', state: 'done' })
})

test('a run without a store can be let go of too: it stays where it is', async () => {
  const { tool } = watchedTool('pay', () => 'paid', { needsApproval: true })
  const live = run(agent({ model: scriptedModel([callsAnswer(1, [['pay', '{}']])]), tools: [tool] }), 'go')
  await untilFrame(live, ({ type }) => type === 'approval_requested')
  await live.suspend()
  expect(await live.result).toMatchObject({
    status: 'suspended',
    state: 'working.executing.awaitingApproval',
  })
})

test('a call that has ended when the run is let go of is not in doubt, and the next one has not begun', async () => {
  const ran: string[] = []
  const tools = [
    ['one', { conflicts: [] }] as const,
    ['two', { conflicts: [] }] as const,
    ['three', {}] as const,
  ].map(([name, settings]) => watchedTool(name, () => (ran.push(name), `${name} ran`), settings).tool)
  const make = (answers: readonly string[]) =>
    agent({ model: scriptedModel(answers), tools, toolExecution: 'parallel' })
  const calls = callsAnswer(1, [
    ['one', '{}'],
    ['two', '{}'],
    ['three', '{}'],
  ])
  const live = run(make([calls]), 'go', { store, runId: 'run_1' })
  // The first two end together: when the end of the first is in the log, that of the second is decided.
  for await (const frame of live) if (frame.type === 'tool_ended') void live.suspend()
  expect(await live.result).toMatchObject({ status: 'suspended', state: 'working.executing.running' })
  expect(ran).toEqual(['one', 'two'])
  const resumed = run(make([textAnswer(2, 'done')]), { resume: 'run_1' }, { store })
  expect(await resumed.result).toMatchObject({ state: 'done' })
  expect(ran).toEqual(['one', 'two', 'three'])
  expect(replay(store.read('run_1'))).toMatchObject({ ok: true })
})
