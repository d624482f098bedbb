import type { Clock } from '../clock.ts'
import { LoopchartError } from '../errors.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { frameChars } from './frame-chars.ts'
import { firstOf, type SkippingCursor } from './frame-cursor.ts'
import { nextTurn } from './next-turn.ts'
import { LogRows } from './read-log.ts'
import { findRun, type RunRow } from './run-rows.ts'
import type { StoreFile } from './store-file.ts'

// In frames, as LogRows counts what it does.
const COST_A_TAKE = 2000
const LOOK_EVERY_MS = 1000

/** A place in the log of a run that anybody may append to. Rows are read forward and once. */
export class StoredCursor implements SkippingCursor {
  readonly #file: StoreFile
  readonly #clock: Clock
  readonly #rows: LogRows
  #row: RunRow
  #at: number
  /** Read, and too long for the last `take`. */
  #held: Frame | null = null
  #waiting: PromiseWithResolvers<void> | null = null
  #disarm: (() => void) | null = null
  #isClosed = false

  constructor(file: StoreFile, row: RunRow, from: number, clock: Clock) {
    this.#file = file
    this.#clock = clock
    this.#row = row
    this.#rows = new LogRows(file, row.id, row.runId)
    this.#at = firstOf(from)
  }

  get at(): number {
    return this.#at
  }

  get isEnded(): boolean {
    const { frames, summary } = this.#row
    return this.#isClosed || (summary.status === 'ended' && this.#at >= frames)
  }

  get isBehind(): boolean {
    return !this.isEnded && (this.#held !== null || this.#rows.seq < this.#row.frames)
  }

  skipTo(at: number): void {
    this.#at = Math.max(this.#at, at)
  }

  take(maxFrames: number, maxChars = Number.POSITIVE_INFINITY): readonly Frame[] {
    if (!this.isBehind && !this.isEnded) this.#look()
    const costMax = this.#rows.cost + COST_A_TAKE
    const taken: Frame[] = []
    let chars = 0
    while (taken.length < maxFrames && this.isBehind && this.#rows.cost < costMax) {
      const frame = this.#held ?? this.#rows.next(this.#row)
      this.#held = null
      if (frame === null) break
      if (frame.seq < this.#at) continue
      if (Number.isFinite(maxChars)) chars += frameChars(frame)
      if (chars > maxChars && taken.length > 0) {
        this.#held = frame
        break
      }
      taken.push(frame)
      this.#at += 1
    }
    return taken
  }

  changed(): Promise<void> {
    if (this.isEnded) return Promise.resolve()
    if (this.isBehind) return nextTurn()
    if (this.#waiting === null) {
      this.#waiting = Promise.withResolvers()
      this.#disarm = this.#clock.setTimer(this.#clock.now() + LOOK_EVERY_MS, () => this.#wake())
    }
    return this.#waiting.promise
  }

  close(): void {
    this.#isClosed = true
    this.#held = null
    this.#disarm?.()
    this.#wake()
  }

  /** Sees how far the log goes by now. */
  #look(): void {
    const { id, runId } = this.#row
    const row = findRun(this.#file, runId)
    // Another one of the same id is another log.
    if (row === null || row.id !== id) {
      throw new LoopchartError('run_unknown', `run ${runId} was removed while it was read`)
    }
    this.#row = row
    // Also where it has not grown: what was read must still be what the store says.
    if (this.#rows.seq >= row.frames) this.#rows.next(row)
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = null
    this.#disarm = null
    waiting?.resolve()
  }
}
