import { compile } from 'json-schema-to-typescript'

import type { JsonObject } from '../../src/protocol/json.ts'
import { mapSubschemas } from './checkable-schema.ts'
import { GENERATED_NOTICE } from './generated-notice.ts'

const ROOT = 'Root'

/** What a module of types is made of. */
export interface TypeModule {
  /** The name of the union of `branches`. */
  readonly union: string
  readonly branches: readonly JsonObject[]
  /** A comment on the union. */
  readonly description?: string
  /** Schemas by name, referring to each other by `#/$defs/<name>`. */
  readonly schemas: ReadonlyMap<string, JsonObject>
  /** From the module to src/protocol/, with a slash at the end. */
  readonly protocolPath: string
}

/** The text of a TypeScript module with one exported type per schema, and their union. */
export async function typeModule(module: TypeModule): Promise<string> {
  const { union, branches: oneOf, description } = module
  const unionSchema = description === undefined ? { oneOf } : { description, oneOf }
  const schemas = new Map([[union, unionSchema], ...module.schemas])
  // Only the definitions of an object are all compiled, whether something refers to them or not.
  const definitions = Object.fromEntries([...schemas].map(([name, schema]) => [name, typeSchema(schema)]))
  const code = await compile({ type: 'object', $defs: definitions }, ROOT, {
    // Objects may carry fields that nobody listed, and they are kept. Yet an index signature would make every
    // misspelt field `unknown` instead of an error, so the types list what is known and no more.
    additionalProperties: false,
    unreachableDefinitions: true,
    bannerComment: '',
    format: true,
    style: { semi: false, singleQuote: true, printWidth: 110 },
  })
  const jsonImport = code.includes('JsonObject')
    ? `import type { JsonObject } from '${module.protocolPath}json.ts'\n\n`
    : ''
  return `${GENERATED_NOTICE}\n${jsonImport}${withReadonly(withoutRoot(code))}`
}

function typeSchema(schema: JsonObject): JsonObject {
  // The numbers of items would be noted as comments.
  const { oneOf, discriminator: _, minItems: __, maxItems: ___, ...rest } = schema
  if (isAnyObject(schema)) return { ...rest, tsType: 'JsonObject' }
  // Beside properties, a oneOf says which of them go together; as a type that would be an intersection with
  // unknown.
  const kept = oneOf === undefined || rest['properties'] !== undefined ? rest : { ...rest, oneOf }
  return mapSubschemas(kept, typeSchema)
}

function isAnyObject(schema: JsonObject): boolean {
  const { type, properties, additionalProperties } = schema
  if (type !== 'object' || ['oneOf', 'anyOf', 'allOf', '$ref'].some((keyword) => keyword in schema))
    return false
  return [properties, additionalProperties].every((listed) => Object.keys(listed ?? {}).length === 0)
}

// The compiler writes the root down, and on each type that nothing refers to that it found it there.
function withoutRoot(code: string): string {
  return code
    .replace(`export interface ${ROOT} {}\n`, '')
    .replaceAll(
      new RegExp(`^ \\* This interface was referenced by \`${ROOT}\`.*\\n \\* via the .*\\n`, 'gm'),
      '',
    )
    .replaceAll(/^\/\*\*\n \*\/\n/gm, '')
    .replaceAll(/^ \*\n \*\//gm, ' */')
    .trimStart()
}

function withReadonly(code: string): string {
  const fields = code.replaceAll(/^( +)(\w+\??:|\[k: string\]:)(?= |$)/gm, '$1readonly $2')
  let result = fields
  for (let end = result.lastIndexOf('[]'); end > 0; end = result.lastIndexOf('[]', end - 1)) {
    const start = elementStart(result, end)
    result = `${result.slice(0, start)}readonly ${result.slice(start)}`
  }
  return result
}

/** Where the element type of the array type starts whose `[]` is at `end`. */
function elementStart(code: string, end: number): number {
  if (code[end - 1] !== ')') return end - (/[\w.]+$/.exec(code.slice(0, end))?.[0].length ?? 0)
  let depth = 0
  for (let index = end - 1; index >= 0; index -= 1) {
    if (code[index] === ')') depth += 1
    if (code[index] === '(') depth -= 1
    if (depth === 0) return index
  }
  return end
}
