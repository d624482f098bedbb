import { isJsonObject, type Json, type JsonObject } from '../../../protocol/json.ts'
import { jsonText } from './json-text.ts'

/** One place in which two values differ. */
export type JsonChange = { readonly path: string } & (
  | { readonly kind: 'added'; readonly after: Json }
  | { readonly kind: 'removed'; readonly before: Json }
  | { readonly kind: 'changed'; readonly before: Json; readonly after: Json }
)

/** Where two values differ; `isCut` when there is more than anybody would read. */
interface JsonDiff {
  readonly changes: readonly JsonChange[]
  readonly isCut: boolean
}

const CHANGES_MAX = 500
// Lists longer than this are compared from both ends only: the table has a cell for each pair.
const TABLE_MAX = 40_000
const DEPTH_MAX = 64

/**
 * What was added, removed and changed between two JSON values, each with its path. Items of a list are matched by what
 * they are, so that one that is put in front does not change all behind it; items at the same place between two that
 * are the same count as changed.
 */
export function diffJson(before: Json, after: Json): JsonDiff {
  const changes: JsonChange[] = []
  compare({ changes, path: '', depth: 0 }, before, after)
  return { changes: changes.slice(0, CHANGES_MAX), isCut: changes.length > CHANGES_MAX }
}

interface Place {
  readonly changes: JsonChange[]
  readonly path: string
  readonly depth: number
}

function compare(place: Place, before: Json, after: Json): void {
  const { changes, path, depth } = place
  if (changes.length > CHANGES_MAX || before === after) return
  if (depth < DEPTH_MAX) {
    if (isList(before) && isList(after)) return compareLists(place, before, after)
    if (isJsonObject(before) && isJsonObject(after)) return compareObjects(place, before, after)
  }
  if (jsonText(before) !== jsonText(after)) changes.push({ path, kind: 'changed', before, after })
}

function compareObjects(place: Place, before: JsonObject, after: JsonObject): void {
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, current] = [ownOf(before, key), ownOf(after, key)]
    const path = `${place.path}${place.path === '' ? '' : '.'}${keyText(key)}`
    if (old === undefined && current !== undefined)
      place.changes.push({ path, kind: 'added', after: current })
    else if (old !== undefined && current === undefined)
      place.changes.push({ path, kind: 'removed', before: old })
    else if (old !== undefined && current !== undefined)
      compare({ ...place, path, depth: place.depth + 1 }, old, current)
  }
}

function ownOf(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

function keyText(key: string): string {
  return /^[\w$-]+$/.test(key) ? key : JSON.stringify(key)
}

function compareLists(place: Place, before: readonly Json[], after: readonly Json[]): void {
  const [old, current] = [before.map(keyOf), after.map(keyOf)]
  let [oldFrom, from] = [0, 0]
  for (const [oldTo, to] of matches(old, current)) {
    compareGap(place, before.slice(oldFrom, oldTo), after.slice(from, to), { oldFrom, from })
    ;[oldFrom, from] = [oldTo + 1, to + 1]
  }
  compareGap(place, before.slice(oldFrom), after.slice(from), { oldFrom, from })
}

/** What stands between two items that are the same: pairs are compared, the rest was removed or added. */
function compareGap(
  place: Place,
  before: readonly Json[],
  after: readonly Json[],
  { oldFrom, from }: { readonly oldFrom: number; readonly from: number },
): void {
  const { changes, path, depth } = place
  const paired = Math.min(before.length, after.length)
  for (let at = 0; at < Math.max(before.length, after.length) && changes.length <= CHANGES_MAX; at += 1) {
    const [old, current] = [before[at], after[at]]
    if (at < paired && old !== undefined && current !== undefined) {
      if (isAlike(old, current))
        compare({ changes, path: `${path}[${from + at}]`, depth: depth + 1 }, old, current)
      else changes.push({ path: `${path}[${from + at}]`, kind: 'changed', before: old, after: current })
    } else if (old !== undefined)
      changes.push({ path: `${path}[${oldFrom + at}]`, kind: 'removed', before: old })
    else if (current !== undefined)
      changes.push({ path: `${path}[${from + at}]`, kind: 'added', after: current })
  }
}

/** Two items of another type or role are not told apart field by field. */
function isAlike(one: Json, other: Json): boolean {
  if (!isJsonObject(one) || !isJsonObject(other)) return true
  return one['type'] === other['type'] && one['role'] === other['role']
}

function keyOf(value: Json): string {
  return jsonText(value)
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

/** Pairs of places with the same item, ascending: the longest such list that there is, for lists that are not too long. */
function matches(old: readonly string[], current: readonly string[]): readonly (readonly [number, number])[] {
  const least = Math.min(old.length, current.length)
  let start = 0
  while (start < least && old[start] === current[start]) start += 1
  let end = 0
  while (end < least - start && old.at(-1 - end) === current.at(-1 - end)) end += 1
  const head = Array.from({ length: start }, (_, at): [number, number] => [at, at])
  const tail = Array.from({ length: end }, (_, at): [number, number] => [
    old.length - end + at,
    current.length - end + at,
  ])
  const middle = longest(old.slice(start, old.length - end), current.slice(start, current.length - end))
  return [...head, ...middle.map(([a, b]): [number, number] => [a + start, b + start]), ...tail]
}

function longest(old: readonly string[], current: readonly string[]): readonly (readonly [number, number])[] {
  const width = current.length + 1
  if (old.length === 0 || current.length === 0 || old.length * current.length > TABLE_MAX) return []
  const table = new Uint32Array((old.length + 1) * width)
  const cell = (a: number, b: number): number => table[a * width + b] ?? 0
  for (let a = old.length - 1; a >= 0; a -= 1) {
    for (let b = current.length - 1; b >= 0; b -= 1) {
      table[a * width + b] =
        old[a] === current[b] ? cell(a + 1, b + 1) + 1 : Math.max(cell(a + 1, b), cell(a, b + 1))
    }
  }
  const pairs: [number, number][] = []
  let [a, b] = [0, 0]
  while (a < old.length && b < current.length) {
    if (old[a] === current[b]) {
      pairs.push([a, b])
      a += 1
      b += 1
    } else if (cell(a + 1, b) >= cell(a, b + 1)) a += 1
    else b += 1
  }
  return pairs
}
