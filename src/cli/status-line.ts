import type { Terminal } from './terminal.ts'

const ESC = '\u001b'
const ROWS_MIN = 4
const REDRAW_MS = 100

/**
 * Keeps the last row of a terminal for one line. Everything above it scrolls as ever: nothing needs to know where text
 * that a model writes happens to wrap. The line is not drawn while its text is null.
 */
export class StatusLine {
  readonly #stream: NodeJS.WriteStream
  readonly #paint: Terminal['paint']
  readonly #text: () => string | null
  readonly #timer: NodeJS.Timeout
  readonly #onResize = (): void => this.#reserve()
  readonly #onExit = (): void => this.close()
  readonly #onStop = (): void => this.#stop()
  readonly #onContinue = (): void => this.#reserve()
  #rows = 0
  #shown = ''

  constructor({ stream, paint }: Terminal, text: () => string | null) {
    this.#stream = stream
    this.#paint = paint
    this.#text = text
    this.#reserve()
    stream.on('resize', this.#onResize)
    process.on('exit', this.#onExit)
    process.on('SIGTSTP', this.#onStop)
    process.on('SIGCONT', this.#onContinue)
    this.#timer = setInterval(() => this.draw(), REDRAW_MS).unref()
  }

  draw(): void {
    if (this.#rows < ROWS_MIN) return
    const text = this.#text()?.slice(0, Math.max(this.#stream.columns - 1, 0))
    if (text === undefined || text === this.#shown) return
    this.#shown = text
    this.#stream.write(`${ESC}7${ESC}[${this.#rows};1H${ESC}[2K${this.#paint('dim', text)}${ESC}8`)
  }

  /** Gives the row back. */
  close(): void {
    clearInterval(this.#timer)
    this.#stream.off('resize', this.#onResize)
    process.off('exit', this.#onExit)
    process.off('SIGTSTP', this.#onStop)
    process.off('SIGCONT', this.#onContinue)
    this.#giveBack()
  }

  /** Ctrl-Z: the shell has the whole terminal until the process goes on. */
  #stop(): void {
    this.#giveBack()
    process.kill(process.pid, 'SIGSTOP')
  }

  #giveBack(): void {
    if (this.#rows >= ROWS_MIN) {
      this.#stream.write(`${ESC}7${ESC}[r${ESC}[${this.#rows};1H${ESC}[2K${ESC}8`)
    }
    this.#rows = 0
  }

  #reserve(): void {
    const before = this.#rows
    const { rows }: { readonly rows?: number } = this.#stream
    // Not every terminal knows its size.
    this.#rows = rows ?? 0
    this.#shown = ''
    // After a resize the old line is somewhere below the cursor, where nothing else is.
    if (before > 0) this.#stream.write(`${ESC}7${ESC}[r${ESC}8${ESC}[J`)
    if (this.#rows < ROWS_MIN) return
    // Down and up again makes room when the cursor is in the last row, and D keeps the column, which a line feed does
    // not. Setting the region moves the cursor, hence 7 and 8.
    this.#stream.write(`${ESC}D${ESC}[1A${ESC}7${ESC}[1;${this.#rows - 1}r${ESC}8`)
    this.draw()
  }
}
