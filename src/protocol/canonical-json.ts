import { isJsonObject, type JsonObject } from './json.ts'

/**
 * JSON text that is the same for the same value, whatever the order of its keys: they are sorted by UTF-16 code
 * units. Only for values that JSON can carry; members that are undefined are left out, as JSON leaves them out.
 * Recursive: only for values whose depth was checked.
 */
export function canonicalJson(value: unknown): string {
  if (value === undefined) return 'null'
  if (Array.isArray(value)) return `[${value.map((entry: unknown) => canonicalJson(entry)).join(',')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  if (isCanonical(value)) return JSON.stringify(value)
  const members: string[] = []
  for (const key of Object.keys(value).toSorted()) {
    const member = value[key]
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`)
  }
  return `{${members.join(',')}}`
}

/** Whether it is written as it should be anyway: a flat object with its keys in order, as most are. */
function isCanonical(value: JsonObject): boolean {
  let before = ''
  for (const key in value) {
    const member = value[key]
    if (key < before || (typeof member === 'object' && member !== null)) return false
    before = key
  }
  return true
}
