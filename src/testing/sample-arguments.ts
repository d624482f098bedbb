import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'

const DEPTH_MAX = 16

/**
 * Arguments that a JSON Schema should accept: what it names (`const`, `default`, `examples`, `enum`), else the smallest
 * value of its type, with the required fields only. A `pattern` is not solved.
 */
export function sampleArguments(schema: JsonObject): JsonObject {
  const value = sample(schema, schema, 0)
  return isJsonObject(value) ? value : {}
}

function sample(node: Json | undefined, root: JsonObject, depth: number): Json {
  const schema = resolve(node, root)
  if (schema === null || depth > DEPTH_MAX) return null
  const named = namedValue(schema)
  if (named !== undefined) return named
  const [branch] = [schema['anyOf'], schema['oneOf']].flatMap((list) => (isList(list) ? [list[0]] : []))
  if (branch !== undefined) return sample(branch, root, depth + 1)
  const parts = isList(schema['allOf']) ? schema['allOf'] : []
  const merged = parts.reduce<JsonObject>((sum, part) => merge(sum, resolve(part, root) ?? {}), schema)
  return sampleOfType(merged, root, depth)
}

function resolve(node: Json | undefined, root: JsonObject): JsonObject | null {
  let current: Json | undefined = node
  for (let hops = 0; hops < DEPTH_MAX && isJsonObject(current); hops += 1) {
    const { $ref } = current
    if (typeof $ref !== 'string') return current
    current = $ref
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<Json | undefined>((inner, key) => (isJsonObject(inner) ? inner[key] : undefined), root)
  }
  return null
}

function namedValue(schema: JsonObject): Json | undefined {
  const { const: fixed, default: usual, examples, enum: values } = schema
  if (fixed !== undefined) return fixed
  if (isList(examples) && examples[0] !== undefined) return examples[0]
  if (usual !== undefined) return usual
  return isList(values) ? values[0] : undefined
}

function merge(a: JsonObject, b: JsonObject): JsonObject {
  const properties = { ...objectOf(a['properties']), ...objectOf(b['properties']) }
  const required = [...listOf(a['required']), ...listOf(b['required'])]
  return { ...a, ...b, properties, required }
}

function sampleOfType(schema: JsonObject, root: JsonObject, depth: number): Json {
  const { type } = schema
  const [first = schema['properties'] === undefined ? 'string' : 'object'] = isList(type) ? type : [type]
  switch (first) {
    case 'object':
      return sampleObject(schema, root, depth)
    case 'array': {
      const count = numberOf(schema['minItems']) ?? 0
      return Array.from({ length: Math.min(count, 100) }, () => sample(schema['items'], root, depth + 1))
    }
    case 'number':
    case 'integer':
      return sampleNumber(schema, first === 'integer')
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return sampleText(schema)
  }
}

function sampleObject(schema: JsonObject, root: JsonObject, depth: number): JsonObject {
  const properties = objectOf(schema['properties'])
  const names = listOf(schema['required']).filter((name) => typeof name === 'string')
  return Object.fromEntries(names.map((name) => [name, sample(properties[name], root, depth + 1)]))
}

function sampleNumber(schema: JsonObject, isWhole: boolean): number {
  const minimum = numberOf(schema['minimum']) ?? Number.NEGATIVE_INFINITY
  const above = numberOf(schema['exclusiveMinimum']) ?? Number.NEGATIVE_INFINITY
  const maximum = numberOf(schema['maximum']) ?? Number.POSITIVE_INFINITY
  const below = numberOf(schema['exclusiveMaximum']) ?? Number.POSITIVE_INFINITY
  const step = numberOf(schema['multipleOf']) ?? (isWhole ? 1 : null)
  const low = Math.max(minimum, above)
  const high = Math.min(maximum, below)
  const fits = (value: number): boolean =>
    value >= minimum && value > above && value <= maximum && value < below
  const wanted = step ?? 1
  const near = Number.isFinite(low) ? Math.ceil(low / wanted) * wanted : Math.floor(high / wanted) * wanted
  const choices = [wanted, near, near + wanted, near - wanted, low, high, (low + high) / 2, 0]
  return choices.find((value) => Number.isFinite(value) && fits(value)) ?? 1
}

const BY_FORMAT: Readonly<Record<string, string>> = {
  date: '2026-01-02',
  'date-time': '2026-01-02T03:04:05Z',
  time: '03:04:05Z',
  duration: 'P1D',
  email: 'someone@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  'uri-reference': '/',
  uuid: '11111111-1111-4111-8111-111111111111',
}

function sampleText({ format, minLength, maxLength }: JsonObject): string {
  const text = (typeof format === 'string' ? BY_FORMAT[format] : undefined) ?? 'sample'
  const least = Math.min(numberOf(minLength) ?? 0, 100_000)
  return text.padEnd(least, 'x').slice(0, numberOf(maxLength) ?? undefined)
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

function listOf(value: Json | undefined): readonly Json[] {
  return isList(value) ? value : []
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

function numberOf(value: Json | undefined): number | null {
  return typeof value === 'number' ? value : null
}
