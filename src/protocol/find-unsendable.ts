import { faultText } from './fault-text.ts'

// Deeper than any request that a person or a program means, and far from where JSON.stringify runs out of
// stack.
const depthMax = 256

// Counted as in the text that would be sent, so that an object which occurs on very many paths ends here as
// well.
const valuesMax = 5_000_000

/**
 * Finds the first part of a value that JSON cannot carry unchanged: a function, a symbol, a bigint, a number
 * that is not finite, a hole in an array, an instance of a class, or an object that is too deep, too large or
 * contains itself. Answers with its path and what is wrong, or null. Property values that are undefined are
 * left out by JSON and pass.
 */
export function findUnsendable(value: unknown): string | null {
  const walk: Walk = { path: null, valuesLeft: valuesMax }
  const fault = visit(value, walk, 0)
  return fault === null ? null : faultText(walk.path?.toReversed() ?? [], fault)
}

interface Walk {
  /** After a fault: where it was found, from there outwards. */
  path: string[] | null
  valuesLeft: number
}

function visit(value: unknown, walk: Walk, depth: number): string | null {
  walk.valuesLeft -= 1
  if (walk.valuesLeft < 0) return `makes the request larger than ${valuesMax} values`
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return null
  if (typeof value === 'object') return visitObject(value, walk, depth)
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'must be a finite number'
  return `must be JSON, not ${typeof value}`
}

function visitObject(value: object, walk: Walk, depth: number): string | null {
  // A cycle is found here too: going round it gets deeper at each turn.
  if (depth >= depthMax) return `is nested deeper than ${depthMax} levels, or contains itself`
  if (Array.isArray(value)) return visitArray(value, walk, depth)
  if (!isPlain(value)) return 'must be a plain object'
  const keys = Object.keys(value)
  for (let at = 0; at < keys.length; at += 1) {
    const key = keys[at] ?? ''
    const inner: unknown = Reflect.get(value, key)
    const fault = inner === undefined ? null : visit(inner, walk, depth + 1)
    if (fault !== null) return foundIn(key, fault, walk)
  }
  return null
}

function visitArray(values: readonly unknown[], walk: Walk, depth: number): string | null {
  for (let index = 0; index < values.length; index += 1) {
    const fault = visit(values[index], walk, depth + 1)
    if (fault !== null) return foundIn(String(index), fault, walk)
  }
  return null
}

function foundIn(key: string, fault: string, walk: Walk): string {
  walk.path ??= []
  walk.path.push(key)
  return fault
}

// Of another realm or without a prototype is fine; a Date or a Map would be sent as something else than it
// is.
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
