import { isJsonObject, parseJson, type Json } from '../protocol/json.ts'

/** What stands where a secret was. */
export const MASK = '[redacted]'

// Shorter values are words that text is full of: masking them hides nothing and spoils everything.
const LENGTH_MIN = 6
const START_MIN = 12

/** Where a secret is in a text. */
export interface SecretRange {
  readonly start: number
  readonly end: number
}

/**
 * Masks known values wherever they stand in texts and JSON, in the spellings that they travel in. A value that is cut
 * off counts when half of it is there, and at least 12 characters.
 */
export class Redactor {
  /** Whether there is nothing to look for. */
  readonly isIdle: boolean
  readonly #forms: readonly SecretForm[]
  readonly #isPlain: boolean
  #masked = 0

  constructor(secrets: Iterable<string>) {
    const values = [...new Set(secrets)].filter((value) => value.length >= LENGTH_MIN)
    const forms = new Set(values.flatMap(spellingsOf))
    this.#forms = [...forms].map((whole) => ({ whole, start: whole.slice(0, startLength(whole)) }))
    this.isIdle = this.#forms.length === 0
    this.#isPlain = values.every((value) => jsonSpelling(value) === value)
  }

  /** Whether there can be a secret in JSON text: when not, it need not be read. */
  mayHold(json: string): boolean {
    // Escapes that nobody needs to write, in JSON inside of the JSON, may spell any character.
    return !this.#isPlain || /\\\\[u/]/u.test(json) || this.#forms.some(({ start }) => json.includes(start))
  }

  /** How many places have been masked so far. */
  get masked(): number {
    return this.#masked
  }

  /** Counts a place that somebody else masked. */
  count(): void {
    this.#masked += 1
  }

  /** Where secrets are in a text, in order and apart from each other. */
  find(text: string): readonly SecretRange[] {
    const found = this.#forms.flatMap((form) => placesOf(form, text))
    if (found.length < 2) return found
    const merged: SecretRange[] = []
    for (const range of found.sort((a, b) => a.start - b.start)) {
      const last = merged.at(-1)
      if (last === undefined || range.start >= last.end) merged.push(range)
      else merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, range.end) }
    }
    return merged
  }

  /** How many characters at the end of a text may be the start of a secret that goes on. */
  partialLength(text: string): number {
    let longest = 0
    const lastCode = text.charCodeAt(text.length - 1)
    for (const { whole } of this.#forms) {
      for (let length = Math.min(whole.length - 1, text.length); length > longest; length -= 1) {
        // There is a text for each token, and most lengths are ruled out by one character.
        if (whole.charCodeAt(length - 1) !== lastCode || !text.endsWith(whole.slice(0, length))) continue
        longest = length
        break
      }
    }
    return longest
  }

  /** The text without secrets. JSON inside of it is read, since there a secret may be spelled in many ways. */
  text(text: string): string {
    if (this.isIdle) return text
    // Without a backslash every character stands for itself; and a match may begin inside of an escape.
    const isToRead = /^\s*[[{]/u.test(text) && (text.includes('\\') || this.find(text).length > 0)
    const value = isToRead ? parseJson(text) : undefined
    if (value === undefined) return this.#mask(text)
    const before = this.#masked
    const redacted = this.json(value)
    return this.#masked === before ? text : JSON.stringify(redacted)
  }

  /** The same for every text in a value, names of fields included. */
  json(value: Json): Json {
    if (this.isIdle) return value
    if (typeof value === 'string') return this.text(value)
    if (Array.isArray(value)) return value.map((entry: Json) => this.json(entry))
    if (typeof value === 'number')
      return this.find(String(value)).length === 0 ? value : this.#mask(String(value))
    if (!isJsonObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, entry]) => [
        this.#mask(key),
        entry === undefined ? null : this.json(entry),
      ]),
    )
  }

  #mask(text: string): string {
    let masked = ''
    let at = 0
    for (const { start, end } of this.find(text)) {
      this.count()
      masked += text.slice(at, start) + MASK
      at = end
    }
    return at === 0 ? text : masked + text.slice(at)
  }
}

interface SecretForm {
  readonly whole: string
  /** As much of it as gives it away. */
  readonly start: string
}

function startLength({ length }: string): number {
  return Math.min(length, Math.max(START_MIN, Math.ceil(length / 2)))
}

function placesOf({ whole, start }: SecretForm, text: string): readonly SecretRange[] {
  const places: SecretRange[] = []
  let at = text.indexOf(start)
  while (at !== -1) {
    let length = start.length
    while (length < whole.length && text[at + length] === whole[length]) length += 1
    places.push({ start: at, end: at + length })
    at = text.indexOf(start, at + length)
  }
  return places
}

/** As it is, in JSON, in JSON inside of JSON, and in an address. */
function spellingsOf(value: string): readonly string[] {
  const inJson = jsonSpelling(value)
  return [value, inJson, jsonSpelling(inJson), encodeURIComponent(value)]
}

function jsonSpelling(value: string): string {
  return JSON.stringify(value).slice(1, -1)
}
