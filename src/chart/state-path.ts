import type { SnapshotFrom } from 'xstate'

import type { loopMachine } from '../../machines/loop.machine.ts'

/** A run as the chart sees it at one moment. */
export type LoopSnapshot = SnapshotFrom<typeof loopMachine>

/** The one leaf that is active, as a dotted path: the chart has no parallel states. */
export function statePath({ value }: { readonly value: unknown }): string {
  if (typeof value !== 'object' || value === null) return String(value)
  const [entry] = Object.entries(value)
  if (entry === undefined) return ''
  return `${entry[0]}.${statePath({ value: entry[1] })}`
}
