import { LoopchartError } from '../../errors.ts'
import { quoted } from '../quoted.ts'
import { codePointSet, type CodePointSet } from './code-point-set.ts'

/** A pattern and how far it has been read. */
export class PatternReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
    if (!text.isWellFormed()) throw this.fault('half of a character', 'leave it out')
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length
  }

  sees(text: string): boolean {
    return this.#text.startsWith(text, this.#at)
  }

  /** Reads the text if it comes next. */
  take(text: string): boolean {
    const isNext = this.sees(text)
    if (isNext) this.#at += text.length
    return isNext
  }

  /** Reads what a sticky expression of ours, not of the model, matches next. */
  takeMatch(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at
    const match = expression.exec(this.#text)
    if (match !== null) this.#at += match[0].length
    return match
  }

  /** Reads one character, whatever it is. */
  takeCodePoint(): number {
    const codePoint = this.#text.codePointAt(this.#at)
    if (codePoint === undefined) throw this.fault('no end', 'finish the class or the escape at its end')
    this.#at += codePoint > 0xff_ff ? 2 : 1
    return codePoint
  }

  /** Reads one character that stands for itself. */
  takeLiteral(): CodePointSet {
    const codePoint = this.takeCodePoint()
    return codePointSet([[this.inLine(codePoint), codePoint]])
  }

  /** The code point, if a line can have it. */
  inLine(codePoint: number): number {
    if (codePoint === 0x0a)
      throw this.fault('a line break', 'search for one of the lines, they are matched one by one')
    const isCharacter = codePoint <= 0x10_ff_ff && (codePoint < 0xd8_00 || codePoint > 0xdf_ff)
    if (isCharacter) return codePoint
    throw this.fault(`the number ${codePoint.toString(16)}, which is no character`, 'use one up to 10ffff')
  }

  /** What is wrong at this place, and what to do about it. */
  fault(what: string, instead: string): LoopchartError {
    const before = this.#text.slice(Math.max(0, this.#at - 20), this.#at + 5)
    const message = `pattern has ${what} near ${quoted(before)}, ${instead}`
    return new LoopchartError('pattern_invalid', message)
  }
}
