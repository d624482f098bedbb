import { expect, test, vi } from 'vitest'

import { loopMachine } from '../../machines/loop.machine.ts'
import { chartLayout } from '../../src/chart/generated/chart-layout.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import type { InspectionEvent } from '../../src/inspect/inspection-event.ts'
import { inspectionOf } from '../../src/inspect/inspection.ts'
import { RunHistory } from '../../src/inspect/run-history.ts'
import { run } from '../../src/run.ts'
import { readLog, RUN_FIXTURES } from '../replay/read-log.ts'
import { collect, tempStore } from '../journal/store-kit.ts'
import { stored } from '../simulation/run-seeds.ts'
import { simulate } from '../simulation/simulate.ts'
import { callsAnswer, scriptedModel, textAnswer, watchedTool } from '../scripted-model.ts'
import { addingAgent, valuesOf, written } from './inspect-kit.ts'

vi.setConfig({ testTimeout: 60_000 })

test('what is inspected while a run is live is what its stored log gives later', async () => {
  const store = tempStore()
  const seen: InspectionEvent[] = []
  const live = run(addingAgent(), 'add', { runId: 'run_1', store, inspect: (event) => void seen.push(event) })
  const { status } = await live.result
  expect(status).toBe('ended')
  expect(seen.length).toBeGreaterThan(20)
  expect(written(seen)).toEqual(written(inspectionOf(store.read('run_1'))))
})

test('every simulated run gives the same stream from memory as from its file', async () => {
  for (let seed = 0; seed < 60; seed += 1) {
    const { frames } = await simulate(seed)
    expect(written(inspectionOf(stored(frames))), `SEED=${seed}`).toEqual(written(inspectionOf(frames)))
  }
})

test.for(RUN_FIXTURES)(
  'the stream of %s has the chart once and each step as event, microstep, snapshot',
  (name) => {
    const frames = readLog(name)
    const events = [...inspectionOf(frames)]
    const { steps } = historyOf(frames)
    expect(events.map(({ type }) => type)).toEqual([
      '@xstate.actor',
      ...steps.flatMap(() => ['@xstate.event', '@loopchart.microstep', '@xstate.snapshot']),
    ])
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
    expect(new Set(events.map(({ sessionId }) => sessionId))).toEqual(new Set([frames[0]?.run_id]))
    const ids = new Set(chartLayout.transitions.map(({ id }) => id))
    const taken = events.flatMap((event) => (event.type === '@loopchart.microstep' ? event.transitions : []))
    expect(taken.filter((id) => !ids.has(id))).toEqual([])
    expect(taken).toEqual(steps.flatMap(({ transitions }) => transitions))
  },
)

test('the chart is in the stream whole, with its states in their own order', () => {
  const [actor] = inspectionOf(readLog('answer'))
  if (actor?.type !== '@xstate.actor') throw new Error('a stream begins with its actor')
  const definition = JSON.parse(actor.definition) as { states: { working: { states: object } } }
  expect(Object.keys(definition.states.working.states)).toEqual(
    Object.keys(loopMachine.config.states?.working?.states ?? {}),
  )
  expect(actor.definition).not.toContain('[Object]')
})

test('a run that is the work of a call names the run that called it', async () => {
  const frames = stored((await simulate(1)).frames)
  const [first, ...rest] = frames
  const called = [{ ...first, parent: { run_id: 'outer', call_id: 'call_1' } } as Frame, ...rest]
  const [actor] = inspectionOf(called)
  expect(actor).toMatchObject({ sessionId: first?.run_id, parentId: 'outer', rootId: 'outer' })
})

test('a run that is resumed is inspected from its start, with what became of it in between', async () => {
  const store = tempStore()
  const model = scriptedModel([callsAnswer(1, [['ask', '{}']]), textAnswer(2, 'done')])
  const ask = watchedTool('ask', () => 'yes', { needsApproval: true })
  const agent = addingAgent({ model, tools: [ask.tool] })
  const first = run(agent, 'go', { runId: 'run_1', store })
  for await (const frame of first) if (frame.type === 'approval_requested') void first.suspend()
  const seen: InspectionEvent[] = []
  const resumed = run(agent, { resume: 'run_1' }, { store, inspect: (event) => void seen.push(event) })
  await resumed.approve('call_1_0')
  await resumed.result
  expect(written(seen)).toEqual(written(inspectionOf(store.read('run_1'))))
  expect(valuesOf(seen)).toContainEqual({ working: { executing: 'awaitingApproval' } })
  expect(valuesOf(seen).at(-1)).toBe('done')
})

test('an inspector that throws is told nothing more, and the run ends as it would have', async () => {
  const warnings: string[] = []
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation((text) => void warnings.push(String(text)))
  let told = 0
  const live = run(addingAgent(), 'add', {
    inspect: () => {
      told += 1
      throw new Error('no room')
    },
  })
  const result = await live.result
  warn.mockRestore()
  expect(result).toMatchObject({ status: 'ended', state: 'done', text: 'It is 5.' })
  expect(told).toBe(1)
  expect(warnings).toEqual(['an inspector threw and is told nothing more: no room'])
})

test('a run that is inspected answers everything that one without an inspector answers', async () => {
  const ask = watchedTool('ask', () => 'yes', { needsApproval: true })
  const calls = callsAnswer(1, [
    ['ask', '{}'],
    ['ask', '{}'],
  ])
  const model = scriptedModel([calls, textAnswer(2, 'done')])
  const agent = addingAgent({ model, tools: [ask.tool] })
  const live = run(agent, 'go', { runId: 'run_1', inspect: () => undefined })
  const waiting = (async (): Promise<void> => {
    for await (const frame of live.frames(1)) if (frame.type === 'approval_requested') return
  })()
  await waiting
  expect(live.id).toBe('run_1')
  expect(live.state).toBe('working.executing.awaitingApproval')
  expect(live.explain().state).toBe(live.state)
  expect(live.can({ type: 'run.steer', text: 'x' }).answer).toBe('queued')
  expect(live.children.size).toBe(0)
  expect(await live.reconcile('call_1_0', 'done')).toMatchObject({ answer: 'refused' })
  expect(await live.steer('hurry')).toMatchObject({ answer: 'queued' })
  expect(await live.deny('call_1_0', 'no')).toMatchObject({ answer: 'accepted' })
  expect(await live.approve('call_1_1')).toMatchObject({ answer: 'accepted' })
  expect((await collect(live.textStream())).join('')).toBe('done')
  expect(await live.result).toMatchObject({ state: 'done' })
  expect(await live.suspend()).toBe(false)
  expect((await collect(live)).at(-1)?.type).toBe('run_ended')
  expect(await live.cancel()).toMatchObject({ answer: 'refused' })
})

test('a log that is not the whole log of one run has no stream', () => {
  const frames = readLog('answer')
  expect(() => [...inspectionOf(frames.slice(1))]).toThrow('frame 1: frame 0 is missing')
})

function historyOf(frames: readonly Frame[]): RunHistory {
  const history = new RunHistory()
  history.add(frames)
  return history
}
