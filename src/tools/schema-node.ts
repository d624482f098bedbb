import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'

// A reference to itself would be followed for ever.
const HOPS_MAX = 32

/** The schema that a node stands for: itself, or what its local `$ref` leads to. Null when that is nothing. */
export function resolveNode(node: Json | undefined, root: JsonObject): JsonObject | null {
  let current = node
  for (let hops = 0; hops < HOPS_MAX; hops += 1) {
    if (!isJsonObject(current)) return null
    const { $ref } = current
    if (typeof $ref !== 'string') return current
    if (!$ref.startsWith('#')) return null
    current = followPointer($ref, root)
  }
  return null
}

function followPointer(pointer: string, root: JsonObject): Json | undefined {
  let current: Json | undefined = root
  for (const part of pointer.split('/').slice(1)) {
    const key = decodePart(part)
    current = isJsonObject(current) && Object.hasOwn(current, key) ? current[key] : undefined
  }
  return current
}

// The part is of a URI fragment; one that is none stands for itself.
function decodePart(part: string): string {
  const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

/** The alternatives of a union, or none. */
export function branchesOf(node: JsonObject): readonly Json[] {
  const { anyOf, oneOf } = node
  if (Array.isArray(anyOf)) return anyOf
  return Array.isArray(oneOf) ? oneOf : []
}

/** The types that a node names. */
export function typesOf(node: JsonObject): readonly Json[] {
  const { type } = node
  if (type === undefined) return []
  return Array.isArray(type) ? type : [type]
}

/** The names that a node requires. */
export function requiredOf(node: JsonObject): readonly Json[] {
  return Array.isArray(node['required']) ? node['required'] : []
}

/** The properties that a node describes, in their order. */
export function propertiesOf(node: JsonObject): readonly (readonly [string, Json])[] {
  const { properties } = node
  if (!isJsonObject(properties)) return []
  return Object.entries(properties).flatMap(([name, schema]) =>
    schema === undefined ? [] : [[name, schema] as const],
  )
}

/** Whether null is a value that a node takes. */
export function acceptsNull(node: Json | undefined, root: JsonObject, hops = 0): boolean {
  const schema = resolveNode(node, root)
  if (schema === null || hops > HOPS_MAX) return node === true
  if (schema['const'] !== undefined) return schema['const'] === null
  if (Array.isArray(schema['enum']) && !schema['enum'].includes(null)) return false
  const types = typesOf(schema)
  if (types.length > 0) return types.includes('null')
  const branches = branchesOf(schema)
  return branches.length === 0 || branches.some((branch) => acceptsNull(branch, root, hops + 1))
}
