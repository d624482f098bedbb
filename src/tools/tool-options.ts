import { LoopchartError } from '../errors.ts'
import { findUnsendable } from '../protocol/find-unsendable.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { quoted } from './quoted.ts'

const NAME = /^[a-zA-Z0-9_-]{1,64}$/

const KNOWN_OPTIONS: ReadonlySet<string> = new Set([
  'name',
  'description',
  'inputSchema',
  'parameters',
  'execute',
  'needsApproval',
  'preview',
  'scope',
  'touches',
  'readOnly',
  'idempotent',
  'timeoutMs',
  'conflicts',
  'maxCalls',
  'aliases',
  'strict',
  'outputEncoding',
  'claims',
  'claimArguments',
])

// The loop gives these a meaning of its own.
const UNCLAIMABLE: ReadonlySet<unknown> = new Set([
  'function_call',
  'function_call_output',
  'message',
  'reasoning',
])

/** Throws `tool_invalid` at the first option that cannot be used, naming the tool and the option. */
export function checkToolOptions(options: Readonly<Record<string, unknown>>): void {
  const { name, description, execute, inputSchema, parameters, outputEncoding } = options
  if (!isName(name)) {
    const shown = typeof name === 'string' ? quoted(name) : typeof name
    throw new LoopchartError('tool_invalid', `tool name must match ${NAME.source}, it is ${shown}`)
  }
  for (const option of Object.keys(options)) {
    need(name, KNOWN_OPTIONS.has(option), `there is no option ${quoted(option)}`)
  }
  need(name, typeof description === 'string' && description.trim() !== '', 'description must not be empty')
  need(name, typeof execute === 'function', 'execute must be a function')
  need(name, inputSchema !== undefined || parameters !== undefined, 'inputSchema is missing')
  const isOneSchema = inputSchema === undefined || parameters === undefined
  need(name, isOneSchema, 'parameters is another name of inputSchema, give one of them')
  for (const option of ['readOnly', 'idempotent', 'strict']) {
    need(name, isOneOf(options[option], 'boolean'), `${option} must be a boolean`)
  }
  const { needsApproval, preview, scope, touches, timeoutMs, maxCalls } = options
  need(name, isOneOf(preview, 'function'), 'preview must be a function')
  need(name, isOneOf(touches, 'function'), 'touches must be a function')
  need(name, isOneOf(scope, 'string'), 'scope must be a text')
  need(name, isOneOf(needsApproval, 'boolean', 'function'), 'needsApproval must be a boolean or a function')
  const isTimeout = timeoutMs === undefined || (Number.isFinite(timeoutMs) && Number(timeoutMs) > 0)
  need(name, isTimeout, 'timeoutMs must be a number above 0')
  const isCount = maxCalls === undefined || (Number.isSafeInteger(maxCalls) && Number(maxCalls) > 0)
  need(name, isCount, 'maxCalls must be a whole number above 0')
  const isEncoding = [undefined, 'envelope', 'raw'].some((encoding) => encoding === outputEncoding)
  need(name, isEncoding, "outputEncoding must be 'envelope' or 'raw'")
  checkNames(name, options)
}

function checkNames(name: string, { aliases, conflicts, claims, claimArguments }: JsonLike): void {
  need(name, aliases === undefined || isListOf(aliases, isName), `aliases must match ${NAME.source}`)
  const areConflicts =
    conflicts === undefined || typeof conflicts === 'function' || isListOf(conflicts, isText)
  need(name, areConflicts, 'conflicts must be a list of texts or a function')
  need(name, claims === undefined || isListOf(claims, isText), 'claims must be a list of item types')
  if (Array.isArray(claims)) {
    for (const type of claims) {
      need(name, !UNCLAIMABLE.has(type), `claims cannot take over items of type ${String(type)}`)
    }
  }
  const isPair = (claims === undefined) === (claimArguments === undefined)
  need(name, isPair, 'claims and claimArguments are given together')
  need(name, isOneOf(claimArguments, 'function'), 'claimArguments must be a function')
}

/** A plain copy of a schema that describes an object; throws `tool_invalid` when it is none. */
export function checkToolSchema(name: string, schema: unknown): JsonObject {
  const unsendable = findUnsendable(schema)
  if (unsendable !== null) {
    throw new LoopchartError('tool_invalid', `tool ${name}: inputSchema is not JSON: ${unsendable}`)
  }
  const copy: unknown = JSON.parse(JSON.stringify(schema))
  if (!isJsonObject(copy) || copy['type'] !== 'object') {
    throw new LoopchartError('tool_invalid', `tool ${name}: inputSchema must describe an object`)
  }
  return freezeDeeply(copy)
}

/** Throws `tool_invalid` about one tool unless the condition holds. */
export function need(name: string, condition: boolean, complaint: string): void {
  if (!condition) throw new LoopchartError('tool_invalid', `tool ${name}: ${complaint}`)
}

/** Freezes JSON, so that what was declared to a model cannot change between two requests. */
export function freezeDeeply<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) freezeDeeply(member)
    Object.freeze(value)
  }
  return value
}

type JsonLike = Readonly<Record<string, unknown>>

function isName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value)
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function isListOf(value: unknown, test: (entry: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every((entry) => test(entry)) && new Set(value).size === value.length
}

function isOneOf(value: unknown, ...types: readonly string[]): boolean {
  return value === undefined || types.includes(typeof value)
}
