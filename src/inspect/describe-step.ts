import { loopMachine } from '../../machines/loop.machine.ts'
import type { LoopContext } from '../../machines/loop.types.ts'
import { listStates } from '../chart/list-transitions.ts'
import type {
  ActorInspection,
  InspectedSnapshot,
  InspectedStatus,
  InspectionEvent,
  StateValue,
} from './inspection-event.ts'
import type { ChartEvent } from './step-reader.ts'

/** The version of @statelyai/inspect that a stream is spelled as. */
const WIRE_VERSION = '0.7.2'

/** Whom a stream is about. */
export interface InspectedRun {
  readonly runId: string
  /** The run that has it as the work of a call. */
  readonly parentId: string | undefined
}

/** What a stream says of one step. */
interface InspectedStep {
  /** Its number, for the ids of its events. */
  readonly seq: number
  readonly ts: number
  readonly event: ChartEvent
  readonly transitions: readonly string[]
  readonly snapshot: SnapshotParts
}

/** A snapshot in parts: the state as a dotted path, its children by id. */
export type SnapshotParts = {
  readonly state: string
  readonly context: LoopContext
  readonly children: readonly string[]
} & InspectedStatus

/** The event that a stream about a run begins with. */
export function describeRun(run: InspectedRun, { seq, ts, snapshot }: InspectedStep): ActorInspection {
  return {
    type: '@xstate.actor',
    ...baseOf(run, ts, `${seq}/actor`),
    name: loopMachine.id,
    definition: chartDefinition(),
    parentId: run.parentId,
    snapshot: snapshotOf(snapshot),
  }
}

/** The events of one step, in order. */
export function describeStep(run: InspectedRun, step: InspectedStep): readonly InspectionEvent[] {
  const { seq, ts, event, transitions } = step
  const snapshot = snapshotOf(step.snapshot)
  return [
    { type: '@xstate.event', ...baseOf(run, ts, `${seq}/event`), event, sourceId: undefined },
    { type: '@loopchart.microstep', ...baseOf(run, ts, `${seq}/microstep`), transitions },
    { type: '@xstate.snapshot', ...baseOf(run, ts, `${seq}/snapshot`), event, snapshot },
  ]
}

function baseOf(
  { runId, parentId }: InspectedRun,
  ts: number,
  name: string,
): Pick<InspectionEvent, 'sessionId' | 'rootId' | 'createdAt' | 'id' | '_version'> {
  return {
    sessionId: runId,
    rootId: parentId ?? runId,
    createdAt: String(ts),
    id: `${runId}/${name}`,
    _version: WIRE_VERSION,
  }
}

function snapshotOf({ state, children, ...rest }: SnapshotParts): InspectedSnapshot {
  return {
    ...rest,
    value: valueOf(state.split('.')),
    children: Object.fromEntries(children.map((id) => [id, { id, xstate$$type: 1 }])),
    historyValue: {},
    tags: tagsOf(state),
  }
}

function valueOf([state = '', ...inner]: readonly string[]): StateValue {
  return inner.length === 0 ? state : { [state]: valueOf(inner) }
}

/** The tags of a state are also those of the states that it is in. */
function tagsOf(state: string): readonly string[] {
  knownTags ??= new Map(listStates(loopMachine).map((node) => [node.path.join('.'), node.tags]))
  const parts = state.split('.')
  return parts.flatMap((_, at) => knownTags?.get(parts.slice(0, at + 1).join('.')) ?? [])
}

let knownTags: ReadonlyMap<string, readonly string[]> | null = null

/** The chart as JSON, each function by its name. One text for all runs: it is long. */
function chartDefinition(): string {
  definition ??= JSON.stringify(loopMachine.config, (_, value: unknown) =>
    typeof value === 'function' ? { type: value.name } : value,
  )
  return definition
}

let definition: string | null = null
