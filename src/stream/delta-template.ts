import { endOfString } from '../protocol/end-of-string.ts'
import { parseJson, type Json, type JsonObject } from '../protocol/json.ts'

// The fields in which the deltas of one part differ; everything else is the same text each time.
const VARYING: ReadonlySet<string> = new Set(['sequence_number', 'delta', 'obfuscation'])

// Compact JSON, and JSON with a space after commas and colons, as Python writes it.
const STYLES = [
  { comma: ',', colon: ':' },
  { comma: ', ', colon: ': ' },
] as const

interface Hole {
  readonly key: string
  readonly isText: boolean
  /** The text before the hole. */
  readonly before: string
}

/**
 * Reads events that are the same text as one that was parsed before, but for a number and a string or two.
 *
 * A long answer is thousands of such events, and JSON.parse is most of what reading one costs; comparing the text
 * that stays and cutting out what changes takes a fifth of that. `read` gives what JSON.parse would, or null
 * when the text is not of this form.
 */
export class DeltaTemplate {
  readonly #event: JsonObject
  readonly #holes: readonly Hole[]
  readonly #after: string

  private constructor(event: JsonObject, holes: readonly Hole[], after: string) {
    this.#event = event
    this.#holes = holes
    this.#after = after
  }

  /** Learns from an event and its exact text; null when it is not a flat object written in a known style. */
  static learn(event: JsonObject, text: string): DeltaTemplate | null {
    for (const style of STYLES) {
      const template = cutOut(event, style)
      // What the template writes for the event it was learned from is that event's own text: so any other text that
      // it matches is the same object with other values in the holes.
      if (template !== null && write(event, template) === text) {
        return new DeltaTemplate(event, template.holes, template.after)
      }
    }
    return null
  }

  read(text: string): JsonObject | null {
    let at = 0
    const event: Record<string, Json | undefined> = { ...this.#event }
    for (const { key, isText, before } of this.#holes) {
      // startsWith compares character by character and takes longer than JSON.parse; a search does not.
      if (text.indexOf(before, at) !== at) return null
      const start = at + before.length
      // The text before a hole for text ends with the quote that opens it.
      at = isText ? endOfString(text, start - 1) : endOfInteger(text, start)
      const value =
        at === -1 ? null : isText ? unescaped(text.slice(start, at)) : Number(text.slice(start, at))
      if (value === null) return null
      event[key] = value
    }
    return at + this.#after.length === text.length && text.endsWith(this.#after) ? event : null
  }
}

function cutOut(
  event: JsonObject,
  { comma, colon }: (typeof STYLES)[number],
): { holes: readonly Hole[]; after: string } | null {
  const holes: Hole[] = []
  // Joined, not added up: text that was added up is a tree, and each comparison with it would walk the tree.
  let before = ['{']
  for (const [key, value] of Object.entries(event)) {
    if (before.length > 1 || holes.length > 0) before.push(comma)
    before.push(JSON.stringify(key), colon)
    const isText = typeof value === 'string'
    if (VARYING.has(key) && (isText || isPlainInteger(value))) {
      if (isText) before.push('"')
      holes.push({ key, isText, before: before.join('') })
      before = isText ? ['"'] : []
    } else if (typeof value === 'object' && value !== null && !(Array.isArray(value) && value.length === 0)) {
      return null
    } else {
      before.push(JSON.stringify(value))
    }
  }
  before.push('}')
  return { holes, after: before.join('') }
}

function write(event: JsonObject, template: { holes: readonly Hole[]; after: string }): string {
  const parts = template.holes.map(({ key, isText, before }) => {
    const json = JSON.stringify(event[key])
    return before + (isText ? json.slice(1, -1) : json)
  })
  return parts.join('') + template.after
}

function isPlainInteger(value: Json | undefined): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

const BACKSLASH = 92
const ZERO = 48
const NINE = 57
// Fifteen digits are below 2^53 whatever they are.
const DIGITS_MAX = 15

function endOfInteger(text: string, start: number): number {
  let end = start
  while (end - start <= DIGITS_MAX && text.charCodeAt(end) >= ZERO && text.charCodeAt(end) <= NINE) end += 1
  const digits = end - start
  const hasLeadingZero = digits > 1 && text.charCodeAt(start) === ZERO
  return digits === 0 || digits > DIGITS_MAX || hasLeadingZero ? -1 : end
}

/** What stands between two quotes, as JSON means it; null when it is not JSON. */
function unescaped(text: string): string | null {
  const value = isPlain(text) ? text : parseJson(`"${text}"`)
  return typeof value === 'string' ? value : null
}

function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code < 32 || code === BACKSLASH) return false
  }
  return true
}
