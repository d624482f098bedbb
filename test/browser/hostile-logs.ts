import { parseFrame } from '../../src/frames/parse-frame.ts'
import { isJsonObject, type Json, type JsonObject } from '../../src/protocol/json.ts'

// What makes a frame a frame of its log.
const KEPT: ReadonlySet<string> = new Set(['v', 'run_id', 'seq', 'ts', 'type'])

/** Gives one text after the other, and begins again after the last. */
export function rotation(texts: readonly string[]): () => string {
  let given = 0
  return () => {
    given += 1
    return texts[(given - 1) % texts.length] ?? ''
  }
}

/**
 * A log in which every text that the format leaves free is another: as whoever can write a log, or makes a program
 * write one, could have it. It has a field of no known name in each frame too.
 */
export function hostileLog(lines: readonly string[], next: () => string): readonly string[] {
  return lines.map((line) => {
    const frame: JsonObject = JSON.parse(line)
    for (const path of textPaths(frame)) {
      const [name] = path
      if (name === undefined || (path.length === 1 && KEPT.has(name))) continue
      const before = valueAt(frame, path)
      put(frame, path, next())
      if (!isFrameText(JSON.stringify(frame))) put(frame, path, before)
    }
    return JSON.stringify({ ...frame, [next()]: next() })
  })
}

/** Where a value has texts. */
function textPaths(value: Json | undefined, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value === 'string') return [path]
  if (Array.isArray(value)) return value.flatMap((inner, at) => textPaths(inner, [...path, String(at)]))
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([name, inner]) => textPaths(inner, [...path, name]))
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => Reflect.get(at as object, name), value)
}

function put(value: unknown, path: readonly string[], text: unknown): void {
  Reflect.set(valueAt(value, path.slice(0, -1)) as object, path.at(-1) ?? '', text)
}

function isFrameText(line: string): boolean {
  try {
    parseFrame(line)
    return true
  } catch {
    return false
  }
}
