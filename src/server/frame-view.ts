import type { Frame } from '../frames/generated/frame.ts'
import { FrameRedactor } from '../frames/redact-frames.ts'
import type { Redactor } from '../frames/redactor.ts'

/**
 * The frames of a log from a number on, as they may be seen: known secrets are masked, the log itself stays whole. It is
 * given all frames from the first on: a secret in pieces may have begun any number of frames before.
 */
export class FrameView {
  readonly #redactor: FrameRedactor | null
  readonly #from: number
  #held = 0

  constructor(redactor: Redactor, from: number) {
    this.#redactor = redactor.isIdle ? null : new FrameRedactor(redactor)
    this.#from = from
  }

  /** The number of the first frame that is wanted. */
  get from(): number {
    return this.#from
  }

  /** Whether frames wait for the next one to say whether they end inside of a secret. */
  get isHolding(): boolean {
    return this.#held > 0
  }

  /** Takes the next frames of the log; gives those that may be shown now. */
  show(frames: readonly Frame[]): readonly Frame[] {
    if (this.#redactor === null) return this.#wanted(frames)
    const shown: Frame[] = []
    for (const frame of frames) {
      const free = this.#redactor.push(frame)
      this.#held += 1 - free.length
      if (free.length > 0) shown.push(...free)
    }
    return this.#wanted(shown)
  }

  /** No frame follows: gives what was held back. */
  end(): readonly Frame[] {
    this.#held = 0
    return this.#redactor === null ? [] : this.#wanted(this.#redactor.end())
  }

  #wanted(frames: readonly Frame[]): readonly Frame[] {
    const [first] = frames
    return first === undefined || first.seq >= this.#from
      ? frames
      : frames.filter(({ seq }) => seq >= this.#from)
  }
}
