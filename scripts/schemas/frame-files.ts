import type { JsonObject } from '../../src/protocol/json.ts'
import { isJsonObject } from '../../src/protocol/json.ts'
import { checkableSchemas, mapSubschemas } from './checkable-schema.ts'
import { isJsonArray } from './json-array.ts'
import { messageOf, Refusal } from './refusal.ts'
import { typeModule } from './type-module.ts'
import { validatorModule } from './validator-module.ts'

const protocolPath = '../../protocol/'

/** What src/frames/generated/ holds for the schema of the log's frames, by file name. */
export async function frameFiles(text: string): Promise<ReadonlyMap<string, string>> {
  const { description, branches, definitions } = parseFrameSchema(text)
  const schemas = new Map<string, JsonObject>([...definitions, ['frame', { oneOf: branches }]])
  const declared = new Map([...schemas].map(([name, schema]) => [name, withDeclarations(schema)]))
  return new Map([
    [
      'frame.ts',
      await typeModule({ union: 'Frame', branches, description, schemas: definitions, protocolPath }),
    ],
    [
      'validate-frame.ts',
      validatorModule({
        schemas: checkableSchemas(declared),
        single: new Map([['frameValidator', 'frame']]),
        maps: new Map(),
        protocolPath,
      }),
    ],
  ])
}

interface FrameSchema {
  readonly description: string
  readonly branches: readonly JsonObject[]
  readonly definitions: ReadonlyMap<string, JsonObject>
}

function parseFrameSchema(text: string): FrameSchema {
  const root = parseJson(text)
  if (!isJsonObject(root)) throw broken('it is not an object')
  const { oneOf, $defs, description } = root
  if (!isJsonArray(oneOf) || !isJsonObject($defs)) throw broken('it needs "oneOf" and "$defs"')
  const definitions = new Map<string, JsonObject>()
  for (const [name, schema] of Object.entries($defs)) {
    if (!isJsonObject(schema)) throw broken(`${name} is not an object`)
    definitions.set(name, schema)
  }
  return {
    description: typeof description === 'string' ? description : '',
    branches: oneOf.filter(isJsonObject),
    definitions,
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw broken(messageOf(error))
  }
}

function broken(fact: string): Refusal {
  return new Refusal(`schemas/frames/v1.json cannot be used: ${fact}; correct that file`)
}

// "Exactly one of these keys" is a oneOf of bare `required` lists; ajv's strict mode wants the keys declared
// there too.
function withDeclarations(schema: JsonObject): JsonObject {
  const { required, properties, oneOf } = schema
  const inner = mapSubschemas(schema, withDeclarations)
  if (!isJsonArray(required) || properties !== undefined || oneOf !== undefined) return inner
  const keys = required.filter((key) => typeof key === 'string')
  return { ...inner, properties: Object.fromEntries(keys.map((key) => [key, true])) }
}
