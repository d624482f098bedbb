import type { Json, JsonObject } from '../../src/protocol/json.ts'
import type { OpenApiDocument } from './openapi-document.ts'
import { COMPONENT_PREFIX } from './openapi-document.ts'

/**
 * The parts of a document, each in a file of its own: component schemas that refer to each other as sibling
 * files, operations, and the list of event types. Paths are relative to the folder of the version.
 */
export function splitDocument(document: OpenApiDocument): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  for (const [name, schema] of document.schemas) {
    files.set(`components/${name}.json`, jsonText(withFileReferences(schema, './')))
  }
  for (const [id, operation] of document.operations) {
    files.set(`paths/${id}.json`, jsonText(withFileReferences(operation, '../components/')))
  }
  files.set('event-types.json', jsonText(document.events.map((event) => event.type)))
  return files
}

function withFileReferences(value: JsonObject, folder: string): Json {
  const text = JSON.stringify(value)
  return JSON.parse(text, (key: string, inner: Json) =>
    key === '$ref' && typeof inner === 'string' && inner.startsWith(COMPONENT_PREFIX)
      ? `${folder}${inner.slice(COMPONENT_PREFIX.length)}.json`
      : inner,
  )
}

function jsonText(value: Json): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
