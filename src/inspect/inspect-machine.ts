import type { AnyEventObject, InspectionEvent as SeenEvent } from 'xstate'

import type { loopMachine } from '../../machines/loop.machine.ts'
import { microstepTransitions, transitionKeys } from '../chart/transition-keys.ts'
import type { Clock } from '../clock.ts'
import { describeRun, describeStep, type SnapshotParts } from './describe-step.ts'
import { guarded } from './guarded.ts'
import type { Inspect } from './inspection-event.ts'
import { chartEvent, type ChartEvent } from './step-reader.ts'
import { ENTRY_IDS } from './transition-recorder.ts'

interface InspectMachineOptions {
  readonly runId: string
  readonly clock: Clock
  readonly inspect: Inspect
}

type Scope = Parameters<typeof loopMachine.getInitialSnapshot>[0]
type ActorSnapshot = ReturnType<typeof loopMachine.getInitialSnapshot>

/**
 * Lets every actor of a machine be inspected, whoever creates it: an actor has its first snapshot made by its machine,
 * and with that comes the system that sees everything the actor does. The machine is changed, not copied, so it must
 * be the caller's own, as what `provide` gives is.
 */
export function inspectMachine(machine: typeof loopMachine, options: InspectMachineOptions): void {
  const first = machine.getInitialSnapshot.bind(machine)
  const restore = machine.restoreSnapshot.bind(machine)
  machine.getInitialSnapshot = (scope, input) => {
    watch(scope, options, ENTRY_IDS)
    return first(scope, input)
  }
  machine.restoreSnapshot = (snapshot, scope) => {
    watch(scope, options, [])
    return restore(snapshot, scope)
  }
}

/** Tells of an actor from before its first transition until it has ended. */
function watch(
  scope: Scope,
  { runId, clock, inspect }: InspectMachineOptions,
  entry: readonly string[],
): void {
  const tell = guarded(inspect)
  const run = { runId, parentId: undefined }
  let transitions = [...entry]
  let seq = 0
  const subscription = scope.system.inspect((seen: SeenEvent) => {
    if (seen.actorRef !== scope.self) return
    for (const transition of microstepTransitions(seen)) transitions.push(...transitionKeys(transition))
    // That an event came says nothing yet: it may have to wait for the one before.
    if (seen.type !== '@xstate.snapshot') return
    const snapshot = partsOf(scope.self.getSnapshot())
    const step = { seq, ts: clock.now(), event: eventOf(seen.event), transitions, snapshot }
    if (seq === 0) tell(describeRun(run, step))
    for (const event of describeStep(run, step)) tell(event)
    seq += 1
    transitions = []
    if (snapshot.status !== 'active') subscription.unsubscribe()
  })
}

function partsOf(snapshot: ActorSnapshot): SnapshotParts {
  const { context, status } = snapshot
  const base = { state: pathOf(snapshot.value), context, children: Object.keys(snapshot.children) }
  switch (status) {
    case 'done':
      return { ...base, status, output: snapshot.output, error: undefined }
    case 'error':
      return { ...base, status, output: undefined, error: plainError(snapshot.error) }
    case 'active':
    case 'stopped':
      return { ...base, status, output: undefined, error: undefined }
  }
}

function pathOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .map(([state, inner]) => `${state}.${pathOf(inner)}`)
    .join('.')
}

function eventOf(event: AnyEventObject): ChartEvent {
  return chartEvent('error' in event ? { ...event, error: plainError(event['error']) } : event)
}

// JSON has nothing to say of an Error.
function plainError(error: unknown): unknown {
  return error instanceof Error ? { name: error.name, message: error.message } : error
}
