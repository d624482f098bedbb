import { LoopchartError } from '../../errors.ts'
import { quoted } from '../quoted.ts'
import type { LineEnd } from './text-lines.ts'

const NO_NEWLINE = String.raw`\ No newline at end of file`

/** Goes through the lines of a patch. */
export class PatchReader {
  readonly #lines: readonly string[]
  #at = 0

  constructor(text: string) {
    this.#lines = text.split('\n')
  }

  /** The number of the line that is next, from 1. */
  get line(): number {
    return this.#at + 1
  }

  /** The next line without its line end; null after the last one. */
  peek(): string | null {
    const line = this.#lines[this.#at]
    if (line === undefined) return null
    return line.endsWith('\r') ? line.slice(0, -1) : line
  }

  /** How the next line ends. */
  lineEnd(): LineEnd {
    return this.#lines[this.#at]?.endsWith('\r') === true ? '\r\n' : '\n'
  }

  take(): void {
    this.#at += 1
  }

  skipBlank(): void {
    while (this.peek()?.trim() === '') this.take()
  }

  /** Whether the next line says that the file does not end with a newline; takes it then. */
  takeNoNewline(): boolean {
    const next = this.peek()
    if (next === null || !next.startsWith('\\')) return false
    if (next !== NO_NEWLINE) throw expected(this, NO_NEWLINE)
    this.take()
    return true
  }

  invalid(message: string, line = this.line): LoopchartError {
    return new LoopchartError('patch_invalid', `patch line ${line}: ${message}`)
  }
}

/** The error for a next line that should be another. */
export function expected(reader: PatchReader, what: string): LoopchartError {
  const found = reader.peek()
  return reader.invalid(`expected ${what}, found ${found === null ? 'the end of the text' : quoted(found)}`)
}
