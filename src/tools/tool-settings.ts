import type { AnyItem } from '../protocol/items.ts'
import type { JsonObject } from '../protocol/json.ts'

/** Takes a piece of output that a tool shows while it works. It is watched, not sent to the model. */
export type OutputListener = (stream: 'stdout' | 'stderr', chunk: string) => void

/** What a tool gets besides its arguments. */
export interface ToolContext {
  /** Aborted at the deadline and when the run is cancelled. What the tool answers after that is not used. */
  readonly signal: AbortSignal
  readonly callId: string
  /** The same for every attempt at this call: an idempotency key for what the tool calls in turn. */
  readonly key: string
  /** Never throws; does nothing once the call has its outcome. */
  readonly onOutput: OutputListener
}

/** How a tool is described to the model, and what the loop may assume about it. */
export interface ToolSettings<Arguments> {
  /** What the model calls it by: 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string
  readonly description: string
  /**
   * Does the work. A value goes to the model as it is (text) or as JSON; `toolResult` says more. Throwing is
   * an answer like any other: the model is told the message, and the run goes on.
   */
  readonly execute: (args: Arguments, context: ToolContext) => unknown
  /** Whether a person must agree first; false without it. A function that throws counts as yes. */
  readonly needsApproval?: boolean | ((args: Arguments) => boolean)
  /** It changes nothing: it may run again after a crash, and beside any other that changes nothing. */
  readonly readOnly?: boolean
  /** Running it twice with the same key is as good as once: it may run again after a crash. */
  readonly idempotent?: boolean
  /** How long one call may take; 120,000 without it. */
  readonly timeoutMs?: number
  /**
   * The resources it uses, by names of your own; calls that share one do not run side by side. Without it, a
   * `readOnly` tool conflicts with nothing and any other with everything.
   */
  readonly conflicts?: readonly string[] | ((args: Arguments) => readonly string[])
  /** How many times one run may call it; without it, as often as the limits of the run allow. */
  readonly maxCalls?: number
  /** More names for it, each declared to the model as a function of its own. */
  readonly aliases?: readonly string[]
  /** Declares the schema in its strict form, which a provider can hold the model to. */
  readonly strict?: boolean
  /** `envelope` (default): a JSON object with stdout, stderr and exit code. `raw`: what `execute` gave. */
  readonly outputEncoding?: OutputEncoding
  /** Types of output items other than `function_call` that are calls of this tool. */
  readonly claims?: readonly string[]
  /** Makes arguments of such an item. Given with `claims`. */
  readonly claimArguments?: (item: AnyItem) => JsonObject
}

export type OutputEncoding = 'envelope' | 'raw'

/** The settings with the schema of the arguments, which has two names. */
export type ToolOptions<Arguments, Schema> = ToolSettings<Arguments> &
  (
    | { readonly inputSchema: Schema; readonly parameters?: undefined }
    | { readonly parameters: Schema; readonly inputSchema?: undefined }
  )
