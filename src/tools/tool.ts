import { LoopchartError } from '../errors.ts'
import type { AnyItem } from '../protocol/items.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import {
  jsonSchemaChecker,
  standardChecker,
  type ArgumentChecker,
  type CheckedArguments,
} from './check-arguments.ts'
import { describeThrown } from './describe-thrown.ts'
import { dropAddedNulls } from './drop-added-nulls.ts'
import { joinFaults } from './join-faults.ts'
import { requiredOf } from './schema-node.ts'
import { isStandardSchema, jsonSchemaOf, type StandardSchema } from './standard-schema.ts'
import { strictSchema } from './strict-schema.ts'
import type {
  ApprovalNeed,
  OutputEncoding,
  ToolContext,
  ToolOptions,
  ToolSettings,
  Touch,
} from './tool-settings.ts'
import { checkToolOptions, checkToolSchema, freezeDeeply, need } from './tool-options.ts'

/** A tool that has been checked. Frozen; made by `tool` only. */
export interface Tool {
  readonly name: string
  readonly description: string
  readonly aliases: readonly string[]
  /** JSON Schema as declared to the model. */
  readonly parameters: JsonObject
  readonly strict: boolean
  readonly readOnly: boolean
  readonly idempotent: boolean
  readonly timeoutMs: number
  readonly maxCalls: number | null
  /** Where its calls take effect; null when that does not matter. */
  readonly scope: string | null
  readonly outputEncoding: OutputEncoding
  readonly claims: readonly string[]
  readonly claimArguments: (item: AnyItem) => JsonObject
  /** Whether a call without argument text is one with `{}`: the schema requires no property. */
  readonly isEmptyAllowed: boolean
  /** Checks arguments; the answer is everything that can be asked about a call with them. Never rejects. */
  readonly prepare: (value: JsonObject) => Preparation | Promise<Preparation>
}

export type Preparation =
  | { readonly ok: true; readonly call: PreparedCall }
  | { readonly ok: false; readonly message: string }

/** One call whose arguments are checked. */
export interface PreparedCall {
  /** Null: nobody need be asked. */
  readonly needsApproval: () => ApprovalNeed | null
  /** What a person is shown; null when the tool has nothing better than its name and arguments. Never rejects. */
  readonly preview: () => Promise<string | null> | null
  /** What it would use; null when the tool does not say, `unreadable` when it cannot. Never rejects. */
  readonly touches: () => Promise<readonly Touch[] | 'unreadable' | null>
  /** Null: it conflicts with everything. */
  readonly conflicts: () => readonly string[] | null
  readonly execute: (context: ToolContext) => unknown
}

const TIMEOUT_MS_DEFAULT = 120_000

/**
 * Describes a function to the model and to the loop. `inputSchema` is zod 4, any other Standard Schema that
 * gives JSON Schema, or raw JSON Schema; the arguments of `execute` have its type. Throws `tool_invalid` at
 * once when something about it cannot work.
 */
export function tool<Output>(options: ToolOptions<Output, StandardSchema<Output>>): Tool
export function tool(options: ToolOptions<JsonObject, JsonObject>): Tool
export function tool<Output>(
  options: ToolOptions<Output, StandardSchema<Output>> | ToolOptions<JsonObject, JsonObject>,
): Tool {
  checkToolOptions({ ...options })
  if (hasStandardSchema(options)) {
    const schema = options.inputSchema ?? options.parameters
    return makeTool(options, readJsonSchema(options.name, schema), standardChecker(schema))
  }
  const schema = checkToolSchema(options.name, options.inputSchema ?? options.parameters)
  return makeTool(options, schema, compileChecker(options.name, schema))
}

function hasStandardSchema<Output>(
  options: ToolOptions<Output, StandardSchema<Output>> | ToolOptions<JsonObject, JsonObject>,
): options is ToolOptions<Output, StandardSchema<Output>> {
  return isStandardSchema(options.inputSchema ?? options.parameters)
}

function readJsonSchema(name: string, schema: StandardSchema): JsonObject {
  const given = attempt(name, 'inputSchema cannot be written as JSON Schema', () => jsonSchemaOf(schema))
  const { vendor } = schema['~standard']
  need(name, given !== null, `inputSchema of ${vendor} gives no JSON Schema, use zod 4.2 or raw JSON Schema`)
  // Every request repeats the declaration; the version is no use to a model.
  const { $schema: _, ...rest } = checkToolSchema(name, given)
  return freezeDeeply(rest)
}

function compileChecker(name: string, schema: JsonObject): ArgumentChecker<JsonObject> {
  return attempt(name, 'inputSchema is not valid JSON Schema', () => jsonSchemaChecker(schema))
}

function attempt<Made>(name: string, complaint: string, make: () => Made): Made {
  try {
    return make()
  } catch (cause) {
    throw new LoopchartError('tool_invalid', `tool ${name}: ${complaint}: ${describeThrown(cause)}`, {
      cause,
    })
  }
}

function makeTool<Arguments>(
  settings: ToolSettings<Arguments>,
  schema: JsonObject,
  check: ArgumentChecker<Arguments>,
): Tool {
  const { name, strict = false } = settings
  const prepared = (checked: CheckedArguments<Arguments>): Preparation =>
    checked.ok
      ? { ok: true, call: new ToolCall(settings, checked.value) }
      : { ok: false, message: joinFaults(checked.faults) }
  return Object.freeze({
    name,
    description: settings.description,
    aliases: Object.freeze([...(settings.aliases ?? [])]),
    parameters: strict ? strictly(name, schema) : schema,
    strict,
    readOnly: settings.readOnly ?? false,
    idempotent: settings.idempotent ?? false,
    timeoutMs: settings.timeoutMs ?? TIMEOUT_MS_DEFAULT,
    maxCalls: settings.maxCalls ?? null,
    scope: settings.scope ?? null,
    outputEncoding: settings.outputEncoding ?? 'envelope',
    claims: Object.freeze([...(settings.claims ?? [])]),
    claimArguments: settings.claimArguments ?? (() => ({})),
    isEmptyAllowed: requiredOf(schema).length === 0,
    prepare: (value: JsonObject): Preparation | Promise<Preparation> => {
      try {
        const checked = check(strict ? dropAddedNulls(schema, value) : value)
        return checked instanceof Promise ? checked.then(prepared).catch(uncheckable) : prepared(checked)
      } catch (error) {
        return uncheckable(error)
      }
    },
  })
}

function uncheckable(error: unknown): Preparation {
  return { ok: false, message: joinFaults([`they cannot be checked: ${describeThrown(error)}`]) }
}

function strictly(name: string, schema: JsonObject): JsonObject {
  const strict = strictSchema(schema)
  if (strict.ok) return freezeDeeply(strict.schema)
  const reasons = joinFaults(strict.faults)
  throw new LoopchartError('tool_invalid', `tool ${name}: inputSchema cannot be strict: ${reasons}`)
}

/** Each call is prepared twice, when it is looked at and when it runs: a class, so that this makes one object. */
class ToolCall<Arguments> implements PreparedCall {
  readonly #settings: ToolSettings<Arguments>
  readonly #args: Arguments

  constructor(settings: ToolSettings<Arguments>, args: Arguments) {
    this.#settings = settings
    this.#args = args
  }

  needsApproval(): ApprovalNeed | null {
    const { needsApproval = false } = this.#settings
    if (typeof needsApproval === 'boolean') return needsApproval ? ASKED : null
    try {
      return needOf(needsApproval(this.#args))
    } catch {
      return ASKED
    }
  }

  preview(): Promise<string | null> | null {
    const { preview } = this.#settings
    return preview === undefined ? null : previewOf(() => preview(this.#args))
  }

  async touches(): Promise<readonly Touch[] | 'unreadable' | null> {
    const { touches } = this.#settings
    if (touches === undefined) return null
    try {
      const touched: unknown = await touches(this.#args)
      return areTouches(touched) ? touched : 'unreadable'
    } catch {
      return 'unreadable'
    }
  }

  conflicts(): readonly string[] | null {
    const { conflicts, readOnly = false } = this.#settings
    if (conflicts === undefined) return readOnly ? [] : null
    try {
      return textsOrNull(typeof conflicts === 'function' ? conflicts(this.#args) : conflicts)
    } catch {
      return null
    }
  }

  execute(context: ToolContext): unknown {
    return this.#settings.execute(this.#args, context)
  }
}

const ASKED: ApprovalNeed = { reason: 'tool', isEachTime: false }

/** Anything but a clear no is a yes, also the promise of an async function. */
function needOf(answer: unknown): ApprovalNeed | null {
  if (answer === false) return null
  if (!isJsonObject(answer) || typeof answer['reason'] !== 'string') return ASKED
  return { reason: answer['reason'], isEachTime: answer['isEachTime'] === true }
}

async function previewOf(preview: () => unknown): Promise<string | null> {
  try {
    const shown = await preview()
    return typeof shown === 'string' ? shown : null
  } catch {
    return null
  }
}

function areTouches(value: unknown): value is readonly Touch[] {
  return Array.isArray(value) && value.every((touch) => isTouch(touch))
}

function isTouch(touch: unknown): touch is Touch {
  if (!isJsonObject(touch)) return false
  const { kind, path, access, argv } = touch
  if (kind === 'path') return typeof path === 'string' && (access === 'read' || access === 'write')
  return kind === 'command' && Array.isArray(argv) && argv.every((part) => typeof part === 'string')
}

function textsOrNull(value: unknown): readonly string[] | null {
  if (!Array.isArray(value)) return null
  const texts = value.filter((entry) => typeof entry === 'string')
  return texts.length === value.length ? texts : null
}
