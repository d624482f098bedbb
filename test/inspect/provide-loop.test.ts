import { createInspector, type StatelyInspectionEvent } from '@statelyai/inspect'
import { expect, test, vi } from 'vitest'
import { createActor, setup, toPromise } from 'xstate'

import type { InspectionEvent } from '../../src/inspect/inspection-event.ts'
import { inspectionOf } from '../../src/inspect/inspection.ts'
import { loopInput, provideLoop } from '../../src/machine.ts'
import { run } from '../../src/run.ts'
import { collect } from '../journal/store-kit.ts'
import { addingAgent, forStately, valuesOf, written } from './inspect-kit.ts'

/** The stream of an actor that runs to its end. */
async function inspectedActor(): Promise<readonly InspectionEvent[]> {
  const agent = addingAgent()
  const seen: InspectionEvent[] = []
  const machine = provideLoop(agent, { runId: 'run_1', inspect: (event) => void seen.push(event) })
  const actor = createActor(machine, { input: loopInput(agent, 'add') }).start()
  await toPromise(actor)
  return seen
}

test('an actor gives the stream that the log of such a run gives', async () => {
  const seen = await inspectedActor()
  const frames = await collect(run(addingAgent(), 'add', { runId: 'run_1' }))
  expect(told(seen)).toEqual(told([...inspectionOf(frames)]))
})

test('the stream of an actor is what @statelyai/inspect itself makes of that actor', async () => {
  const agent = addingAgent()
  const seen: InspectionEvent[] = []
  const sent: StatelyInspectionEvent[] = []
  const { inspect } = createInspector({ send: (event) => void sent.push(event) })
  const machine = provideLoop(agent, { runId: 'run_1', inspect: (event) => void seen.push(event) })
  const actor = createActor(machine, { input: loopInput(agent, 'add'), inspect }).start()
  await toPromise(actor)
  // Theirs come when nothing else is to be done.
  await vi.waitFor(() => expect(sent.at(-1)).toMatchObject({ snapshot: { status: 'done' } }))
  const own = sent.filter(({ sessionId }) => sessionId === actor.sessionId)
  const snapshots = own.flatMap((event) =>
    event.type === '@xstate.snapshot' ? [shapeOf(event.snapshot)] : [],
  )
  const ours = seen.flatMap((event) => (event.type === '@xstate.snapshot' ? [shapeOf(event.snapshot)] : []))
  expect(ours).toEqual(snapshots)
  const events = own.flatMap((event) => (event.type === '@xstate.event' ? [event.event.type] : []))
  expect(seen.flatMap((event) => (event.type === '@xstate.event' ? [event.event.type] : []))).toEqual(events)
  const [theirs] = own
  const [first] = forStately(seen)
  expect(Object.keys(first ?? {}).sort()).toEqual(Object.keys(theirs ?? {}).sort())
  expect(first).toMatchObject({ type: '@xstate.actor', name: 'loop', _version: '0.7.2' })
  expect(theirs).toMatchObject({ type: '@xstate.actor', name: 'loop', _version: '0.7.2' })
})

test('an actor within a machine of its own is inspected from its first event', async () => {
  const agent = addingAgent()
  const seen: InspectionEvent[] = []
  const loop = provideLoop(agent, { runId: 'run_1', inspect: (event) => void seen.push(event) })
  const outer = setup({ actors: { loop } }).createMachine({
    initial: 'at work',
    states: {
      'at work': { invoke: { src: 'loop', input: () => loopInput(agent, 'add'), onDone: 'over' } },
      over: { type: 'final' },
    },
  })
  await toPromise(createActor(outer).start())
  expect(told(seen)).toEqual(told(await inspectedActor()))
})

test('an actor that goes on from a snapshot says where it is', async () => {
  const agent = addingAgent()
  const input = loopInput(agent, 'add')
  const first = createActor(provideLoop(agent, { runId: 'run_1' }), { input })
  const snapshot = first.getPersistedSnapshot()
  const seen: InspectionEvent[] = []
  const machine = provideLoop(agent, { runId: 'run_1', inspect: (event) => void seen.push(event) })
  await toPromise(createActor(machine, { input, snapshot }).start())
  expect(seen[0]?.type).toBe('@xstate.actor')
  expect(valuesOf(seen)[0]).toEqual({ working: { responding: 'requesting' } })
  expect(valuesOf(seen).at(-1)).toBe('done')
})

test('an inspector that throws does not stop an actor', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  const agent = addingAgent()
  const inspect = vi.fn<() => void>(() => {
    throw new Error('no room')
  })
  const machine = provideLoop(agent, { runId: 'run_1', inspect })
  const output = await toPromise(createActor(machine, { input: loopInput(agent, 'add') }).start())
  warn.mockRestore()
  expect(output.text).toBe('It is 5.')
  expect(inspect).toHaveBeenCalledTimes(1)
})

/** What a stream tells, without what only a log or only an actor has: numbers of frames, and what settled besides. */
function told(events: readonly InspectionEvent[]): readonly unknown[] {
  return written(events).map((event) => {
    const { id: _, event: by, ...rest } = event as { id: string; event?: { type: string } }
    return { ...rest, by: by?.type }
  })
}

function shapeOf(snapshot: object): unknown {
  return JSON.parse(JSON.stringify(snapshot)) as unknown
}
