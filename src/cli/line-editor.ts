import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { ReadStream, WriteStream } from 'node:tty'

import { fromEditable, toEditable } from './editable-text.ts'
import { KeyFilter } from './key-filter.ts'

export interface LineEditorOptions {
  readonly input: ReadStream
  readonly output: WriteStream
  /** Whether the terminal may be told to mark what is pasted. */
  readonly isLive: boolean
  /** What begins so, for the tab key. */
  readonly complete?: (beginning: string) => readonly string[]
}

/** What a person did at the prompt: wrote something, ended the input, or interrupted. */
export type Typed =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'end' }
  | { readonly kind: 'interrupt' }

export interface AskOptions {
  /** Earlier lines to go back to, the newest first. */
  readonly history?: readonly string[]
  /** Takes the question back, which is as if the input had ended. */
  readonly signal?: AbortSignal
}

const MARK_PASTES = '\u001b[?2004h'
const MARK_NO_PASTES = '\u001b[?2004l'

/**
 * Asks for lines on a terminal, with editing. Between two questions the terminal is as it was before: Ctrl-C is a
 * signal, and others may read the input. What was typed ahead is for the next question.
 */
export class LineEditor {
  readonly #options: LineEditorOptions
  readonly #keys = new KeyFilter()
  readonly #decoder = new StringDecoder('utf8')

  constructor(options: LineEditorOptions) {
    this.#options = options
  }

  ask(prompt: string, { history = [], signal }: AskOptions = {}): Promise<Typed> {
    const { input, output, isLive, complete } = this.#options
    // An input that has ended does not end again.
    if (input.readableEnded || signal?.aborted === true) return Promise.resolve({ kind: 'end' })
    const keys = new KeyStream(input)
    const lines = createInterface({
      input: keys,
      output,
      terminal: true,
      prompt,
      history: history.map(toEditable),
      historySize: Math.max(history.length, 1),
      ...(complete === undefined
        ? {}
        : { completer: (line: string): [string[], string] => [[...complete(line)], line] }),
    })
    const { promise, resolve } = Promise.withResolvers<Typed>()
    const onEnd = (): void => lines.close()
    let isFed = false
    const feed = (): void => {
      while (!isFed) {
        const next = this.#keys.take()
        if (next === null) return
        isFed = next.endsWith('\r')
        keys.write(next)
      }
    }
    const onData = (chunk: Buffer): void => {
      this.#keys.push(this.#decoder.write(chunk))
      feed()
    }
    lines.once('line', (line) => resolve({ kind: 'line', text: fromEditable(line) }))
    lines.once('SIGINT', () => resolve({ kind: 'interrupt' }))
    lines.once('close', () => resolve({ kind: 'end' }))
    // The editor lets go of its input when the process is stopped, and has to be told that it goes on.
    lines.on('SIGCONT', () => lines.prompt(true))
    signal?.addEventListener('abort', onEnd)
    if (isLive) output.write(MARK_PASTES)
    lines.prompt()
    input.on('data', onData)
    input.once('end', onEnd)
    // Whoever has asked something before may have let go of it.
    input.ref()
    input.resume()
    feed()
    return promise
      .then((typed) => {
        // Only the end of a line has ended the row.
        if (typed.kind !== 'line') output.write('\n')
        return typed
      })
      .finally(() => {
        input.off('data', onData)
        input.off('end', onEnd)
        signal?.removeEventListener('abort', onEnd)
        input.pause()
        lines.close()
        if (isLive) output.write(MARK_NO_PASTES)
      })
  }
}

/** Keys of a terminal, for an editor that switches the terminal over by itself. */
class KeyStream extends PassThrough {
  readonly #terminal: ReadStream

  constructor(terminal: ReadStream) {
    super()
    this.#terminal = terminal
  }

  get isRaw(): boolean {
    return this.#terminal.isRaw
  }

  setRawMode(isRaw: boolean): this {
    this.#terminal.setRawMode(isRaw)
    return this
  }
}
