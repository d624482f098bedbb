import type {
  CompactOutput,
  ContinuityMode,
  LoopLimits,
  LoopSettings,
  RespondInput,
} from '../../machines/loop.types.ts'
import type { AnyItem } from '../protocol/items.ts'
import type { ValidationProfile } from '../protocol/validation-profile.ts'
import type { Clock } from '../clock.ts'
import type { StreamLimits } from '../stream/stream-limits.ts'
import type { RequestPlan } from './build-request.ts'
import type { Model } from './model.ts'
import type { OutputCheck } from './structured-output.ts'
import type { ToolPort } from './tool-port.ts'

export interface RetryPolicy {
  /** How often one request may be sent again. */
  readonly times: number
  /** The first wait at most; it doubles with each attempt. */
  readonly waitMs: number
  readonly waitMaxMs: number
  /** A provider that asks for a longer wait than this suspends the run. */
  readonly suspendAfterMs: number
}

/** Everything a run needs besides its input: made once, used by any number of runs. */
export interface Agent {
  /** In the order in which they are asked. */
  readonly models: readonly Model[]
  /** Errors after which the next model is asked, by code. */
  readonly fallbackOn: ReadonlySet<string>
  readonly tools: ToolPort
  readonly clock: Clock
  /** From 0 up to 1. */
  readonly random: () => number
  readonly retry: RetryPolicy
  readonly profile: ValidationProfile | null
  readonly streamLimits: Partial<StreamLimits>
  readonly settings: LoopSettings
  readonly continuity: ContinuityMode | 'auto'
  /** How long a run may take; null: any time. */
  readonly wallTimeMs: number | null
  /** What requests are made from, as data: for the log, so that they can be made again without the agent. */
  readonly description: AgentDescription
  readonly buildRequest: (input: RespondInput) => {
    readonly text: string
    readonly warnings: readonly string[]
  }
  readonly checkOutput: OutputCheck | null
  readonly compact: ((items: readonly AnyItem[], signal: AbortSignal) => Promise<CompactOutput>) | null
}

/** An agent as its log knows it. */
export interface AgentDescription {
  /** The same for agents that would send the same requests and run the same tools by name. */
  readonly fingerprint: string
  /** One for each model, in order. */
  readonly plans: readonly Omit<RequestPlan, 'answerText'>[]
  /** How the output of each tool is written, by name and alias. */
  readonly encodings: Readonly<Record<string, string>>
}

export const DEFAULT_LIMITS: LoopLimits = {
  turns: 50,
  toolCalls: 32,
  tokens: null,
  noProgress: 3,
  callsPerResponse: 64,
}
