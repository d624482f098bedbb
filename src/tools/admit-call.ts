import type { JsonObject } from '../protocol/json.ts'
import { cutEnd } from './join-faults.ts'
import { parseArguments } from './parse-arguments.ts'
import { quoted } from './quoted.ts'
import type { Registry } from './registry.ts'
import type { Preparation, PreparedCall, Tool } from './tool.ts'
import { isAllowed, type ToolChoicePolicy } from './tool-choice-policy.ts'

/** A call as the model wrote it. */
export interface CallRequest {
  readonly callId: string
  readonly name: string
  /** The argument text, unchanged. */
  readonly arguments: string
}

/** Why a call will not run. */
export interface Refusal {
  readonly outcome: 'unknown_tool' | 'bad_arguments' | 'not_allowed'
  /** For the model: at most 1,000 characters. */
  readonly message: string
}

/** What is known about a call before it runs: it may, with what, or it may not, and why. */
export interface Admission {
  readonly tool: Tool | null
  /** What the arguments say; null when they are not a JSON object. */
  readonly value: JsonObject | null
  readonly verdict: PreparedCall | Refusal
}

const MESSAGE_LENGTH_MAX = 1000

/** Looks a call up, holds it to the policy and checks its arguments. Runs nothing, never rejects. */
export function admitCall(
  registry: Registry,
  policy: ToolChoicePolicy,
  call: CallRequest,
): Admission | Promise<Admission> {
  const tool = registry.resolve(call.name)
  const parsed = parseArguments(call.arguments, { isEmptyAllowed: tool?.isEmptyAllowed ?? false })
  const value = parsed.ok ? parsed.value : null
  const refuse = (outcome: Refusal['outcome'], message: string): Admission => {
    return { tool, value, verdict: { outcome, message: cutEnd(message, MESSAGE_LENGTH_MAX) } }
  }
  if (tool === null) return refuse('unknown_tool', unknownMessage(registry, policy, call.name))
  if (!isAllowed(policy, call.name, tool.name))
    return refuse('not_allowed', notAllowedMessage(registry, policy))
  if (!parsed.ok) return refuse('bad_arguments', parsed.message)
  const admit = (prepared: Preparation): Admission =>
    prepared.ok ? { tool, value, verdict: prepared.call } : refuse('bad_arguments', prepared.message)
  const prepared = tool.prepare(parsed.value)
  return prepared instanceof Promise ? prepared.then(admit) : admit(prepared)
}

/** Whether a verdict is a no. */
export function isRefusal(verdict: PreparedCall | Refusal): verdict is Refusal {
  return 'outcome' in verdict
}

function unknownMessage(registry: Registry, policy: ToolChoicePolicy, name: string): string {
  const near = registry.names.find((known) => known.toLowerCase() === name.toLowerCase())
  const hint = near === undefined ? '' : `, did you mean ${near}?`
  return `${quoted(name)}${hint}; ${available(registry, policy)}`
}

function notAllowedMessage(registry: Registry, policy: ToolChoicePolicy): string {
  return policy.mode === 'none' ? 'no tool may be called in this turn' : available(registry, policy)
}

function available(registry: Registry, policy: ToolChoicePolicy): string {
  const names = registry.names.filter((name) => {
    const tool = registry.resolve(name)
    return tool !== null && isAllowed(policy, name, tool.name)
  })
  return names.length === 0 ? 'no tools are available' : `available tools: ${names.join(', ')}`
}
