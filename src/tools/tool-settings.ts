import type { AnyItem } from '../protocol/items.ts'
import type { JsonObject } from '../protocol/json.ts'

/** Takes a piece of output that a tool shows while it works. It is watched, not sent to the model. */
export type OutputListener = (stream: 'stdout' | 'stderr', chunk: string) => void

/** What the run of an agent came to, that was the work of a call. */
export interface AgentResult {
  /** Names its log. */
  readonly runId: string
  /** The final state: `done`, `limitExceeded`, `failed` or `cancelled`. */
  readonly state: string
  readonly reason: string
  readonly message: string
  readonly text: string
  readonly output: unknown
}

/**
 * Runs an agent as the work of a call: a run with a log of its own, kept where that of the caller is, which ends with
 * it and within what is left of its limits. Called again for the same call, after a crash, it goes on with that run.
 */
export type RunAgent = (agent: object, input: string) => Promise<AgentResult>

/** What a tool gets besides its arguments. */
export interface ToolContext {
  /** Aborted at the deadline and when the run is cancelled. What the tool answers after that is not used. */
  readonly signal: AbortSignal
  readonly callId: string
  /** The same for every attempt at this call: an idempotency key for what the tool calls in turn. */
  readonly key: string
  /** Never throws; does nothing once the call has its outcome. */
  readonly onOutput: OutputListener
  readonly runAgent: RunAgent
}

/** Why a call must be asked about. */
export interface ApprovalNeed {
  /** In one word, for whoever decides: `unsandboxed`, `secret_file`, `protected_file`, or one of your own. */
  readonly reason: string
  /** Only an answer to this very call will do: no rule that allows and no answer for the whole run covers it. */
  readonly isEachTime: boolean
}

/** Something that a call would use: what the rules of a policy are about. */
export type Touch =
  | {
      readonly kind: 'path'
      /** Relative to the workspace, with `/` between names. */
      readonly path: string
      readonly access: 'read' | 'write'
      /** It is a folder, and everything below it is used too. */
      readonly isTree?: boolean
      /** It is a folder, and the names of what is directly in it are shown. */
      readonly isListing?: boolean
    }
  | { readonly kind: 'command'; readonly argv: readonly string[] }

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
  readonly needsApproval?: boolean | ((args: Arguments) => boolean | ApprovalNeed)
  /**
   * What is shown to the person who must agree: the exact command, path or change. The name and the arguments without
   * it, and when it throws.
   */
  readonly preview?: (args: Arguments) => string | Promise<string>
  /** Where calls take effect, such as the path of a folder: an approval holds for that place only. */
  readonly scope?: string
  /**
   * What a call would use, for the rules of a policy: each path by all names that rules may know it by. Without it,
   * every rule that denies or asks about a path or a command fits, and none that allows one.
   */
  readonly touches?: (args: Arguments) => readonly Touch[] | Promise<readonly Touch[]>
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
