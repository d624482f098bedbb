import type { LoopContext, LoopOutput } from '../../machines/loop.types.ts'

/** A run as the chart sees it at one moment: plain data. */
export type LoopSnapshot = {
  /** The one leaf that is active, as a dotted path: the chart has no parallel states. */
  readonly state: string
  readonly context: LoopContext
  /** Effects that were started and not stopped, by id. */
  readonly children: readonly string[]
} & (
  | { readonly status: 'active'; readonly output: undefined; readonly error: undefined }
  | { readonly status: 'done'; readonly output: LoopOutput; readonly error: undefined }
  | { readonly status: 'error'; readonly output: undefined; readonly error: unknown }
)
