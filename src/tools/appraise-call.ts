import { hash } from 'node:crypto'

import type { JsonObject } from '../protocol/json.ts'
import { admitCall, isRefusal, type Admission, type CallRequest, type Refusal } from './admit-call.ts'
import { canonicalJson } from './canonical-json.ts'
import { systemClock, type Clock } from '../clock.ts'
import { startDeadline } from './deadline.ts'
import type { Registry } from './registry.ts'
import type { ToolChoicePolicy } from './tool-choice-policy.ts'

/** Plain JSON: what the chart needs to know about a call to plan it. */
export interface CallFacts {
  /** The name of the tool itself, also when the call used an alias; null when there is none. */
  readonly tool: string | null
  /** Set when the call must not run. It then conflicts with nothing and needs no approval. */
  readonly refusal: Refusal | null
  readonly needsApproval: boolean
  readonly readOnly: boolean
  readonly idempotent: boolean
  /** Names of resources; null: it conflicts with everything. */
  readonly conflicts: readonly string[] | null
  readonly timeoutMs: number
  readonly maxCalls: number | null
  /**
   * SHA-256, in hex, of the tool and its arguments: equal for calls that mean the same, whatever their order
   * of keys and spacing. An approval is bound to it, and a loop without progress is seen by it.
   */
  readonly argumentsHash: string
}

export interface AppraisalOptions {
  readonly clock?: Clock
  /** How long an asynchronous check of the arguments may take; 10,000 without it. */
  readonly checkTimeoutMs?: number
}

/**
 * Finds out about a call without running it. It never rejects. A `needsApproval` that throws counts as yes, a
 * `conflicts` that throws as everything, a check of arguments that does not end in time as bad arguments.
 */
export async function appraiseCall(
  registry: Registry,
  policy: ToolChoicePolicy,
  call: CallRequest,
  { clock = systemClock, checkTimeoutMs = 10_000 }: AppraisalOptions = {},
): Promise<CallFacts> {
  const admitted = admitCall(registry, policy, call)
  if (!(admitted instanceof Promise)) return factsOf(call, admitted)
  const deadline = startDeadline(clock, clock.now() + checkTimeoutMs)
  const admission = await Promise.race([admitted, deadline.elapsed])
  deadline.clear()
  return factsOf(call, admission ?? unchecked(registry, call, checkTimeoutMs))
}

function unchecked(registry: Registry, call: CallRequest, checkTimeoutMs: number): Admission {
  const message = `they could not be checked within ${checkTimeoutMs} ms`
  return {
    tool: registry.resolve(call.name),
    value: null,
    verdict: { outcome: 'bad_arguments', message },
  }
}

function factsOf(call: CallRequest, { tool, value, verdict }: Admission): CallFacts {
  const refusal = isRefusal(verdict) ? verdict : null
  return {
    tool: tool?.name ?? null,
    refusal,
    needsApproval: isRefusal(verdict) ? false : verdict.needsApproval(),
    readOnly: tool?.readOnly ?? false,
    idempotent: tool?.idempotent ?? false,
    conflicts: isRefusal(verdict) ? [] : verdict.conflicts(),
    timeoutMs: tool?.timeoutMs ?? 0,
    maxCalls: tool?.maxCalls ?? null,
    argumentsHash: hashCall(tool?.name ?? call.name, value, call.arguments),
  }
}

// As JSON text half a surrogate pair is an escape; hashed as UTF-8, all of them would be the same.
function hashCall(name: string, value: JsonObject | null, text: string): string {
  return hash('sha256', value === null ? canonicalJson([name, null, text]) : canonicalJson([name, value]))
}
