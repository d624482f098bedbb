import type { Frame } from '../../frames/generated/frame.ts'
import { countUpTo } from './binary-search.ts'
import { frameKind, type FrameKind } from './frame-kind.ts'

/** The rows of the timeline under a filter: the seqs of the frames that it lets through. Grows with the run. */
export class TimelineIndex {
  /** Null: all kinds. */
  readonly kinds: ReadonlySet<FrameKind> | null
  readonly #seqs: number[] = []
  #seen = 0

  constructor(kinds: ReadonlySet<FrameKind> | null) {
    this.kinds = kinds
  }

  /** Takes up the frames that it has not seen yet. */
  update(frames: readonly Frame[]): void {
    const { kinds } = this
    if (kinds !== null) {
      for (let index = this.#seen; index < frames.length; index++) {
        const frame = frames[index]
        if (frame !== undefined && kinds.has(frameKind(frame))) this.#seqs.push(frame.seq)
      }
    }
    this.#seen = frames.length
  }

  get count(): number {
    return this.kinds === null ? this.#seen : this.#seqs.length
  }

  /** The seq in a row. */
  seqAt(row: number): number {
    return this.kinds === null ? row : (this.#seqs[row] ?? -1)
  }

  /** The row of the last frame at or before a seq; -1 when there is none. */
  rowOf(seq: number): number {
    return this.kinds === null ? Math.min(seq, this.#seen - 1) : countUpTo(this.#seqs, seq) - 1
  }
}
