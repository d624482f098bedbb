import { toEditable } from './editable-text.ts'

const PASTE_START = '\u001b[200~'
const PASTE_END = '\u001b[201~'
const LINE_END = /\r\n?|\n/u

/**
 * What a terminal sends, as keys for an editor of one line. What is pasted becomes one piece without line ends, so that
 * a text of many lines is one message and not many; what follows the end of a line waits for the next one.
 */
export class KeyFilter {
  #waiting = ''
  #isPasting = false

  push(text: string): void {
    this.#waiting += text
  }

  /** The next keys; null: there are none. A line end is always the last of them. */
  take(): string | null {
    for (;;) {
      const { length } = this.#waiting
      const keys = this.#isPasting ? this.#takePasted() : this.#takeTyped()
      if (keys !== '') return keys
      // Nothing may also have been pasted.
      if (this.#waiting.length === length) return null
    }
  }

  #takeTyped(): string {
    const start = this.#waiting.indexOf(PASTE_START)
    const typed = start === -1 ? this.#waiting : this.#waiting.slice(0, start)
    const end = LINE_END.exec(typed)
    if (end !== null) {
      this.#waiting = this.#waiting.slice(end.index + end[0].length)
      return `${typed.slice(0, end.index)}\r`
    }
    if (start !== -1) {
      this.#waiting = this.#waiting.slice(start + PASTE_START.length)
      this.#isPasting = true
      return typed + this.#takePasted()
    }
    return this.#takeAllBut(partialLength(this.#waiting, PASTE_START, LONE_MAX))
  }

  #takePasted(): string {
    const end = this.#waiting.indexOf(PASTE_END)
    if (end === -1) return toEditable(this.#takeAllBut(partialLength(this.#waiting, PASTE_END, 0)))
    const pasted = this.#waiting.slice(0, end)
    this.#waiting = this.#waiting.slice(end + PASTE_END.length)
    this.#isPasting = false
    // What comes after it is for the next call.
    return toEditable(pasted)
  }

  #takeAllBut(length: number): string {
    const at = this.#waiting.length - length
    const taken = this.#waiting.slice(0, at)
    this.#waiting = this.#waiting.slice(at)
    return taken
  }
}

// Escape on its own is a key, and is not held back.
const LONE_MAX = 1

/** How much of the end of a text may be the beginning of a mark that goes on. */
function partialLength(text: string, mark: string, lengthMin: number): number {
  for (let length = Math.min(mark.length - 1, text.length); length > lengthMin; length -= 1) {
    if (text.endsWith(mark.slice(0, length))) return length
  }
  return 0
}
