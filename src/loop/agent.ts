import { hash } from 'node:crypto'

import type {
  CompactionWay,
  ContinuityMode,
  LoopLimits,
  LoopSettings,
  RespondInput,
  TokenUsage,
} from '../../machines/loop.types.ts'
import type { AnyItem } from '../protocol/items.ts'
import type { ValidationProfile } from '../protocol/validation-profile.ts'
import type { Clock } from '../clock.ts'
import type { StreamLimits } from '../stream/stream-limits.ts'
import type { BuiltRequest, RequestPlan } from './build-request.ts'
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
  readonly buildRequest: (input: RespondInput) => BuiltRequest
  readonly checkOutput: OutputCheck | null
  readonly compaction: CompactionPort | null
}

/** What of a conversation gives way when it is made shorter: lead, old and kept, one after the other, are its items. */
export interface CompactionPlan {
  readonly lead: readonly AnyItem[]
  readonly old: readonly AnyItem[]
  /** The messages of `old` that are said again as they are, behind what stands for the rest. */
  readonly standing: readonly AnyItem[]
  readonly kept: readonly AnyItem[]
}

/** What the loop needs to make a conversation shorter, whoever thought of it. All but `custom` are pure. */
export interface CompactionPort {
  readonly way: CompactionWay
  /**
   * What gives way; null: nothing that would make it shorter. `usedTokens` is what the provider counted for about these
   * items, null when it did not say.
   */
  readonly plan: (items: readonly AnyItem[], usedTokens: number | null) => CompactionPlan | null
  /** What speaks against carrying a plan out; null: nothing. `usedTokens` as for `plan`. */
  readonly doubt: (plan: CompactionPlan, usedTokens: number | null) => CompactionDoubt | null
  /** The shorter conversation, without asking anybody. */
  readonly byRules: (plan: CompactionPlan) => readonly AnyItem[]
  /** The shorter conversation with a summary that somebody wrote. */
  readonly withSummary: (plan: CompactionPlan, summary: string) => readonly AnyItem[]
  /** What a model is told and asked that is to write the summary. */
  readonly instructions: string
  readonly question: (plan: CompactionPlan) => string
  /** An estimate. */
  readonly countTokens: (items: readonly AnyItem[]) => number
  /** Used instead of all that. */
  readonly custom: CustomCompaction | null
}

/**
 * `gains_little`: it would be back before long, each time with a new beginning of what a provider has cached.
 * `stays_long`: it would be back with the next response, so that it may cost nothing.
 */
export type CompactionDoubt = 'gains_little' | 'stays_long'

/** A way of the user's own. What it gives must keep each call together with its output. */
export type CustomCompaction = (
  items: readonly AnyItem[],
  signal: AbortSignal,
) => Promise<
  | { readonly ok: true; readonly items: readonly AnyItem[]; readonly usage?: TokenUsage | null }
  | { readonly ok: false; readonly message: string }
>

/** An agent as its log knows it. */
export interface AgentDescription {
  /** The same for agents that would send the same requests and run the same tools by name. */
  readonly fingerprint: string
  /** One for each model, in order. */
  readonly plans: readonly Omit<RequestPlan, 'answerText'>[]
  /** How the output of each tool is written, by name and alias. */
  readonly encodings: Readonly<Record<string, string>>
}

/** The fingerprint that an agent of this description has. */
export function fingerprintOf({ plans, encodings }: Omit<AgentDescription, 'fingerprint'>): string {
  return hash('sha256', JSON.stringify([plans, encodings]), 'base64url')
}

export const DEFAULT_LIMITS: LoopLimits = {
  turns: 50,
  toolCalls: 32,
  tokens: null,
  noProgress: 3,
  callsPerResponse: 64,
}
