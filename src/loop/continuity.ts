import type { ContinuityMode } from '../../machines/loop.types.ts'

/** What the user asks for; `auto` goes by what the provider can do. */
export type Continuity = ContinuityMode | 'auto'

export interface ContinuityOptions {
  /** Null: not given. */
  readonly continuity: Continuity | null
  /** As the user gave it; null: not given. */
  readonly store: boolean | null
  readonly encryptedReasoning: boolean
  /** Whether the provider keeps responses and continues by their id; null: not known. */
  readonly canContinueById: boolean | null
}

export interface ResolvedContinuity {
  readonly mode: ContinuityMode
  /** Whether the run may turn to stateless once, when the provider says that it cannot continue by id. */
  readonly maySwitchMode: boolean
}

/**
 * How a run carries its conversation. Where nothing is stored, by `store: false` or by encrypted reasoning without
 * `store`, there is nothing to continue from: the mode is `stateless`, and `previous_response_id` asked for beside
 * it gives way instead of being refused, since it is also the default. `store: true` keeps the id. A
 * provider that is known not to continue by id gets the whole conversation, unless the id was asked for by name. Only
 * `auto` may switch. A provider that keeps an unstored response for the
 * time of one connection (WebSocket) is not told apart here.
 */
export function resolveContinuity(options: ContinuityOptions): ResolvedContinuity {
  const { continuity, encryptedReasoning, canContinueById } = options
  const isStored = options.store ?? !encryptedReasoning
  const isAuto = continuity === 'auto'
  const isByCapability = isAuto || continuity === null
  if (continuity === 'stateless' || !isStored || (isByCapability && canContinueById === false))
    return { mode: 'stateless', maySwitchMode: false }
  return { mode: 'previous_response_id', maySwitchMode: isAuto }
}
