import type { LoopPath } from '../../src/chart/loop-paths.ts'
import type { StartedEffect } from '../../src/chart/pure-fold.ts'
import type { LoopContext, LoopEmitted, LoopOutput } from '../../machines/loop.types.ts'

/** Where a run is after one event of a path, and what that event set going. */
export interface PathStep {
  readonly state: string
  readonly status: string
  readonly context: LoopContext
  readonly output: LoopOutput | undefined
  readonly started: readonly StartedEffect[]
  /** Effects that were stopped before they had settled. */
  readonly aborted: readonly string[]
  readonly told: readonly LoopEmitted[]
}

/** Something that the chart can run on. */
export interface PathHost {
  readonly name: string
  /** The first step is the start; then there is one for each event of the path. */
  run(path: LoopPath): Promise<readonly PathStep[]>
}

/** The id of the effect that an event settles; null for the events that settle none. */
export function settledId(type: string): string | null {
  return /^xstate\.(?:done|error)\.actor\.(.+)$/.exec(type)?.[1] ?? null
}
