import type { Frame } from '../frames/generated/frame.ts'
import { StepReader, type HistoryStep } from './step-reader.ts'

export type { HistoryStep } from './step-reader.ts'

/**
 * Where a run was at each of its frames: its log folded through the chart, step by step. Frames are added as they
 * come, and cost what is new. It needs nothing of Node, so that a page can have one too.
 */
export class RunHistory {
  readonly #reader = new StepReader()
  readonly #steps: HistoryStep[] = []
  #problem: string | null = null

  /** Every step so far; it grows, and is always the same list. */
  get steps(): readonly HistoryStep[] {
    return this.#steps
  }

  /**
   * Why there are no steps, or none from some frame on: the log of a conversation, a gap, a log that another chart
   * has written. Null while all is well.
   */
  get problem(): string | null {
    return this.#problem
  }

  /** Takes the next frames of the log, from its first on. Never throws: see `problem`. */
  add(frames: readonly Frame[]): void {
    for (const frame of frames) {
      if (this.#problem !== null) return
      try {
        const step = this.#reader.add(frame)
        if (step !== null) this.#steps.push(step)
      } catch (error) {
        this.#problem = error instanceof Error ? error.message : 'the log cannot be read'
      }
    }
  }

  /** The last step at or before a frame, by its number; null when there is none. */
  stepAt(seq: number): HistoryStep | null {
    let [low, high] = [0, this.#steps.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#steps[middle]?.seq ?? Number.POSITIVE_INFINITY) <= seq) low = middle + 1
      else high = middle
    }
    return this.#steps[low - 1] ?? null
  }
}
