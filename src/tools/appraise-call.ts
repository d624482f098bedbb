import { hash } from 'node:crypto'

import { systemClock, type Clock } from '../clock.ts'
import { canonicalJson } from '../protocol/canonical-json.ts'
import type { JsonObject } from '../protocol/json.ts'
import { admitCall, isRefusal, type Admission, type CallRequest, type Refusal } from './admit-call.ts'
import { cutMiddle } from './cut-middle.ts'
import { cutEnd } from './join-faults.ts'
import { startDeadline } from './deadline.ts'
import { describeRule } from './policy/describe-rule.ts'
import type { Policy, PolicyVerdict } from './policy/policy.ts'
import type { Registry } from './registry.ts'
import type { PreparedCall, Tool } from './tool.ts'
import type { ToolChoicePolicy } from './tool-choice-policy.ts'
import type { ApprovalNeed } from './tool-settings.ts'
import { visibleText } from './visible-text.ts'

/** What somebody is asked about a call. */
interface ApprovalQuestion extends ApprovalNeed {
  /** The exact command, path or change, cut visibly where it is long. */
  readonly shown: string
}

/** Plain JSON: what the chart needs to know about a call to plan it. */
export interface CallFacts {
  /** The name of the tool itself, also when the call used an alias; null when there is none. */
  readonly tool: string | null
  /** Set when the call must not run. It then conflicts with nothing and needs no approval. */
  readonly refusal: Refusal | null
  /** Why somebody must agree first, and what they are shown; null: nobody need be asked. */
  readonly approval: ApprovalQuestion | null
  readonly readOnly: boolean
  readonly idempotent: boolean
  /** Names of resources; null: it conflicts with everything. */
  readonly conflicts: readonly string[] | null
  readonly timeoutMs: number
  readonly maxCalls: number | null
  /**
   * SHA-256, in hex, of the tool, its arguments and the place where it takes effect: equal for calls that mean the
   * same, whatever their order of keys and spacing. An approval is bound to it, and a loop without progress is seen
   * by it.
   */
  readonly argumentsHash: string
}

export interface AppraisalOptions {
  readonly clock?: Clock
  /** How long a check of the arguments, or a look at what a person is to be shown, may take; 10,000 without it. */
  readonly checkTimeoutMs?: number
  /** What may be done without asking, and what may not; the tools decide without it. */
  readonly rules?: Policy | null
}

/**
 * Finds out about a call without running it. It never rejects. A `needsApproval` that throws counts as yes, a
 * `conflicts` that throws as everything, a check of arguments that does not end in time as bad arguments.
 */
export async function appraiseCall(
  registry: Registry,
  policy: ToolChoicePolicy,
  call: CallRequest,
  options: AppraisalOptions = NO_OPTIONS,
): Promise<CallFacts> {
  const admission =
    (await inTime(options, admitCall(registry, policy, call))) ?? unchecked(registry, call, options)
  const { tool, verdict } = admission
  if (tool === null || isRefusal(verdict)) return factsOf(call, admission, null)
  const own = verdict.needsApproval()
  const rules = options.rules ?? null
  const ruling = rules === null ? null : await inTime(options, decided(rules, tool, verdict))
  if (ruling === undefined) return factsOf(call, { ...admission, verdict: forbidden(UNKNOWN) }, null)
  if (ruling?.decision === 'deny') return factsOf(call, { ...admission, verdict: forbidden(ruling) }, null)
  const need = needUnder(ruling, own)
  if (need === null) return factsOf(call, admission, null)
  const preview = (await inTime(options, verdict.preview())) ?? `${call.name} ${call.arguments}`
  return factsOf(call, admission, {
    ...need,
    shown: cutMiddle(visibleText(preview), SHOWN_LENGTH_MAX, 'plain'),
  })
}

// What fits on a screen or two; the rest is in the arguments, which the log has.
const SHOWN_LENGTH_MAX = 10_000

/** The model is told what the rule is about, so that it can go another way. */
function forbidden(ruling: PolicyVerdict): Refusal {
  const message = `a rule of this run forbids it: ${describeRule(ruling)}`
  return { outcome: 'not_allowed', message: cutEnd(message, REFUSAL_LENGTH_MAX) }
}

const REFUSAL_LENGTH_MAX = 1000
const UNKNOWN: PolicyVerdict = { decision: 'deny', rule: null }

const NO_OPTIONS: AppraisalOptions = {}
const CHECK_TIMEOUT_MS = 10_000

/** Undefined when it takes too long. What is there at once need not be waited for. */
function inTime<Value>(
  options: AppraisalOptions,
  value: Value | Promise<Value>,
): Value | Promise<Value | undefined> {
  return value instanceof Promise ? raced(options, value) : value
}

async function raced<Value>(
  { clock = systemClock, checkTimeoutMs = CHECK_TIMEOUT_MS }: AppraisalOptions,
  value: Promise<Value>,
): Promise<Value | undefined> {
  const deadline = startDeadline(clock, clock.now() + checkTimeoutMs)
  const settled = await Promise.race([value, deadline.elapsed])
  deadline.clear()
  return settled
}

/** What the rules make of what the tool itself asks for: they can lift a question, but not one that is asked each time. */
function needUnder(ruling: PolicyVerdict | null, own: ApprovalNeed | null): ApprovalNeed | null {
  if (ruling?.decision === 'ask')
    return own?.isEachTime === true ? own : { reason: 'policy', isEachTime: false }
  return ruling?.decision === 'allow' && own?.isEachTime !== true ? null : own
}

async function decided(
  rules: Policy,
  { name, aliases }: Tool,
  call: PreparedCall,
): Promise<PolicyVerdict | null> {
  try {
    return await rules.decide([name, ...aliases], await call.touches())
  } catch {
    return UNKNOWN
  }
}

function unchecked(
  registry: Registry,
  call: CallRequest,
  { checkTimeoutMs = CHECK_TIMEOUT_MS }: AppraisalOptions,
): Admission {
  const message = `they could not be checked within ${checkTimeoutMs} ms`
  return {
    tool: registry.resolve(call.name),
    value: null,
    verdict: { outcome: 'bad_arguments', message },
  }
}

function factsOf(
  call: CallRequest,
  { tool, value, verdict }: Admission,
  approval: ApprovalQuestion | null,
): CallFacts {
  return {
    tool: tool?.name ?? null,
    refusal: isRefusal(verdict) ? verdict : null,
    approval,
    readOnly: tool?.readOnly ?? false,
    idempotent: tool?.idempotent ?? false,
    conflicts: isRefusal(verdict) ? [] : verdict.conflicts(),
    timeoutMs: tool?.timeoutMs ?? 0,
    maxCalls: tool?.maxCalls ?? null,
    argumentsHash: hashCall(call, tool, value),
  }
}

/** What an approval is bound to: the list of what is said, as canonical JSON. */
export function hashCall(call: CallRequest, tool: Tool | null, value: JsonObject | null): string {
  const name = JSON.stringify(tool?.name ?? call.name)
  const said = value === null ? `null,${canonicalJson(call.arguments)}` : canonicalJson(value)
  const scope = tool?.scope == null ? '' : `,${JSON.stringify(tool.scope)}`
  // As JSON text half a surrogate pair is an escape; hashed as UTF-8, all of them would be the same.
  return hash('sha256', `[${name},${said}${scope}]`)
}
