import type { CallFacts, Outcome } from '../../machines/loop.types.ts'
import type { AnyItem } from '../protocol/items.ts'
import type { JsonObject } from '../protocol/json.ts'

interface ToolCall {
  readonly callId: string
  readonly name: string
  readonly arguments: string
}

interface AppraisedCall extends ToolCall {
  readonly facts: CallFacts
}

/** What a call gave. */
interface ToolRunResult {
  readonly outcome: Outcome
  readonly output: string | readonly JsonObject[]
  readonly exitCode: number | null
  readonly artifacts: readonly JsonObject[]
  readonly error: { readonly code: string; readonly message: string } | null
  readonly durationMs: number
}

/** What the run of an agent came to, that was the work of a call. */
export interface AgentRunResult {
  readonly runId: string
  readonly state: string
  readonly reason: string
  readonly message: string
  readonly text: string
  readonly output: unknown
}

interface ToolRunOptions {
  /** The same for every attempt at one call. */
  readonly key: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly onOutput: (stream: 'stdout' | 'stderr', chunk: string) => void
  /** A tool answered after its call had been settled without it; nobody uses what it said. */
  readonly onLate: (outcome: Outcome) => void
  /**
   * Runs an agent as the work of the call, until the signal is aborted. Rejects for what is no agent. Without it, no call
   * can have a run of its own.
   */
  readonly runAgent?:
    | ((agent: object, input: string, signal: AbortSignal) => Promise<AgentRunResult>)
    | undefined
}

/** What the loop needs of tools, whatever they are. */
export interface ToolPort {
  /** As declared to the model, in a fixed order. */
  readonly definitions: readonly JsonObject[]
  /** The names of those that change nothing; nothing is known without it. */
  readonly readOnlyTools?: readonly string[]
  /** The call that an item of another type stands for, when a tool claims that type. */
  readonly claim: (item: AnyItem) => Pick<ToolCall, 'name' | 'arguments'> | null
  /** What is known of a call before it runs. Never rejects. */
  readonly appraise: (call: ToolCall, isChoiceSatisfied: boolean) => Promise<CallFacts>
  /** Runs a call. Never rejects: whatever happens is an outcome. */
  readonly run: (call: AppraisedCall, options: ToolRunOptions) => Promise<ToolRunResult>
  /** What the model is told about a call that did not run. */
  readonly answerText: (outcome: Outcome, tool: string, detail: string | null) => string
}
