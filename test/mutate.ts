import type { Json, JsonObject } from '../src/protocol/json.ts'
import { isJsonObject } from '../src/protocol/json.ts'

/** The way from a value to one inside it. */
export type Path = readonly (string | number)[]

/** Puts another value at a path; undefined takes out what is there. */
export function withValue(value: Json, path: Path, replacement: Json | undefined): Json {
  const [key, ...rest] = path
  if (key === undefined) return replacement ?? null
  const next = (inner: Json | undefined): Json | undefined =>
    rest.length === 0 ? replacement : withValue(inner ?? null, rest, replacement)
  if (Array.isArray(value)) {
    return value.flatMap((inner: Json, index) => {
      const replaced = index === key ? next(inner) : inner
      return replaced === undefined ? [] : [replaced]
    })
  }
  if (!isJsonObject(value)) return value
  const { [key]: old, ...others } = value
  const replaced = next(old)
  return replaced === undefined ? others : { ...others, [key]: replaced }
}

/** Every path into a value, at most `depth` keys long. */
export function pathsOf(value: Json | undefined, depth: number, prefix: Path = []): readonly Path[] {
  if (depth === 0 || typeof value !== 'object' || value === null) return []
  const paths: Path[] = []
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value)
  for (const key of keys) {
    const path = [...prefix, key]
    const inner = (value as Readonly<Record<string | number, Json | undefined>>)[key]
    paths.push(path, ...pathsOf(inner, depth - 1, path))
  }
  return paths
}

/** Values that are right in one place of the protocol and wrong in others. */
const values: readonly (Json | undefined)[] = [
  undefined,
  null,
  true,
  -1,
  0,
  1.5,
  15,
  21,
  ...'x,a.b,message,function_call,function_call_output,reasoning,compaction,item_reference,user'.split(','),
  ...'assistant,system,input_text,output_text,input_video,refusal,completed,auto,function,allowed_tools,text'.split(
    ',',
  ),
  ...'json_schema,json_object,none,url_citation,summary_text'.split(','),
  '',
  'y'.repeat(65),
  [],
  [null],
  ['x'],
  {},
  { id: 'x' },
  { type: null, id: 'x' },
  { type: 'text' },
  { type: 'function' },
  { type: 'input_text', text: 'x' },
  { role: 'user', content: 'x' },
  { type: 'message', role: 'user', content: 'x' },
]

/** Changes one to three places of a value, or adds a field, as `choose` has it. */
export function mutate(value: JsonObject, choose: (count: number) => number): JsonObject {
  let mutant: Json = value
  for (let rounds = choose(3); rounds >= 0; rounds -= 1) {
    const paths = pathsOf(mutant, 8)
    const path = paths[choose(paths.length)] ?? []
    const place = choose(8) === 0 ? [...path.slice(0, -1), 'unlisted'] : path
    if (place.length > 0)
      mutant = withValue(mutant, place, choose(10) === 0 ? undefined : values[choose(values.length)])
  }
  return mutant as JsonObject
}

/** A source of numbers below `count` that gives the same ones for the same seed (mulberry32). */
export function seeded(seed: number): (count: number) => number {
  let state = seed
  return (count) => {
    state = (state + 0x6d_2b_79_f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return Math.floor((((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32) * count)
  }
}
