import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import { acceptsNull, branchesOf, propertiesOf, requiredOf, resolveNode, typesOf } from './schema-node.ts'

// A union that refers to itself would be opened for ever.
const OPENED_MAX = 32

/**
 * Takes back what a strict schema added: a null for a property that the schema as written leaves out and does
 * not let be null. Everything else stays as it came, also what is wrong with it.
 */
export function dropAddedNulls(schema: JsonObject, value: JsonObject): JsonObject {
  const dropped = drop(schema, value, schema, 0)
  return isJsonObject(dropped) ? dropped : value
}

function drop(node: Json | undefined, value: Json, root: JsonObject, opened: number): Json {
  const schema = resolveNode(node, root)
  if (schema === null || opened > OPENED_MAX || typeof value !== 'object' || value === null) return value
  const branches = branchesOf(schema)
  if (branches.length > 0) {
    const branch = branches.find((candidate) => isShapedLike(resolveNode(candidate, root), value, root))
    return drop(branch, value, root, opened + 1)
  }
  if (Array.isArray(value)) return value.map((entry: Json) => drop(schema['items'], entry, root, 0))
  return isJsonObject(value) ? dropFrom(schema, value, root) : value
}

function dropFrom(schema: JsonObject, value: JsonObject, root: JsonObject): JsonObject {
  const properties = new Map(propertiesOf(schema))
  const required = requiredOf(schema)
  const kept: [string, Json][] = []
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue
    const property = properties.get(key)
    const wasAdded =
      member === null && property !== undefined && !required.includes(key) && !acceptsNull(property, root)
    if (!wasAdded) kept.push([key, drop(property, member, root, 0)])
  }
  return Object.fromEntries(kept)
}

// A strict branch has all of its keys in every value, so keys and constants tell the branches apart.
function isShapedLike(schema: JsonObject | null, value: Json, root: JsonObject): boolean {
  if (schema === null) return false
  const branches = branchesOf(schema)
  if (branches.length > 0) return true
  if (Array.isArray(value)) return typesOf(schema).includes('array')
  if (!isJsonObject(value) || !typesOf(schema).includes('object')) return false
  const properties = propertiesOf(schema)
  return (
    properties.length === Object.keys(value).length &&
    properties.every(([name, property]) => {
      const constant = resolveNode(property, root)?.['const']
      return Object.hasOwn(value, name) && (constant === undefined || constant === value[name])
    })
  )
}
