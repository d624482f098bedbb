import { expect, test, vi } from 'vitest'

import { loopMachine } from '../../machines/loop.machine.ts'
import { runningSlots, toolId } from '../../machines/call.rules.ts'
import type { LoopCommand, LoopContext } from '../../machines/loop.types.ts'
import { can } from '../../src/chart/can.ts'
import { explain } from '../../src/chart/explain.ts'
import { loopFold } from '../../src/chart/loop-fold.ts'
import { listStates } from '../../src/chart/list-transitions.ts'
import {
  compactDone,
  drainDone,
  inDoubt,
  rejected,
  respondDone,
  timerDone,
  toolDone,
  type LoopPathEvent,
} from '../../src/chart/loop-events.ts'
import { failure, toolOutput } from '../../src/chart/response-cases.ts'
import { foldedStates, type FoldedState } from './folded-states.ts'

vi.setConfig({ testTimeout: 60_000 })

const STATES = foldedStates()

// Left by an eventless transition in the step that entered them, so no run is ever found there.
const PASSED_THROUGH = new Set(['working.assembling', 'working.executing.choosing', 'working.followingUp'])

test('the paths lead to every leaf state in which a run can be found', () => {
  const leaves = listStates(loopMachine)
    .filter(({ type }) => type === 'atomic' || type === 'final')
    .map(({ path }) => path.join('.'))
    .filter((leaf) => !PASSED_THROUGH.has(leaf))
  expect([...new Set(STATES.map(({ leaf }) => leaf))].sort()).toEqual(leaves.sort())
})

test('from every working state a cancel aborts what runs and ends in cancelled', () => {
  for (const { leaf, snapshot, fold, name } of STATES) {
    if (!leaf.startsWith('working.')) continue
    const stopping = fold.next(snapshot, { type: 'run.cancel' })
    expect(stopping.snapshot.state, name).toBe('stopping')
    expect(stopping.stopped, name).toEqual(
      expect.arrayContaining(['deadline', ...runningSlots(snapshot.context).map(toolId)]),
    )
    const ended = fold.next(stopping.snapshot, drainDone([])).snapshot
    expect([ended.state, ended.output?.reason, ended.status], name).toEqual([
      'cancelled',
      'cancelled',
      'done',
    ])
    expect(ended.context.calls.filter(({ status }) => status === 'running')).toEqual([])
  }
})

test('a stopping run keeps the end that it was told first', () => {
  for (const { leaf, snapshot, fold, name } of STATES) {
    if (leaf !== 'stopping') continue
    const after = fold.next(snapshot, { type: 'run.cancel' }).snapshot
    expect(after.context, name).toEqual(snapshot.context)
    const ended = fold.next(after, drainDone([])).snapshot
    expect(ended.state, name).toBe(snapshot.context.ending?.state)
  }
})

test('an effect that is rejected ends every working state as a bug', () => {
  for (const { leaf, snapshot, fold, name } of STATES) {
    if (!leaf.startsWith('working.')) continue
    const stopping = fold.next(snapshot, rejected('deadline')).snapshot
    const ended = fold.next(stopping, drainDone([])).snapshot
    expect(ended.output, name).toMatchObject({ state: 'failed', reason: 'internal_error' })
  }
})

test('an event that nobody expects changes nothing and starts nothing', () => {
  for (const { leaf, snapshot, fold, name } of STATES) {
    for (const event of unexpectedEvents(leaf, snapshot.context)) {
      const after = fold.next(snapshot, event)
      const seen = {
        ...after,
        snapshot: [after.snapshot.state, after.snapshot.status, after.snapshot.context],
      }
      expect(seen, `${name} > ${event.type}`).toEqual({
        snapshot: [snapshot.state, snapshot.status, snapshot.context],
        entered: [],
        started: [],
        stopped: [],
        told: [],
      })
    }
  }
})

function unexpectedEvents(leaf: string, { calls }: LoopContext): readonly LoopPathEvent[] {
  const isRunning = (slot: number): boolean =>
    leaf === 'working.executing.running' && calls[slot]?.status === 'running'
  const events: readonly (readonly [string, LoopPathEvent])[] = [
    ['working.responding.requesting', { type: 'stream.opened' }],
    ['working.responding', respondDone({ ok: false, error: failure('late'), usage: null })],
    ['working.responding', inDoubt('respond')],
    ['working.backingOff', timerDone('backoff')],
    ['working.compacting', compactDone({ ok: false, message: 'late', usage: null })],
    ['working.compacting', inDoubt('compact')],
    ['working', timerDone('deadline')],
    ['stopping', drainDone([])],
    ['stopping', inDoubt('drain')],
  ]
  return [
    ...events.filter(([where]) => !leaf.startsWith(where)).map(([, event]) => event),
    ...[0, 1, 2, 99].filter((slot) => !isRunning(slot)).map((slot) => toolDone(slot, toolOutput('ok'))),
    ...[0, 1, 2, 99].filter((slot) => !isRunning(slot)).map((slot) => inDoubt(toolId(slot))),
    inDoubt('nobody'),
    { type: 'no.such.event' } as never,
  ]
}

test('the first event of a response moves the run to streaming and does nothing else', () => {
  for (const { leaf, snapshot, fold, name } of STATES) {
    if (leaf !== 'working.responding.requesting') continue
    const after = fold.next(snapshot, { type: 'stream.opened' })
    expect(after.snapshot.state, name).toBe('working.responding.streaming')
    expect(after.snapshot.context, name).toBe(snapshot.context)
    expect([after.started, after.stopped, after.told], name).toEqual([[], [], []])
  }
})

test('a command is refused with a reason exactly where the chart does not take it', () => {
  for (const { snapshot, name } of STATES) {
    for (const { command } of commandsFor(snapshot.context)) {
      const { answer, reason } = can(snapshot, command)
      const where = `${name} > ${JSON.stringify(command)}`
      expect(answer !== 'refused', where).toBe(loopFold().takes(snapshot, command))
      expect(reason === null, where).toBe(answer !== 'refused')
      expect(reason, where).not.toBe('')
    }
  }
})

test('a command that is refused changes nothing, and one that is taken does', () => {
  for (const { snapshot, fold, name } of STATES) {
    for (const { command } of commandsFor(snapshot.context)) {
      const after = fold.next(snapshot, command).snapshot
      const isSame = after.context === snapshot.context && after.state === snapshot.state
      expect(isSame, `${name} > ${JSON.stringify(command)}`).toBe(can(snapshot, command).answer === 'refused')
    }
  }
})

test('every command has its answer in every leaf state, as the table says', async () => {
  await expect(commandTable(STATES)).toMatchFileSnapshot('./commands.snapshot.txt')
})

test('every state is explained, and one that waits says for what', () => {
  for (const { leaf, snapshot, name } of STATES) {
    const explained = explain(snapshot)
    expect(explained.state, name).toBe(leaf)
    expect(explained.doc, name).not.toBe('')
    expect(explained.why, name).not.toBe('')
    expect(explained.waitsFor.length > 0, name).toBe(snapshot.status === 'active')
    expect(explained.can.includes('run.cancel'), name).toBe(
      loopFold().takes(snapshot, { type: 'run.cancel' }),
    )
  }
})

interface LabelledCommand {
  readonly label: string
  readonly command: LoopCommand
}

function commandsFor({ calls, items }: LoopContext): readonly LabelledCommand[] {
  const old = items.find(
    (item) => item.type === 'function_call' && calls.every(({ callId }) => callId !== item['call_id']),
  )
  const duplicates = calls.filter(({ disposition }) => disposition !== 'duplicate')
  return [
    { label: 'run.cancel', command: { type: 'run.cancel' } },
    { label: 'run.steer', command: { type: 'run.steer', text: 'listen' } },
    ...duplicates.flatMap(({ callId, status }) => callCommands(callId, `${status} call`)),
    ...(old === undefined
      ? []
      : callCommands(JSON.stringify(old['call_id']).slice(1, -1), 'call of an earlier response')),
    ...callCommands('call_of_nobody', 'unknown call'),
  ]
}

function callCommands(callId: string, what: string): readonly LabelledCommand[] {
  return [
    { label: `call.approve, ${what}`, command: { type: 'call.approve', callId } },
    { label: `call.deny, ${what}`, command: { type: 'call.deny', callId, reason: 'no' } },
    { label: `call.reconcile, ${what}`, command: { type: 'call.reconcile', callId, as: 'rerun' } },
    {
      label: `call.reconcile, ${what}`,
      command: { type: 'call.reconcile', callId, as: 'done', output: 'x' },
    },
  ]
}

function commandTable(states: readonly FoldedState[]): string {
  const table = new Map<string, Set<string>>()
  for (const { leaf, snapshot } of states) {
    for (const { label, command } of commandsFor(snapshot.context)) {
      const { answer, reason } = can(snapshot, command)
      const text = reason === null ? answer : `${answer}: ${reason.replaceAll(/call_\w+/g, '<id>')}`
      const row = `${leaf} | ${label}`
      table.set(row, (table.get(row) ?? new Set()).add(text))
    }
  }
  const rows = [...table].map(([row, answers]) => `${row} | ${[...answers].sort().join(' / ')}`)
  return `${rows.sort().join('\n')}\n`
}
