/**
 * What time it is by the clock that writes a log. This machine's may be ahead of it or behind: frames that arrive as
 * they are written say by how much.
 */
export class RunTime {
  #aheadMs: number | null = null

  /** Frames came, the last of them with this time. They are fresh when they were written after the log was opened. */
  arrived(ts: number, nowMs: number, areFresh: boolean): void {
    const aheadMs = nowMs - ts
    // An old frame says nothing about this clock, unless it is from what is still to come.
    if (!areFresh && aheadMs >= 0) return
    this.#aheadMs = Math.min(this.#aheadMs ?? aheadMs, aheadMs)
  }

  /** The time now; never before that of the last frame. */
  at(nowMs: number, lastTs: number): number {
    return Math.max(lastTs, nowMs - (this.#aheadMs ?? 0))
  }
}
