import { endOfString } from '../protocol/end-of-string.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { DeltaForm, unescaped, type Filling } from './delta-form.ts'
import { ownText } from './own-text.ts'

// The fields in which the deltas of one part differ, and how each is written; everything else is the same text each time.
const VARYING: ReadonlyMap<string, string> = new Map(
  ['sequence_number', 'delta', 'obfuscation'].map((key) => [key, JSON.stringify(key)]),
)

interface Hole {
  readonly key: string
  readonly isText: boolean
  /** The text before the hole. */
  readonly before: string
}

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
  readonly form: DeltaForm
  /** What the text that was matched last parses to; after a run, with all its deltas. One object: who keeps it, copies it. */
  readonly event: JsonObject
  /** What stood in the holes of the text that was matched last. One list for all of them. */
  readonly filling: Filling
  readonly #event: Record<string, Json | undefined>
  readonly #filling: (string | number)[]
  /** The delta that was read last of a run, without its escapes; and whether one of the run had some. */
  #delta = ''
  #hasEscapes = false
  readonly #holes: readonly Hole[]
  readonly #after: string
  /** What stands before the data of such an event in a stream, and behind it, as it is mostly written. */
  readonly #lead: string
  readonly #end: string
  readonly #sequenceHole: number

  private constructor(event: JsonObject, holes: readonly Hole[], after: string) {
    const type = typeof event['type'] === 'string' ? event['type'] : ''
    this.#event = { ...event }
    this.event = this.#event
    this.#filling = holes.map(() => '')
    this.filling = this.#filling
    this.#holes = holes
    this.#after = after
    this.#sequenceHole = holes.findIndex(({ key, isText }) => key === 'sequence_number' && !isText)
    this.#lead = `event: ${type}\ndata: `
    this.#end = `${after}\n\n`
    const fixed = [...holes.map(({ before }) => before), after]
    const deltaHole = holes.findIndex(({ key, isText }) => key === 'delta' && isText)
    this.form = new DeltaForm(type, fixed, deltaHole)
  }

  /** Learns from an event and its exact text; null when it is not a flat object that can be told apart by its text. */
  static learn(event: JsonObject, text: string): DeltaTemplate | null {
    const holes: Hole[] = []
    let from = 0
    for (const [key, value] of Object.entries(event)) {
      if (!isFlat(value)) return null
      const written = VARYING.get(key)
      if (written === undefined || !isHole(value)) continue
      const found = findValue(text, written, value)
      // Keys come in the order of the text.
      if (found === null || found.start < from) return null
      holes.push({ key, isText: typeof value === 'string', before: ownText(text.slice(from, found.start)) })
      from = found.end
    }
    const after = ownText(text.slice(from))
    if ([after, ...holes.map(({ before }) => before)].some((fixed) => UNFIT.test(fixed))) return null
    return new DeltaTemplate(event, holes, after)
  }

  /** What JSON.parse would give; null when the text is not of this form. */
  read(text: string): JsonObject | null {
    return this.match(text) ? { ...this.#event } : null
  }

  /** Whether a text is of this form; `event` and `filling` are then those of it, and otherwise of nothing. */
  match(text: string): boolean {
    return this.#fill(text) === text.length
  }

  /**
   * Reads events of this form off a stream, from the beginning of one on, as long as each has the number behind that of
   * the one before; null when there is none. The delta of `event` is then that of all of them.
   */
  readRun(stream: string, from: number, lastSequence: number | null, countMax: number): DeltaRun | null {
    if (this.form.deltaHole === -1 || this.#sequenceHole === -1 || lastSequence === null) return null
    const lead = this.#lead
    const fillings: (string | number)[] = []
    this.#hasEscapes = false
    let text = ''
    let count = 0
    let end = from
    while (count < countMax && stream.indexOf(lead, end) === end) {
      const next = this.#readNext(stream, end + lead.length, lastSequence + count + 1, fillings)
      if (next === -1) break
      text += this.#delta
      count += 1
      end = next
    }
    if (count === 0) return null
    // Of one that broke off, some holes are filled.
    fillings.length = count * this.#holes.length
    if (CONTROL.test(this.#hasEscapes || this.#holes.length > 2 ? fillings.join('') : text)) return null
    this.#event['delta'] = text
    return { count, fillings, text, end }
  }

  /** Where the event ends whose data begins at a place, with what is in its holes added to a list; -1: it is another one. */
  #readNext(stream: string, from: number, sequence: number, fillings: (string | number)[]): number {
    let at = from
    for (let hole = 0; hole < this.#holes.length; hole += 1) {
      const { isText, before } = this.#holes[hole] ?? NO_HOLE
      if (stream.indexOf(before, at) !== at) return -1
      const start = at + before.length
      if (isText) {
        at = stream.indexOf('"', start)
        let written = stream.slice(start, at)
        let value: string | null = written
        if (written.includes('\\')) {
          this.#hasEscapes = true
          at = endOfString(stream, start - 1)
          written = stream.slice(start, at)
          value = unescaped(written)
        }
        if (at === -1 || value === null) return -1
        if (hole === this.form.deltaHole) this.#delta = value
        fillings.push(written)
      } else {
        const digits = `${sequence}`
        // A longer number has a digit where what follows must begin.
        if (hole !== this.#sequenceHole || !stream.startsWith(digits, start)) return -1
        fillings.push(sequence)
        at = start + digits.length
      }
    }
    return stream.indexOf(this.#end, at) === at ? at + this.#end.length : -1
  }

  /** Where the text of this form ends that another begins with, with what is in its holes taken out; -1: there is none. */
  #fill(text: string): number {
    let at = 0
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
        this.#event[key] = value
        this.#filling[hole] = written
      } else {
        at = endOfInteger(text, start)
        if (at === -1) return -1
        const value = Number(text.slice(start, at))
        this.#event[key] = value
        this.#filling[hole] = value
      }
    }
    return text.indexOf(this.#after, at) === at ? at + this.#after.length : -1
  }
}

// What stays has no escapes: a key can be written with some and would then be there twice. Nor has it line ends: the
// data of an event that has some came over several lines, and between those the stream has more than the line end.
const UNFIT = /[\\\r\n]/u
const NO_HOLE: Hole = { key: '', isText: false, before: '' }

/**
 * Where the value of a top-level key stands. In a flat object a quote that is not escaped begins or ends a key or a
 * text, so that the key with its quotes and colon is that key; null when it is not there, or there twice.
 */
function findValue(
  text: string,
  name: string,
  value: string | number,
): { readonly start: number; readonly end: number } | null {
  const at = text.indexOf(name)
  // Also where it is there as a value: which of them counts is for a parser to say.
  if (at === -1 || text.lastIndexOf(name) !== at) return null
  let start = at + name.length
  while (text[start] === ' ' || text[start] === '\t') start += 1
  if (text[start] !== ':') return null
  start += 1
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

// JSON has none of these in a text.
// oxlint-disable-next-line no-control-regex -- these are the characters that a text must not have
const CONTROL = /[\0-\x1f]/u
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

/** Where a text inside of quotes comes to something that does not stand for itself: most come to the quote that closes them. */
function endOfPlain(text: string, start: number): number {
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE || code === BACKSLASH || code < 32) return at
  }
  return text.length
}
