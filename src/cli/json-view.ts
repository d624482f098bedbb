import type { Frame } from '../frames/generated/frame.ts'
import { formatFrame } from '../frames/format-frame.ts'
import type { RunView } from './run-view.ts'
import { safeJson } from './safe-text.ts'

/** A run for programs: every frame as one line of JSON, and nothing else. */
export class JsonView implements RunView {
  readonly #output: NodeJS.WritableStream

  constructor(output: NodeJS.WritableStream) {
    this.#output = output
  }

  frame(frame: Frame): void {
    this.#output.write(`${safeJson(formatFrame(frame))}\n`)
  }

  past(frame: Frame): void {
    // What is printed is a log, and a log begins with its first frame.
    this.frame(frame)
  }

  close(): void {
    // Nothing was changed that must be put back.
  }
}
