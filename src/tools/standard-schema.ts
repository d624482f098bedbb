import type { JsonObject } from '../protocol/json.ts'

/**
 * The part of Standard Schema (https://standardschema.dev) that a tool needs. Zod 4, Valibot, ArkType and
 * others give it; the specification asks for a copy of the interface instead of a dependency.
 */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
  }
}

/** What `validate` answers: a value, or what is wrong. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

/** One thing that is wrong, and where. */
export interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Whether a value is a schema of a library, not raw JSON Schema. ArkType's schemas are functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  return '~standard' in value && typeof value['~standard'] === 'object' && value['~standard'] !== null
}

/**
 * The JSON Schema of what a caller may send, or null when the library gives none. It may throw what the
 * library throws, for example at a type that JSON Schema cannot express.
 */
export function jsonSchemaOf(schema: StandardSchema): unknown {
  const standard: object = schema['~standard']
  const jsonSchema: unknown = 'jsonSchema' in standard ? standard.jsonSchema : undefined
  if (hasMethod(jsonSchema, 'input')) return jsonSchema.input({ target: 'draft-2020-12' })
  if (hasMethod(schema, 'toJSONSchema')) return schema.toJSONSchema({ io: 'input' })
  return null
}

function hasMethod<Name extends string>(
  value: unknown,
  name: Name,
): value is Record<Name, (options: JsonObject) => unknown> {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  return name in value && typeof Object(value)[name] === 'function'
}
