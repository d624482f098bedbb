import { isJsonObject } from '../protocol/json.ts'
import { isDeeperThan } from './json-depth.ts'

const COMPARED_DEPTH_MAX = 128

/**
 * Compares argument texts as JSON, up to so many characters in all; after that only equal text is the same. Comparing
 * parses both texts, and a provider that repeats an event must not make that quadratic.
 */
export class JsonComparer {
  #charactersLeft: number

  constructor(charactersMax: number) {
    this.#charactersLeft = charactersMax
  }

  isSame(a: string, b: string): boolean {
    if (a === b) return true
    this.#charactersLeft -= a.length + b.length
    return this.#charactersLeft >= 0 && isSameJson(a, b)
  }
}

/**
 * Whether two texts are the same JSON value, whatever their spacing and key order. Text that is not JSON is only the
 * same as itself, and so is a number that JavaScript cannot hold exactly.
 */
export function isSameJson(a: string, b: string): boolean {
  if (a === b) return true
  if (isDeeperThan(COMPARED_DEPTH_MAX, a) || isDeeperThan(COMPARED_DEPTH_MAX, b)) return false
  try {
    return isSameValue(parseExactly(a), parseExactly(b))
  } catch {
    return false
  }
}

class InexactNumber {
  readonly source: string

  constructor(source: string) {
    this.source = source
  }
}

function parseExactly(text: string): unknown {
  // The third argument has the number as it was written; TypeScript's own declaration does not know it yet.
  return JSON.parse(text, (_key: string, value: unknown, ...rest: readonly unknown[]) => {
    if (typeof value !== 'number' || Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value
    const [context] = rest
    const source = isJsonObject(context) ? context['source'] : undefined
    return new InexactNumber(typeof source === 'string' ? source : String(value))
  })
}

function isSameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (a instanceof InexactNumber && b instanceof InexactNumber) return a.source === b.source
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((value, at) => isSameValue(value, b[at]))
  }
  if (!isJsonObject(a) || !isJsonObject(b) || a instanceof InexactNumber || b instanceof InexactNumber)
    return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSameValue(a[key], b[key]))
  )
}
