// Unions rewritten so that a value is checked against one branch only, the one it claims to be. That is the
// same as the union wherever no value can satisfy two branches: they differ in their JSON type, in `type` or
// in `role`.

import type { JsonObject } from '../../src/protocol/json.ts'
import { ifThen } from './if-then.ts'
import { resolveReference } from './resolve-reference.ts'
import { taggedUnion } from './tagged-union.ts'
import { unionBranches } from './union-branches.ts'

type Lower = (schema: JsonObject) => JsonObject

/** A schema equal to the union of the branches, or null when the branches cannot be told apart. */
export function unionSchema(
  branches: readonly JsonObject[],
  schemas: ReadonlyMap<string, JsonObject>,
  lower: Lower,
): JsonObject | null {
  const flat = branches.flatMap((branch) => inlineBranches(branch, schemas))
  const [only] = flat
  if (only !== undefined && flat.length === 1) return lower(only)

  const byType = groupByJsonType(flat, schemas)
  if (byType === null) return null
  const links: (readonly [type: string, schema: JsonObject])[] = []
  for (const [type, group] of byType) {
    const schema = group.length === 1 ? lower(group[0] ?? {}) : taggedUnion(group, schemas, lower)
    if (schema === null) return null
    links.push([type, schema])
  }
  const [first] = links
  if (first !== undefined && links.length === 1) return first[1]
  return { type: links.map(([type]) => type), ...chain(links) }
}

// A union that stands directly inside a union is part of it; one behind a reference only where its branches
// are of several JSON types, so that each finds its place among the others.
function inlineBranches(branch: JsonObject, schemas: ReadonlyMap<string, JsonObject>): readonly JsonObject[] {
  const isReference = Object.keys(branch).join() === '$ref' && jsonType(branch, schemas) === null
  const inner = unionBranches(isReference ? resolveReference(branch, schemas) : branch)
  return inner === null ? [branch] : inner.flatMap((each) => inlineBranches(each, schemas))
}

function groupByJsonType(
  branches: readonly JsonObject[],
  schemas: ReadonlyMap<string, JsonObject>,
): ReadonlyMap<string, readonly JsonObject[]> | null {
  const groups = new Map<string, readonly JsonObject[]>()
  for (const branch of branches) {
    const type = jsonType(branch, schemas)
    if (type === null || (groups.has(type) && type !== 'object')) return null
    groups.set(type, [...(groups.get(type) ?? []), branch])
  }
  // An integer is a number too, so these two would not exclude each other.
  return groups.has('integer') && groups.has('number') ? null : groups
}

/**
 * The one JSON type of the values that a schema allows, looking through references and unions; null if it has
 * not one.
 */
function jsonType(schema: JsonObject, schemas: ReadonlyMap<string, JsonObject>): string | null {
  if (typeof schema['type'] === 'string') return schema['type']
  const target = resolveReference(schema, schemas)
  if (target !== schema) return jsonType(target, schemas)
  const types = new Set(unionBranches(schema)?.map((branch) => jsonType(branch, schemas)))
  const [type] = types
  return types.size === 1 ? (type ?? null) : null
}

// A branch that allows every value of its type needs no link: the list of types has said it all.
function chain(links: readonly (readonly [type: string, schema: JsonObject])[]): JsonObject {
  return links
    .filter(([, schema]) => Object.keys(schema).join() !== 'type')
    .reduceRight<JsonObject>((rest, [type, schema]) => ifThen({ type }, schema, rest), {})
}
