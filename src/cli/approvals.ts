import { createInterface } from 'node:readline/promises'

import type { ApprovalRequestedFrame } from '../frames/generated/frame.ts'
import type { Run } from '../loop/run.ts'
import { oneLine, shorten } from './safe-text.ts'
import { isTyped } from './standard-input.ts'

export type ApproveMode = 'ask' | 'all' | 'none'

export interface ApprovalsOptions {
  readonly mode: ApproveMode
  readonly live: Run
  /** Where to ask; null: nobody is there. */
  readonly terminal: NodeJS.WriteStream | null
  /** Whether what a call would do has been shown there by the time of the question. */
  readonly isShown: boolean
  /** What was said about calls beforehand, by their ids: true is a yes. */
  readonly decided?: ReadonlyMap<string, boolean>
  /** What to do when nobody is there; without it the run is cancelled. */
  readonly onNobody?: () => void
}

/** Answers calls that need a person, as the user wants it. */
export class Approvals {
  /** A call needed a person and there was none. */
  isStuck = false
  readonly #mode: ApproveMode
  readonly #live: Run
  readonly #terminal: NodeJS.WriteStream | null
  readonly #isShown: boolean
  readonly #decided: ReadonlyMap<string, boolean>
  readonly #onNobody: (() => void) | null
  readonly #over = new AbortController()
  #asked: Promise<void> = Promise.resolve()

  constructor({ mode, live, terminal, isShown, decided, onNobody }: ApprovalsOptions) {
    this.#mode = mode
    this.#live = live
    this.#terminal = terminal
    this.#isShown = isShown
    this.#decided = decided ?? new Map()
    this.#onNobody = onNobody ?? null
  }

  take(request: ApprovalRequestedFrame): void {
    // One question at a time, in the order of the calls.
    this.#asked = this.#asked.then(() => this.#answer(request))
  }

  /** The run is over: a question still open is taken back. */
  close(): void {
    this.#over.abort()
  }

  async #answer({ call_id: callId, shown }: ApprovalRequestedFrame): Promise<void> {
    if (this.#over.signal.aborted) return
    const decided = this.#decided.get(callId)
    if (decided === true) return void (await this.#live.approve(callId))
    if (decided === false) return void (await this.#live.deny(callId, 'the user said no'))
    if (this.#mode === 'all') return void (await this.#live.approve(callId))
    if (this.#mode === 'none') return void (await this.#live.deny(callId, 'this run approves no calls'))
    const answer = this.#terminal === null ? 'nobody' : await this.#ask(this.#terminal, shown)
    switch (answer) {
      case 'yes':
        return void (await this.#live.approve(callId))
      case 'no':
        return void (await this.#live.deny(callId, 'the user said no'))
      case 'nobody':
        this.isStuck = true
        if (this.#onNobody !== null) return this.#onNobody()
        return void (await this.#live.cancel('a call needs approval and nobody can give it'))
      case 'over':
    }
  }

  /** `nobody`: the input has ended. `over`: the run has. */
  async #ask(terminal: NodeJS.WriteStream, shown: string): Promise<'yes' | 'no' | 'nobody' | 'over'> {
    // Not as a terminal: the kernel edits the line, and Ctrl-C stays a signal.
    const lines = createInterface({ input: process.stdin, output: terminal, terminal: false })
    try {
      // A question that is open when the input ends is never answered.
      const ended = new Promise<null>((resolve) => lines.once('close', () => resolve(null)))
      const question = `run ${this.#isShown ? 'it' : shorten(oneLine(shown), SHOWN_MAX)}? [y/N] `
      const answer = await Promise.race([lines.question(question, { signal: this.#over.signal }), ended])
      if (answer === null) {
        terminal.write('\n')
        return 'nobody'
      }
      return /^\s*y(?:es)?\s*$/iu.test(answer) ? 'yes' : 'no'
    } catch {
      return 'over'
    } finally {
      lines.close()
      process.stdin.unref()
    }
  }
}

const SHOWN_MAX = 2000

/** The terminal that a person can be asked on, null when there is none: what is piped elsewhere shows no question. */
export function askingTerminal(isJson: boolean): NodeJS.WriteStream | null {
  if (!isTyped()) return null
  if (process.stderr.isTTY) return process.stderr
  return process.stdout.isTTY && !isJson ? process.stdout : null
}
