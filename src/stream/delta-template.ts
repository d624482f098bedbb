import { endOfString } from '../protocol/end-of-string.ts'
import { parseJson, type Json, type JsonObject } from '../protocol/json.ts'
import { ownText } from './own-text.ts'

// The fields in which the deltas of one part differ; everything else is the same text each time.
const VARYING: ReadonlySet<string> = new Set(['sequence_number', 'delta', 'obfuscation'])

interface Hole {
  readonly key: string
  readonly isText: boolean
  /** The text before the hole. */
  readonly before: string
}

/** What stands in the holes of one text, in their order: a text as it is written there, or a number. */
export type Filling = readonly (string | number)[]

/** Some events of one form, one directly behind the other. */
export interface DeltaRun {
  readonly count: number
  /** What stood in the holes of the first, then in those of the second, and so on. */
  readonly fillings: Filling
  /** All their deltas, one behind the other. */
  readonly text: string
  /** Where the text that they were read from goes on. */
  readonly end: number
}

/**
 * Reads events that are the same text as one that was parsed before, but for a number and a string or two.
 *
 * A long answer is thousands of such events, and JSON.parse is most of what reading one costs; comparing the text
 * that stays and cutting out what changes takes a fifth of that.
 */
export class DeltaTemplate {
  /** Of all events that it reads. */
  readonly type: string
  /** What the text that was matched last parses to. One object for all of them: who keeps it, copies it. */
  readonly event: JsonObject
  /** What stood in the holes of that text. One list for all of them. */
  readonly filling: Filling
  readonly #event: Record<string, Json | undefined>
  readonly #filling: (string | number)[]
  /** The delta that was read last of a run, without its escapes. */
  #delta = ''
  readonly #holes: readonly Hole[]
  readonly #after: string
  #fixed: readonly string[] | null = null
  /** What stands before the data of such an event in a stream, as it is mostly written. */
  #lead: string | null = null
  /** Which of the holes is that of a delta that is text; -1: none is. */
  readonly #deltaHole: number
  readonly #sequenceHole: number

  private constructor(event: JsonObject, holes: readonly Hole[], after: string) {
    this.type = typeof event['type'] === 'string' ? event['type'] : ''
    this.#event = { ...event }
    this.event = this.#event
    this.#filling = holes.map(() => '')
    this.filling = this.#filling
    this.#holes = holes
    this.#after = after
    this.#deltaHole = holes.findIndex(({ key, isText }) => key === 'delta' && isText)
    this.#sequenceHole = holes.findIndex(({ key }) => key === 'sequence_number')
  }

  /** Learns from an event and its exact text; null when it is not a flat object that can be told apart by its text. */
  static learn(event: JsonObject, text: string): DeltaTemplate | null {
    const holes: Hole[] = []
    let from = 0
    for (const [key, value] of Object.entries(event)) {
      if (!isFlat(value)) return null
      if (!VARYING.has(key) || !isHole(value)) continue
      const found = findValue(text, key, value)
      // Keys come in the order of the text.
      if (found === null || found.start < from) return null
      holes.push({ key, isText: typeof value === 'string', before: ownText(text.slice(from, found.start)) })
      from = found.end
    }
    const after = ownText(text.slice(from))
    // A key can be written with escapes and would then be there twice; what stays has none.
    if (after.includes('\\') || holes.some(({ before }) => before.includes('\\'))) return null
    return new DeltaTemplate(event, holes, after)
  }

  /** What JSON.parse would give; null when the text is not of this form. */
  read(text: string): JsonObject | null {
    return this.match(text) ? { ...this.#event } : null
  }

  /** Whether a text is of this form; `event` and `filling` are then those of it, and otherwise of nothing. */
  match(text: string): boolean {
    return this.#fill(text, 0, this.#event) === text.length
  }

  /**
   * Reads events of this form off a stream, from the beginning of one on, as long as each has the number behind that of
   * the one before; null when there is none. `event` stays what it was.
   */
  readRun(stream: string, from: number, lastSequence: number | null, countMax: number): DeltaRun | null {
    if (this.#deltaHole === -1 || this.#sequenceHole === -1 || lastSequence === null) return null
    this.#lead ??= `event: ${this.type}\ndata: `
    const lead = this.#lead
    const fillings: (string | number)[] = []
    let [text, count, end] = ['', 0, from]
    while (count < countMax && stream.indexOf(lead, end) === end) {
      const dataEnd = this.#fill(stream, end + lead.length, null)
      if (dataEnd === -1 || stream.charCodeAt(dataEnd) !== LF || stream.charCodeAt(dataEnd + 1) !== LF) break
      if (this.#filling[this.#sequenceHole] !== lastSequence + count + 1) break
      for (let hole = 0; hole < this.#filling.length; hole += 1) fillings.push(this.#filling[hole] ?? '')
      text += this.#delta
      count += 1
      end = dataEnd + 2
    }
    return count === 0 ? null : { count, fillings, text, end }
  }

  /**
   * Where a text of this form that begins at a place ends, with what is in its holes taken out; -1: there is none. What that
   * means goes into an event, or the delta alone is kept.
   */
  #fill(text: string, from: number, event: Record<string, Json | undefined> | null): number {
    let at = from
    for (let hole = 0; hole < this.#holes.length; hole += 1) {
      const { key, isText, before } = this.#holes[hole] ?? NO_HOLE
      // startsWith compares character by character and takes longer than JSON.parse; a search does not.
      if (text.indexOf(before, at) !== at) return -1
      const start = at + before.length
      if (isText) {
        const plainEnd = endOfPlain(text, start)
        // The text before a hole for text ends with the quote that opens it.
        at = text.charCodeAt(plainEnd) === QUOTE ? plainEnd : endOfString(text, start - 1)
        const written = text.slice(start, at)
        const value = at === plainEnd ? written : unescaped(written)
        if (value === null) return -1
        if (event !== null) event[key] = value
        else if (hole === this.#deltaHole) this.#delta = value
        this.#filling[hole] = written
      } else {
        at = endOfInteger(text, start)
        if (at === -1) return -1
        const value = Number(text.slice(start, at))
        if (event !== null) event[key] = value
        this.#filling[hole] = value
      }
    }
    return text.indexOf(this.#after, at) === at ? at + this.#after.length : -1
  }

  /** The text before each hole, and that behind the last. */
  get fixed(): readonly string[] {
    // Asked for with every delta that is stored, and not at all where none is.
    this.#fixed ??= [...this.#holes.map(({ before }) => before), this.#after]
    return this.#fixed
  }

  /** The text whose holes held what stands in a list from a place on. */
  textOf(fillings: Filling, from: number): string {
    let text = ''
    for (let hole = 0; hole < this.#holes.length; hole += 1) {
      const { before } = this.#holes[hole] ?? NO_HOLE
      text = `${text}${before}${fillings[from + hole] ?? ''}`
    }
    return text + this.#after
  }

  /** The delta of the event whose holes held that; '' when it has no such hole. */
  deltaOf(fillings: Filling, from: number): string {
    const written = fillings[from + this.#deltaHole]
    return this.#deltaHole === -1 || typeof written !== 'string' ? '' : (unescaped(written) ?? '')
  }
}

const NO_HOLE: Hole = { key: '', isText: false, before: '' }

/**
 * Where the value of a top-level key stands. In a flat object a quote that is not escaped begins or ends a key or a
 * text, so that the key with its quotes and colon is that key; null when it is not there, or there twice.
 */
function findValue(
  text: string,
  key: string,
  value: string | number,
): { readonly start: number; readonly end: number } | null {
  const name = `"${key}":`
  const at = text.indexOf(name)
  if (at === -1 || text.lastIndexOf(name) !== at) return null
  let start = at + name.length
  // As Python writes it.
  if (text[start] === ' ') start += 1
  const isText = typeof value === 'string'
  if (isText && text[start] !== '"') return null
  const end = isText ? endOfString(text, start) : endOfInteger(text, start)
  if (isText) start += 1
  // A fraction or an exponent would stay where it is and count for every number that comes.
  if (end === -1 || !/^["\s,}]/u.test(text.charAt(end))) return null
  const written = text.slice(start, end)
  return (isText ? unescaped(written) : Number(written)) === value ? { start, end } : null
}

function isFlat(value: Json | undefined): boolean {
  return typeof value !== 'object' || value === null || (Array.isArray(value) && value.length === 0)
}

function isHole(value: Json | undefined): value is string | number {
  return typeof value === 'string' || isPlainInteger(value)
}

function isPlainInteger(value: Json | undefined): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

const LF = 10
const QUOTE = 34
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

/** Where a text inside of quotes comes to something that does not stand for itself: most come to the quote that closes them. */
function endOfPlain(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE || code === BACKSLASH || code < 32) return at
  }
  return text.length
}
