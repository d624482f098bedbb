import type { LoopContext, LoopOutput } from '../../machines/loop.types.ts'
import type { ChartEvent } from './step-reader.ts'

/**
 * One event of an inspection stream. All but the microsteps are spelled as @statelyai/inspect spells them, so that its
 * clients and servers take them as their own.
 */
export type InspectionEvent = StatelyEvent | MicrostepInspection

/** What the Stately inspector knows. */
export type StatelyEvent = ActorInspection | EventInspection | SnapshotInspection

/** Takes the events of a stream, one by one. */
export type Inspect = (event: InspectionEvent) => void

interface InspectionBase {
  /** The run. */
  readonly sessionId: string
  /** The run itself, or the one whose call it is the work of. */
  readonly rootId: string
  /** Milliseconds since 1970, in digits. */
  readonly createdAt: string
  /** Names the event: the same whenever the stream is made from the same log. */
  readonly id: string
  /** The version of @statelyai/inspect that this is spelled as. */
  readonly _version: string
}

/** A run begins. It comes once, before everything else about the run, and has the chart. */
export interface ActorInspection extends InspectionBase {
  readonly type: '@xstate.actor'
  readonly name: string
  /** The chart as JSON. */
  readonly definition: string
  readonly parentId: string | undefined
  readonly snapshot: InspectedSnapshot
}

/** Something that the chart was told. */
export interface EventInspection extends InspectionBase {
  readonly type: '@xstate.event'
  readonly event: ChartEvent
  readonly sourceId: string | undefined
}

/** Where that left the run. */
export interface SnapshotInspection extends InspectionBase {
  readonly type: '@xstate.snapshot'
  readonly event: ChartEvent
  readonly snapshot: InspectedSnapshot
}

/** How it got there: also the states that it only passed through, which a snapshot does not show. */
export interface MicrostepInspection extends InspectionBase {
  readonly type: '@loopchart.microstep'
  /** The transitions taken, in order, by their ids in the chart's layout. */
  readonly transitions: readonly string[]
}

/** A run at one moment, as XState writes a snapshot to JSON. */
export type InspectedSnapshot = {
  readonly value: StateValue
  readonly context: LoopContext
  /** The effects at work, by id. */
  readonly children: Readonly<Record<string, { readonly id: string; readonly xstate$$type: 1 }>>
  readonly historyValue: Readonly<Record<string, never>>
  readonly tags: readonly string[]
} & InspectedStatus

export type InspectedStatus =
  | { readonly status: 'active' | 'stopped'; readonly output: undefined; readonly error: undefined }
  | { readonly status: 'done'; readonly output: LoopOutput; readonly error: undefined }
  | { readonly status: 'error'; readonly output: undefined; readonly error: unknown }

/** A state within states, as XState spells it: `{ working: { responding: 'streaming' } }`. */
export type StateValue = string | { readonly [state: string]: StateValue }
