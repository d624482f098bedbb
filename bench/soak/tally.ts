import type { Kind } from './directive.ts'

// The first ones tell; a thousand of the same do not tell more.
const SHOWN_MAX = 50

/** What came of all messages. */
export class Tally {
  answered = 0
  /** Messages that are being answered. */
  underway = 0
  conversations = 0
  reopened = 0
  forked = 0
  pruned = 0
  compactions = 0
  slowestMs = 0
  prunedSlowestMs = 0
  unexpectedCount = 0
  hangs = 0
  readonly kinds: Partial<Record<Kind, number>> = {}
  readonly unexpected: string[] = []

  /** A message came to what it had to come to. */
  answer(kind: Kind, ms: number): void {
    this.answered += 1
    this.kinds[kind] = (this.kinds[kind] ?? 0) + 1
    this.slowestMs = Math.max(this.slowestMs, ms)
  }

  /** Something happened that nobody asked for. */
  wrong(what: string): void {
    this.unexpectedCount += 1
    if (this.unexpected.length < SHOWN_MAX) this.unexpected.push(what)
  }

  hang(what: string): void {
    this.hangs += 1
    this.wrong(what)
  }
}
