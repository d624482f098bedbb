import { readdirSync, readFileSync } from 'node:fs'

import type { Json, JsonObject } from '../src/protocol/json.ts'
import { isJsonObject } from '../src/protocol/json.ts'

/** How a sample is built. */
export interface SampleOptions {
  /** The version of the document; the newest unless told. */
  readonly version?: string
  /** Whether optional fields are filled in and arrays have an element. */
  readonly full?: boolean
  /** Picks one of `count` alternatives; always the first unless told. */
  readonly choose?: (count: number) => number
}

/** The smallest event of a type that the newest document allows; the same at each call. */
export function sampleEvent(type: string): JsonObject {
  return sampleSchema(eventSchemaName(type))
}

/** A value that a component schema of the document allows. */
export function sampleSchema(name: string, options: SampleOptions = {}): JsonObject {
  const value = sampleValue({ $ref: `#/components/schemas/${name}` }, readDocument(options.version), options)
  if (!isJsonObject(value)) throw new Error(`${name} does not describe an object`)
  return value
}

/** A value that a schema allows; references are looked up in the document that it stands in. */
export function sampleValue(schema: JsonObject, root: JsonObject, options: SampleOptions = {}): Json {
  const { choose = () => 0 } = options
  const pick = (list: Json): Json =>
    (list as readonly Json[])[choose((list as readonly Json[]).length)] as Json
  const { $ref, allOf, oneOf, anyOf, enum: values } = schema
  if (typeof $ref === 'string') return sampleValue(lookUp($ref, root), root, options)
  if (allOf !== undefined) return sampleValue(onlyMember(allOf), root, options)
  // Beside properties, a oneOf says which of them are required together.
  const branches = oneOf ?? anyOf
  if (branches !== undefined) {
    const branch = pick(branches) as JsonObject
    if (schema['properties'] === undefined) return sampleValue(branch, root, options)
    const required = [
      ...(schema['required'] as readonly string[]),
      ...(branch['required'] as readonly string[]),
    ]
    const optional = (branches as readonly JsonObject[]).flatMap(
      (each) => each['required'] as readonly string[],
    )
    return sampleObject({ ...schema, required }, root, options, optional)
  }
  if (values !== undefined) return pick(values)
  return sampleOfType(schema, root, options)
}

/** The component schema of an event type. */
export function eventSchemaName(type: string): string {
  const schemas = Object.entries(componentSchemas(readDocument()))
  const found = schemas.find(
    ([name, schema]) => name.endsWith('StreamingEvent') && typeOf(schema as JsonObject) === type,
  )
  if (found === undefined) throw new Error(`the document has no event ${type}`)
  return found[0]
}

/** The OpenAPI document of a version, newest unless told. */
export function readDocument(version: string = newestVersion()): JsonObject {
  const known = documents.get(version)
  if (known !== undefined) return known
  const document = JSON.parse(readFileSync(new URL(`${version}/openapi.json`, folder), 'utf8')) as JsonObject
  documents.set(version, document)
  return document
}

const folder = new URL('../schemas/openresponses/', import.meta.url)
const documents = new Map<string, JsonObject>()

function newestVersion(): string {
  return readdirSync(folder).toSorted().at(-1) as string
}

function componentSchemas(document: JsonObject): JsonObject {
  return (document['components'] as JsonObject)['schemas'] as JsonObject
}

function typeOf(schema: JsonObject): Json | undefined {
  const type = (schema['properties'] as JsonObject)['type'] as JsonObject
  return (type['enum'] as readonly Json[] | undefined)?.[0]
}

function lookUp(ref: string, root: JsonObject): JsonObject {
  return ref
    .split('/')
    .slice(1)
    .reduce((value, key) => value[key] as JsonObject, root)
}

function onlyMember(allOf: Json): JsonObject {
  const members = (allOf as readonly JsonObject[]).filter((member) => '$ref' in member || 'type' in member)
  if (members.length !== 1) throw new Error('an allOf of several schemas cannot be sampled')
  return members[0] as JsonObject
}

function sampleOfType(schema: JsonObject, root: JsonObject, options: SampleOptions): Json {
  const { type, items, minItems, minLength, minimum } = schema
  if (type === 'object') return sampleObject(schema, root, options, [])
  if (type === 'array') {
    const length = Math.max(Number(minItems ?? 0), options.full === true ? 1 : 0)
    return Array.from({ length }, () => sampleValue(items as JsonObject, root, options))
  }
  if (type === 'string') return 'x'.repeat(Number(minLength ?? 1))
  if (type === 'integer') return Number(minimum ?? 1)
  if (type === 'number') return 0.5
  if (type === 'boolean') return true
  return type === 'null' ? null : {}
}

function sampleObject(
  schema: JsonObject,
  root: JsonObject,
  options: SampleOptions,
  leaveOut: readonly string[],
): JsonObject {
  const { properties = {}, required = [], additionalProperties } = schema
  const names = Object.keys(properties as JsonObject).filter(
    (name) =>
      (required as readonly string[]).includes(name) || (options.full === true && !leaveOut.includes(name)),
  )
  const fields = names.map((name) => [
    name,
    sampleValue((properties as JsonObject)[name] as JsonObject, root, options),
  ])
  if (options.full === true && isJsonObject(additionalProperties)) {
    fields.push(['extra', sampleValue(additionalProperties, root, options)])
  }
  return Object.fromEntries(fields) as JsonObject
}
