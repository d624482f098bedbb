import { parseJson } from '../protocol/json.ts'

/** What stands in the holes of one text, in their order: a text as it is written there, or a number. */
export type Filling = readonly (string | number)[]

const BACKSLASH = 92

/** The text of events that differ in a number and a string or two: what stands around those. */
export class DeltaForm {
  /** Of all events of this form. */
  readonly type: string
  /** The text before each hole, and that behind the last. */
  readonly fixed: readonly string[]
  /** Which of the holes is that of a delta that is text; -1: none is. */
  readonly deltaHole: number

  constructor(type: string, fixed: readonly string[], deltaHole: number) {
    this.type = type
    this.fixed = fixed
    this.deltaHole = deltaHole
  }

  /** How many holes it has. */
  get holes(): number {
    return this.fixed.length - 1
  }

  /** The text whose holes held what stands in a list from a place on. */
  textOf(fillings: Filling, from: number): string {
    const { fixed } = this
    let text = fixed[0] ?? ''
    for (let hole = 1; hole < fixed.length; hole += 1) {
      text = `${text}${fillings[from + hole - 1] ?? ''}${fixed[hole]}`
    }
    return text
  }

  /** The delta of the event whose holes held that; '' when it has no such hole. */
  deltaOf(fillings: Filling, from: number): string {
    const written = fillings[from + this.deltaHole]
    return this.deltaHole === -1 || typeof written !== 'string' ? '' : (unescaped(written) ?? '')
  }
}

/** What stands between two quotes, as JSON means it; null when it is not JSON. */
export function unescaped(text: string): string | null {
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
