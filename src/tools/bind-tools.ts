import type { CallRequest } from './admit-call.ts'
import { appraiseCall, type AppraisalOptions, type CallFacts } from './appraise-call.ts'
import { systemClock, type Clock } from '../clock.ts'
import { encodeFailure, encodeValue, type ModelOutput, type OutputForm } from './encode-output.ts'
import type { FailedOutcome } from './outcome-text.ts'
import { createRegistry, type ClaimedCall, type FunctionDefinition } from './registry.ts'
import {
  refuseCall,
  runCall,
  type CallHost,
  type CallResult,
  type RunCallOptions,
  type RunnableCall,
} from './run-call.ts'
import type { Policy } from './policy/policy.ts'
import type { AnyItem } from '../protocol/items.ts'
import type { Tool } from './tool.ts'
import type { ToolChoicePolicy } from './tool-choice-policy.ts'

export interface BindOptions {
  /** Which calls may run; all of them without it. */
  readonly policy?: ToolChoicePolicy
  readonly clock?: Clock
  /** What may be done without asking, and what may not; the tools decide without it. */
  readonly rules?: Policy | null
}

/** The tools of an agent as a loop uses them: what is declared, and what can be done with a call. */
export interface BoundTools {
  /** The same bytes in every request. */
  readonly definitions: readonly FunctionDefinition[]
  readonly names: readonly string[]
  /** Never rejects, runs nothing. */
  readonly appraise: (call: CallRequest) => Promise<CallFacts>
  /** Never rejects. */
  readonly run: (call: CallRequest, options: RunCallOptions & RunSettings) => Promise<CallResult>
  /** What a call comes to that was forbidden before it ran. */
  readonly refuse: (call: CallRequest, refusal: ForbiddenCall) => CallResult
  /** The output for a call that has none of its own: it was denied, cut off, over a limit. */
  readonly answerText: (outcome: FailedOutcome | 'ok', tool: string, detail: string | null) => string
  readonly claim: (item: AnyItem) => ClaimedCall | null
}

type RunSettings = Omit<RunnableCall, keyof CallRequest>

/** Why a call was forbidden. */
interface ForbiddenCall {
  readonly message: string
}

const ANY_CALL: ToolChoicePolicy = { mode: 'auto', allowed: null }

/** Puts tools together for a loop. Throws `tool_invalid` when they cannot be. */
export function bindTools(
  tools: readonly Tool[],
  { policy = ANY_CALL, clock = systemClock, rules = null }: BindOptions = {},
): BoundTools {
  const registry = createRegistry(tools)
  const host: CallHost = { registry, policy, clock }
  const appraisal: AppraisalOptions = { clock, rules }
  return {
    definitions: registry.definitions,
    names: registry.names,
    appraise: (call) => appraiseCall(registry, policy, call, appraisal),
    run: (call, options) => runCall(host, runnable(call, options), options),
    refuse: (call, { message }) => refuseCall(registry, call, { outcome: 'not_allowed', message }),
    answerText: (outcome, tool, detail) => {
      const encoding = registry.resolve(tool)?.outputEncoding ?? 'envelope'
      const form: OutputForm = { tool: tool.slice(0, 64), encoding }
      return outcome === 'ok'
        ? textOf(encodeValue(form, '').output)
        : encodeFailure(form, outcome, detail ?? '')
    },
    claim: registry.claim,
  }
}

function runnable(call: CallRequest, { key, timeoutMs, approvedHash }: RunSettings): RunnableCall {
  const { callId, name, arguments: text } = call
  return { callId, name, arguments: text, key, timeoutMs, approvedHash }
}

// Only content parts are no text, and an empty text is none.
function textOf(output: ModelOutput): string {
  return typeof output === 'string' ? output : ''
}
