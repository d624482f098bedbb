import type { Json, JsonObject } from '../../src/protocol/json.ts'
import { isJsonObject } from '../../src/protocol/json.ts'
import { messageOf, Refusal } from './refusal.ts'

/** Where a reference of an OpenAPI document to one of its own schemas starts. */
export const COMPONENT_PREFIX = '#/components/schemas/'

/** One event of the stream: its wire type and the component schema that describes it. */
interface EventSchema {
  readonly type: string
  readonly name: string
}

/** An OpenAPI document of Open Responses that has been checked as far as the derivation relies on it. */
export interface OpenApiDocument {
  readonly version: string
  readonly schemas: ReadonlyMap<string, JsonObject>
  /** In document order. */
  readonly events: readonly EventSchema[]
  /** Operations by operationId. */
  readonly operations: ReadonlyMap<string, JsonObject>
}

/**
 * Reads the text of an OpenAPI document; throws a Refusal that names the first thing that is not as it should
 * be.
 */
export function parseOpenApiDocument(text: string): OpenApiDocument {
  const root = parseJsonObject(text)
  const { openapi } = root
  if (typeof openapi !== 'string' || !openapi.startsWith('3.1.')) refuse('"openapi" is not a 3.1 version')
  const version = member(root, 'info')['version']
  if (typeof version !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(version)) {
    refuse('"info.version" is not a date like 2026-04-24')
  }
  const schemas = readSchemas(member(member(root, 'components'), 'schemas'))
  const paths = member(root, 'paths')
  checkReferences(root, schemas)
  return { version, schemas, events: readEvents(paths, schemas), operations: readOperations(paths) }
}

function parseJsonObject(text: string): JsonObject {
  let root: unknown
  try {
    root = JSON.parse(text)
  } catch (error) {
    throw refusal(`it is not JSON (${messageOf(error)})`, error)
  }
  return isJsonObject(root) ? root : refuse('it is not a JSON object')
}

function readSchemas(components: JsonObject): ReadonlyMap<string, JsonObject> {
  const schemas = new Map<string, JsonObject>()
  for (const [name, schema] of Object.entries(components)) {
    // The name becomes the name of a file and of an interface, so a document must not choose a path with it.
    if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name)) refuse(`${JSON.stringify(name)} is no name for a schema`)
    schemas.set(name, isJsonObject(schema) ? schema : refuse(`schema ${name} is not an object`))
  }
  if (schemas.size === 0) refuse('"components.schemas" is empty')
  return schemas
}

function checkReferences(value: Json | undefined, schemas: ReadonlyMap<string, JsonObject>): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    if (key === '$ref' && typeof inner === 'string' && !schemas.has(inner.replace(COMPONENT_PREFIX, ''))) {
      refuse(`the reference ${inner} leads nowhere`)
    }
    checkReferences(inner, schemas)
  }
}

function readEvents(paths: JsonObject, schemas: ReadonlyMap<string, JsonObject>): readonly EventSchema[] {
  const content = ['/responses', 'post', 'responses', '200', 'content', 'text/event-stream', 'schema']
  const branches = content.reduce(member, paths)['oneOf']
  if (!Array.isArray(branches) || branches.length === 0) refuse('the event stream lists no events')
  const events = branches.map((branch: Json): EventSchema => {
    const ref = isJsonObject(branch) ? branch['$ref'] : undefined
    if (typeof ref !== 'string') return refuse('an event of the stream is not a reference to a schema')
    const name = ref.replace(COMPONENT_PREFIX, '')
    const tag = member(member(schemas.get(name) ?? {}, 'properties'), 'type')['enum']
    const type = Array.isArray(tag) && tag.length === 1 ? tag[0] : undefined
    return { name, type: typeof type === 'string' ? type : refuse(`${name} does not fix one "type"`) }
  })
  if (new Set(events.map((event) => event.type)).size < events.length) refuse('two events have the same type')
  return events
}

function readOperations(paths: JsonObject): ReadonlyMap<string, JsonObject> {
  const operations = new Map<string, JsonObject>()
  for (const path of Object.keys(paths)) {
    for (const operation of Object.values(member(paths, path))) {
      const id = isJsonObject(operation) ? operation['operationId'] : undefined
      if (!isJsonObject(operation) || id === undefined) continue
      if (typeof id !== 'string' || !/^[A-Za-z][A-Za-z0-9_]*$/.test(id))
        return refuse(`${path} has a bad operationId`)
      if (operations.has(id)) refuse(`the operationId ${id} occurs twice`)
      operations.set(id, operation)
    }
  }
  return operations
}

function member(parent: JsonObject, key: string): JsonObject {
  const value = parent[key]
  return isJsonObject(value) ? value : refuse(`the object ${JSON.stringify(key)} is missing`)
}

function refuse(fact: string): never {
  throw refusal(fact)
}

function refusal(fact: string, cause?: unknown): Refusal {
  return new Refusal(`not an Open Responses document: ${fact}; give the openapi.json of a dated release`, {
    cause,
  })
}
