import type { JsonObject } from '../protocol/json.ts'
import { cutEnd } from './join-faults.ts'
import { parseArguments, type ArgumentRules } from './parse-arguments.ts'
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
  const parsed = parseArguments(call.arguments, tool?.isEmptyAllowed === true ? EMPTY_ALLOWED : NO_RULES)
  const value = parsed.ok ? parsed.value : null
  if (tool === null) return refused(tool, value, 'unknown_tool', unknownMessage(registry, policy, call.name))
  if (!isAllowed(policy, call.name, tool.name))
    return refused(tool, value, 'not_allowed', notAllowedMessage(registry, policy))
  if (!parsed.ok) return refused(tool, value, 'bad_arguments', parsed.message)
  const prepared = tool.prepare(parsed.value)
  if (prepared instanceof Promise) return prepared.then((checked) => admitted(tool, value, checked))
  return admitted(tool, value, prepared)
}

const EMPTY_ALLOWED: ArgumentRules = { isEmptyAllowed: true }
const NO_RULES: ArgumentRules = {}

function admitted(tool: Tool, value: JsonObject | null, prepared: Preparation): Admission {
  if (!prepared.ok) return refused(tool, value, 'bad_arguments', prepared.message)
  return { tool, value, verdict: prepared.call }
}

function refused(
  tool: Tool | null,
  value: JsonObject | null,
  outcome: Refusal['outcome'],
  message: string,
): Admission {
  return { tool, value, verdict: { outcome, message: cutEnd(message, MESSAGE_LENGTH_MAX) } }
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
