import type { RespondInput } from '../../machines/loop.types.ts'
import { LoopchartError } from '../errors.ts'
import type { ToolChoiceParam, ToolChoiceValueEnum } from '../protocol/generated/openresponses.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'

/** A tool choice as the protocol spells it. */
export type ToolChoice = ToolChoiceParam

/** A tool choice as users write it. */
export type ToolChoiceInput =
  | ToolChoice
  | { readonly type: 'function'; readonly function: { readonly name: string } }

export interface ParsedToolChoice {
  readonly toolChoice: ToolChoice
  /** What was understood although the protocol spells it in another way. */
  readonly warnings: readonly string[]
}

/** Which tools a call may use; the shape that the tools' own check takes. */
export interface ToolChoicePolicy {
  readonly mode: ToolChoiceValueEnum
  /** Null for all. */
  readonly allowed: readonly string[] | null
}

// Open Responses, AllowedToolsParam.
const ALLOWED_TOOLS_MAX = 128

/**
 * Reads a tool choice, `auto` when there is none. The nested shape of Chat Completions is taken with a warning.
 * `allowed_tools` that leaves nothing, by an empty list or by its mode, is `none`: the schema asks for one tool at
 * least, and real providers know no such mode. Throws `agent_invalid`, also for a name that is not in `toolNames`.
 */
export function parseToolChoice(choice: unknown, toolNames: readonly string[] | null): ParsedToolChoice {
  if (choice === undefined || choice === null) return { toolChoice: 'auto', warnings: [] }
  if (isMode(choice)) return { toolChoice: choice, warnings: [] }
  if (!isJsonObject(choice)) throw refusal('must be auto, none, required or an object')
  switch (choice['type']) {
    case 'function': {
      const name = readName(choice, 'toolChoice', toolNames)
      const warnings = isNested(choice) ? [nestedWarning('toolChoice')] : []
      return { toolChoice: { type: 'function', name }, warnings }
    }
    case 'allowed_tools':
      return parseAllowedTools(choice, toolNames)
    default:
      throw refusal('must have the type function or allowed_tools', 'toolChoice.type')
  }
}

/**
 * The choice with only the tools that may be called. Throws `agent_invalid` when it forces one that may not, and when
 * there are more of them than a request can name.
 */
export function narrowToolChoice(choice: ToolChoice, names: readonly string[]): ToolChoice {
  if (choice === 'none' || names.length === 0) return 'none'
  if (typeof choice !== 'string' && choice.type === 'function') {
    if (names.includes(choice.name)) return choice
    throw refusal(`forces ${choice.name}, which may not be used: what it works on is not trusted`)
  }
  const mode = typeof choice === 'string' ? choice : (choice.mode ?? 'auto')
  const wanted = typeof choice === 'string' ? names : choice.tools.map(({ name }) => name)
  const allowed = wanted.filter((name) => names.includes(name))
  if (allowed.length === 0) return 'none'
  if (allowed.length > ALLOWED_TOOLS_MAX) {
    throw refusal(`names ${allowed.length} tools, at most ${ALLOWED_TOOLS_MAX} can be named; leave trust out`)
  }
  return { type: 'allowed_tools', mode, tools: allowed.map((name) => ({ type: 'function', name }) as const) }
}

/** The choice for one request: a forced one is free once it was followed, and a last word calls for nothing. */
export function toolChoiceFor(
  choice: ToolChoice,
  isSticky: boolean,
  { kind, isChoiceSatisfied }: Pick<RespondInput, 'kind' | 'isChoiceSatisfied'>,
): ToolChoice {
  if (kind === 'wrap_up') return 'none'
  if (!isChoiceSatisfied || isSticky) return choice
  if (choice === 'required') return 'auto'
  if (typeof choice === 'string') return choice
  return choice.type === 'function' ? 'auto' : { ...choice, mode: 'auto' }
}

/** The same choice for whoever checks the calls that come back: providers do not always keep to it. */
export function toolChoicePolicy(choice: ToolChoice): ToolChoicePolicy {
  if (typeof choice === 'string') return { mode: choice, allowed: null }
  if (choice.type === 'function') return { mode: 'required', allowed: [choice.name] }
  return { mode: choice.mode ?? 'auto', allowed: choice.tools.map(({ name }) => name) }
}

function parseAllowedTools(choice: JsonObject, toolNames: readonly string[] | null): ParsedToolChoice {
  const { mode = 'auto', tools } = choice
  if (!isMode(mode)) throw refusal('must be auto, none or required', 'toolChoice.mode')
  if (!Array.isArray(tools)) throw refusal('must be a list of tools', 'toolChoice.tools')
  if (tools.length > ALLOWED_TOOLS_MAX)
    throw refusal(`must have at most ${ALLOWED_TOOLS_MAX} tools`, 'toolChoice.tools')
  const warnings: string[] = []
  const names = tools.map((tool: unknown, index) => {
    const field = `toolChoice.tools[${index}]`
    if (!isJsonObject(tool) || tool['type'] !== 'function') throw refusal('must be of type function', field)
    if (isNested(tool)) warnings.push(nestedWarning(field))
    return readName(tool, field, toolNames)
  })
  if (mode === 'none' || names.length === 0) return { toolChoice: 'none', warnings }
  const allowed = [...new Set(names)].map((name) => ({ type: 'function', name }) as const)
  // OpenAI asks for the mode although the schema does not.
  return { toolChoice: { type: 'allowed_tools', mode, tools: allowed }, warnings }
}

function isMode(value: unknown): value is ToolChoiceValueEnum {
  return value === 'auto' || value === 'none' || value === 'required'
}

function isNested(choice: JsonObject): boolean {
  return choice['name'] === undefined && isJsonObject(choice['function'])
}

function readName(choice: JsonObject, field: string, toolNames: readonly string[] | null): string {
  const holder = isNested(choice) ? choice['function'] : choice
  const name = isJsonObject(holder) ? holder['name'] : undefined
  if (typeof name !== 'string' || name === '') throw refusal('must be the name of a tool', `${field}.name`)
  if (toolNames !== null && !toolNames.includes(name))
    throw refusal(`names a tool that is not there: ${JSON.stringify(name.slice(0, 64))}`, `${field}.name`)
  return name
}

function nestedWarning(field: string): string {
  return `${field}: the nested form { function: { name } } of chat completions was read as { name }`
}

function refusal(complaint: string, field = 'toolChoice'): LoopchartError {
  return new LoopchartError('agent_invalid', `${field} ${complaint}`)
}
