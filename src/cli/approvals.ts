import { createInterface } from 'node:readline/promises'

import type { ApprovalRequestedFrame } from '../frames/generated/frame.ts'
import type { Run } from '../loop/run.ts'

export type ApproveMode = 'ask' | 'all' | 'none'

/** Answers calls that need a person, as the user wants it. */
export class Approvals {
  /** A call needed a person and there was none. */
  isStuck = false
  readonly #mode: ApproveMode
  readonly #live: Run
  readonly #over = new AbortController()
  #asked: Promise<void> = Promise.resolve()

  constructor(mode: ApproveMode, live: Run) {
    this.#mode = mode
    this.#live = live
  }

  take({ call_id: callId }: ApprovalRequestedFrame): void {
    // One question at a time, in the order of the calls.
    this.#asked = this.#asked.then(() => this.#answer(callId))
  }

  /** The run is over: a question still open is taken back. */
  close(): void {
    this.#over.abort()
  }

  async #answer(callId: string): Promise<void> {
    if (this.#over.signal.aborted) return
    if (this.#mode === 'all') return void (await this.#live.approve(callId))
    if (this.#mode === 'none') return void (await this.#live.deny(callId, 'this run approves no calls'))
    if (!process.stdin.isTTY) {
      this.isStuck = true
      return void (await this.#live.cancel('a call needs approval and nobody can give it'))
    }
    const isApproved = await this.#ask()
    if (isApproved === null) return
    await (isApproved ? this.#live.approve(callId) : this.#live.deny(callId, 'the user said no'))
  }

  /** Null: the run ended first. */
  async #ask(): Promise<boolean | null> {
    // Not as a terminal: the kernel edits the line, and Ctrl-C stays a signal.
    const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false })
    try {
      const answer = await lines.question('run it? [y/N] ', { signal: this.#over.signal })
      return /^\s*y(?:es)?\s*$/iu.test(answer)
    } catch {
      return null
    } finally {
      lines.close()
      process.stdin.unref()
    }
  }
}
