import type { Json, JsonObject } from '../../src/protocol/json.ts'
import { isJsonObject } from '../../src/protocol/json.ts'
import { ifThen } from './if-then.ts'
import { isJsonArray } from './json-array.ts'
import { resolveReference } from './resolve-reference.ts'
import { unionBranches } from './union-branches.ts'

type Schemas = ReadonlyMap<string, JsonObject>
type Lower = (schema: JsonObject) => JsonObject

// Stands for the missing tag among its values; no tag is an empty text.
const ABSENT = ''

/** Branches that allow the same values of the tag. */
interface Group {
  readonly values: readonly Json[]
  /** Whether the tag may be left out. */
  readonly absent: boolean
  readonly branches: readonly JsonObject[]
}

/**
 * A schema equal to the union of object branches that differ in what they allow for a tag: `type`, and `role`
 * where `type` is the same. Null when they overlap.
 *
 * Each branch implies its values of the tag and no two groups share a value, so at most one group can hold
 * for an object, and looking at the tag finds which.
 */
export function taggedUnion(
  branches: readonly JsonObject[],
  schemas: Schemas,
  lower: Lower,
  tags: readonly string[] = ['type', 'role'],
): JsonObject | null {
  const [tag, ...others] = tags
  if (tag === undefined) return null
  const groups = groupByTag(branches, tag, schemas)
  if (groups === null) return null
  if (groups.length === 1) return taggedUnion(branches, schemas, lower, others)

  const lowered = new Map<Group, JsonObject>()
  for (const group of groups) {
    const [only] = group.branches
    const single = group.branches.length === 1 && only !== undefined
    const schema = single ? lower(only) : taggedUnion(group.branches, schemas, lower, others)
    if (schema === null) return null
    lowered.set(group, schema)
  }
  const plain = groups.every(
    (group) => group.branches.length === 1 && !group.absent && !group.values.includes(null),
  )
  return plain ? withDiscriminator(tag, lowered) : { type: 'object', ...chain(tag, lowered, schemas) }
}

function groupByTag(branches: readonly JsonObject[], tag: string, schemas: Schemas): readonly Group[] | null {
  const groups = new Map<string, Group>()
  for (const branch of branches.map((branch) => withoutAliases(branch, schemas))) {
    const { properties, required } = resolveReference(branch, schemas)
    const schema = isJsonObject(properties) ? properties[tag] : undefined
    const values = isJsonObject(schema) ? allowedValues(schema, schemas) : null
    if (values === null) return null
    const absent = !(isJsonArray(required) && required.includes(tag))
    const key = JSON.stringify([absent, values])
    groups.set(key, { values, absent, branches: [...(groups.get(key)?.branches ?? []), branch] })
  }
  const list = [...groups.values()]
  const all = list.flatMap((group) => (group.absent ? group.values.concat(ABSENT) : group.values))
  return new Set(all).size === all.length ? list : null
}

// A union of one is another name for its only branch. ajv's discriminator looks through one reference, not
// two.
function withoutAliases(branch: JsonObject, schemas: Schemas): JsonObject {
  const isReference = Object.keys(branch).join() === '$ref'
  const [only, ...others] = unionBranches(isReference ? resolveReference(branch, schemas) : branch) ?? []
  return only === undefined || others.length > 0 ? branch : withoutAliases(only, schemas)
}

function allowedValues(schema: JsonObject, schemas: Schemas): readonly Json[] | null {
  const target = resolveReference(schema, schemas)
  if (isJsonArray(target['enum'])) return target['enum'].every(isTagValue) ? target['enum'] : null
  if (target['type'] === 'null') return [null]
  const values = unionBranches(target)?.map((branch) => allowedValues(branch, schemas)) ?? [null]
  return values.includes(null) ? null : values.flatMap((list) => list ?? [])
}

function isTagValue(value: Json): boolean {
  return value === null || typeof value === 'string'
}

// `type` and `properties` stand beside the discriminator because ajv's discriminator accepts whatever is no
// object, and because the error of an unknown tag should list the tags that exist.
function withDiscriminator(tag: string, groups: ReadonlyMap<Group, JsonObject>): JsonObject {
  const values = [...groups.keys()].flatMap((group) => group.values)
  return {
    type: 'object',
    required: [tag],
    properties: { [tag]: { type: 'string', enum: values } },
    discriminator: { propertyName: tag },
    oneOf: [...groups.values()],
  }
}

function chain(tag: string, groups: ReadonlyMap<Group, JsonObject>, schemas: Schemas): JsonObject {
  const values = [...groups.keys()].flatMap((group) => group.values)
  const unknownTag = { required: [tag], properties: { [tag]: { enum: values } } }
  const untagged = [...groups].find(([group]) => group.absent)
  const last = untagged === undefined ? unknownTag : absentTag(tag, untagged, unknownTag, schemas)
  return [...groups].reduceRight<JsonObject>(
    (rest, [group, schema]) =>
      ifThen({ required: [tag], properties: { [tag]: { enum: group.values } } }, schema, rest),
    last,
  )
}

// An object without the tag belongs to the one group that can do without. If it lacks what that group needs
// as well, the missing tag is the likelier mistake (a message without its type), and either way the object is
// not valid.
function absentTag(
  tag: string,
  [group, schema]: readonly [Group, JsonObject],
  unknownTag: JsonObject,
  schemas: Schemas,
): JsonObject {
  const [branch] = group.branches
  const needed = branch === undefined ? undefined : resolveReference(branch, schemas)['required']
  const keys = isJsonArray(needed) ? needed.filter((key) => typeof key === 'string') : []
  const untagged = keys.length === 0 ? schema : ifThen(requiring(keys), schema, requiring([tag]))
  return ifThen(requiring([tag]), unknownTag, untagged)
}

// ajv's strict mode wants each required key declared where it is required.
function requiring(keys: readonly string[]): JsonObject {
  return { required: keys, properties: Object.fromEntries(keys.map((key) => [key, true])) }
}
