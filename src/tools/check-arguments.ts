import { createRequire } from 'node:module'

import type * as ajv from 'ajv'
import type * as ajv2019 from 'ajv/dist/2019.js'
import type * as ajv2020 from 'ajv/dist/2020.js'

import type { CompiledValidator } from '../protocol/compiled-validator.ts'
import { describeFault } from '../protocol/describe-fault.ts'
import { faultText } from '../protocol/fault-text.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import type { StandardIssue, StandardResult, StandardSchema } from './standard-schema.ts'

/** Arguments as the tool takes them, or what is wrong with them. */
export type CheckedArguments<Arguments> =
  | { readonly ok: true; readonly value: Arguments }
  | { readonly ok: false; readonly faults: readonly string[] }

/** Checks arguments against the schema of one tool. It leaves its input as it is. */
export type ArgumentChecker<Arguments> = (
  value: JsonObject,
) => CheckedArguments<Arguments> | Promise<CheckedArguments<Arguments>>

/** The check by a schema of a library. What the library makes of the value is what the tool gets. */
export function standardChecker<Output>(schema: StandardSchema<Output>): ArgumentChecker<Output> {
  const read = (result: StandardResult<Output>): CheckedArguments<Output> => {
    if (result.issues === undefined) return { ok: true, value: result.value }
    return { ok: false, faults: result.issues.map((issue) => standardFault(issue)) }
  }
  return (value) => {
    const result = schema['~standard'].validate(value)
    // Not every library's promise is a Promise.
    return 'then' in result ? Promise.resolve(result).then(read) : read(result)
  }
}

function standardFault({ path, message }: StandardIssue): string {
  const keys = (path ?? []).map((part) => String(typeof part === 'object' ? part.key : part))
  return faultText(keys, `is wrong: ${message}`)
}

/**
 * The check by raw JSON Schema. Nothing is coerced; a default that the schema declares is filled in. Throws
 * what ajv throws when the schema is not one.
 */
export function jsonSchemaChecker(schema: JsonObject): ArgumentChecker<JsonObject> {
  const hasDefaults = JSON.stringify(schema).includes('"default":')
  const validate = compile(schema, false)
  let explain: ajv.ValidateFunction | undefined
  return (value) => {
    // Ajv writes defaults into what it checks.
    const checked = hasDefaults ? structuredClone(value) : value
    if (validate(checked)) return { ok: true, value: checked }
    if (!isSmall(value)) return { ok: false, faults: faultsOf(validate) }
    explain ??= compile(schema, true)
    explain(structuredClone(value))
    return { ok: false, faults: faultsOf(explain) }
  }
}

// All errors of a large value would take a multiple of its memory.
function isSmall(value: Json): boolean {
  return JSON.stringify(value).length <= 65_536
}

function faultsOf(validate: ajv.ValidateFunction): readonly string[] {
  const faults = (validate.errors ?? []).map((error) => ajvFault(error))
  return faults.length === 0 ? ['they do not match the schema'] : faults
}

function ajvFault(error: ajv.ErrorObject): string {
  const params: Readonly<Record<string, unknown>> = error.params
  const unknown = params['additionalProperty'] ?? params['unevaluatedProperty']
  if (typeof unknown === 'string') {
    return faultText([...error.instancePath.split('/').slice(1), unknown], 'is not a property of this tool')
  }
  const failed: CompiledValidator = Object.assign(() => false, { errors: [error] })
  return describeFault(failed).text
}

function compile(schema: JsonObject, allErrors: boolean): ajv.ValidateFunction {
  const dialect = dialectOf(schema)
  if (dialect !== null) return compileAs(dialect, schema, allErrors)
  try {
    return compileAs('2020-12', schema, allErrors)
  } catch (error) {
    // A schema that does not name its version may be an old one, where a tuple is an array of items.
    try {
      return compileAs('draft-07', schema, allErrors)
    } catch {
      throw error
    }
  }
}

/** A compiler, and what it has made by the text of each schema. */
interface Compiler {
  readonly ajv: ajv.Ajv
  readonly made: Map<string, ajv.ValidateFunction>
  uses: number
}

const compilers = new Map<string, Compiler>()

// A compiler keeps a part of each schema and its code for as long as it lives, also of those that it was told to forget.
// Another takes its place in time: what tools that are gone have left behind goes with it.
const USES_MAX = 256

// A compiler takes long to make, so tools share it; it forgets each schema, as two may have one id. Who makes the same
// tools again and again, for every user or every request, has their schemas compiled once.
function compileAs(dialect: Dialect, schema: JsonObject, allErrors: boolean): ajv.ValidateFunction {
  const compiler = compilerFor(dialect, allErrors)
  const text = JSON.stringify(schema)
  const known = compiler.made.get(text)
  if (known !== undefined) return known
  compiler.uses += 1
  try {
    const validate = compiler.ajv.compile(schema)
    compiler.made.set(text, validate)
    return validate
  } finally {
    compiler.ajv.removeSchema(schema)
  }
}

function compilerFor(dialect: Dialect, allErrors: boolean): Compiler {
  const key = `${dialect} ${allErrors}`
  const last = compilers.get(key)
  if (last !== undefined && last.uses < USES_MAX) return last
  const next = { ajv: makeAjv(dialect, allErrors), made: new Map(), uses: 0 }
  compilers.set(key, next)
  return next
}

type Dialect = 'draft-07' | '2019-09' | '2020-12'

function dialectOf({ $schema }: JsonObject): Dialect | null {
  if (typeof $schema !== 'string') return null
  if ($schema.includes('2020-12')) return '2020-12'
  return $schema.includes('2019-09') ? '2019-09' : 'draft-07'
}

const require = createRequire(import.meta.url)

// Loaded here and not above: who has no raw JSON Schema does not pay for ajv.
function makeAjv(dialect: Dialect, allErrors: boolean): ajv.Ajv {
  const options = {
    strict: false,
    allErrors,
    coerceTypes: false,
    useDefaults: true,
    validateFormats: false,
    logger: false,
    addUsedSchema: false,
  } as const
  switch (dialect) {
    case 'draft-07': {
      const module: typeof ajv = require('ajv')
      return new module.Ajv(options)
    }
    case '2019-09': {
      const module: typeof ajv2019 = require('ajv/dist/2019.js')
      return new module.Ajv2019(options)
    }
    case '2020-12': {
      const module: typeof ajv2020 = require('ajv/dist/2020.js')
      return new module.Ajv2020(options)
    }
  }
}
