import { createInterface } from 'node:readline/promises'
import { setTimeout } from 'node:timers/promises'

import type { ApprovalRequestedFrame, Frame } from '../frames/generated/frame.ts'
import type { AnswerOptions } from '../loop/children.ts'
import type { Run } from '../loop/run.ts'
import { describeQuestion, readAnswer, type ApprovalAnswer } from './approval-question.ts'
import { oneLine, shorten } from './safe-text.ts'
import { isTyped } from './standard-input.ts'

export type ApproveMode = 'ask' | 'all' | 'none'

export interface ApprovalsOptions {
  readonly mode: ApproveMode
  /** Whether `all` covers commands without a sandbox. */
  readonly isUnsandboxedAllowed: boolean
  readonly live: Run
  /** Where to ask; null: nobody is there. */
  readonly terminal: NodeJS.WriteStream | null
  /** What was said about calls beforehand, by their paths with `/` between ids: true is a yes. */
  readonly decided?: ReadonlyMap<string, boolean>
  /** What to do when nobody is there. */
  readonly onNobody: () => void
}

/** Answers calls that need a person, as the user wants it. */
export class Approvals {
  readonly #options: ApprovalsOptions
  readonly #over = new AbortController()
  readonly #names = new Map<string, string>()
  readonly #unanswered: ApprovalRequestedFrame[] = []
  #asked: Promise<void> = Promise.resolve()

  constructor(options: ApprovalsOptions) {
    this.#options = options
  }

  /** The questions that needed a person when there was none. */
  get unanswered(): readonly ApprovalRequestedFrame[] {
    return this.#unanswered
  }

  /** Sees every frame, for the names of calls. */
  follow(frame: Frame): void {
    if (frame.type !== 'response_settled') return
    for (const { call_id: callId, name } of frame.items) {
      if (typeof callId === 'string' && typeof name === 'string') this.#names.set(callId, name)
    }
  }

  take(request: ApprovalRequestedFrame): void {
    // One question at a time, in the order of the calls.
    this.#asked = this.#asked.then(() => this.#answer(request))
  }

  /** What a call is called: for one in the run of another call, that one's name and its own id. */
  nameOf(path: readonly string[]): string {
    const [outer = '', ...inner] = path
    return [this.#names.get(outer) ?? outer, ...inner].join(' > ')
  }

  /** The run is over: a question still open is taken back. */
  close(): void {
    this.#over.abort()
  }

  async #answer(request: ApprovalRequestedFrame): Promise<void> {
    if (this.#over.signal.aborted || !this.#isOpen(request)) return
    const { terminal, onNobody } = this.#options
    const known = this.#known(request)
    const answer = known ?? (terminal === null ? 'nobody' : await this.#ask(terminal, request))
    if (answer === 'over') return
    if (answer === 'nobody') {
      this.#unanswered.push(request)
      return onNobody()
    }
    await this.#give(request, answer)
  }

  /** What is decided without asking anybody. */
  #known({ path, reason }: ApprovalRequestedFrame): ApprovalAnswer | null {
    const { decided, mode, isUnsandboxedAllowed } = this.#options
    const said = decided?.get(path.join('/'))
    if (said !== undefined) return said ? { kind: 'yes' } : { kind: 'no', why: 'the user said no' }
    if (mode === 'none') return { kind: 'no', why: 'this run approves no calls' }
    return mode === 'all' && (reason !== 'unsandboxed' || isUnsandboxedAllowed) ? { kind: 'yes' } : null
  }

  /** An answer for the whole run may have settled it since. Of calls further in, only their own run knows. */
  #isOpen({ path: [callId = '', ...inner] }: ApprovalRequestedFrame): boolean {
    return inner.length > 0 || this.#options.live.can({ type: 'call.approve', callId }).answer !== 'refused'
  }

  async #give(request: ApprovalRequestedFrame, answer: ApprovalAnswer): Promise<void> {
    const { live, terminal } = this.#options
    const { path, arguments_hash: argumentsHash } = request
    const options: AnswerOptions = {
      argumentsHash,
      ...(answer.kind === 'yes' && answer.remember !== undefined ? { remember: answer.remember } : {}),
    }
    const taken =
      answer.kind === 'yes'
        ? await live.approve(path, options)
        : await live.deny(path, answer.why, { argumentsHash })
    if (taken.answer === 'refused' && !this.#over.signal.aborted) {
      terminal?.write(`the answer was not taken: ${shorten(oneLine(taken.reason ?? ''), REASON_MAX)}\n`)
    }
  }

  /** `nobody`: the input has ended. `over`: the run has. */
  async #ask(
    terminal: NodeJS.WriteStream,
    request: ApprovalRequestedFrame,
  ): Promise<ApprovalAnswer | 'nobody' | 'over'> {
    await discardTyped()
    if (this.#over.signal.aborted) return 'over'
    // An input that has ended does not end again.
    if (process.stdin.readableEnded) return 'nobody'
    // Not as a terminal: the kernel edits the line, and Ctrl-C stays a signal.
    const lines = createInterface({ input: process.stdin, output: terminal, terminal: false })
    try {
      // A question that is open when the input ends is never answered.
      const ended = new Promise<null>((resolve) => lines.once('close', () => resolve(null)))
      const { columns }: { readonly columns?: number } = terminal
      const question = describeQuestion(request, this.nameOf(request.path), columns)
      const line = await Promise.race([lines.question(question, { signal: this.#over.signal }), ended])
      if (line !== null) return readAnswer(line, request.each_time)
      terminal.write('\n')
      return 'nobody'
    } catch {
      return 'over'
    } finally {
      lines.close()
      process.stdin.unref()
    }
  }
}

const REASON_MAX = 300
const TYPED_AHEAD_MS = 30

function drop(): void {
  // That somebody listens is enough for it to be gone.
}

/** Drops what was typed before the question was there: it is no answer to something that nobody has seen. */
async function discardTyped(): Promise<void> {
  process.stdin.on('data', drop)
  process.stdin.resume()
  await setTimeout(TYPED_AHEAD_MS)
  process.stdin.off('data', drop)
  process.stdin.pause()
}

/** The terminal that a person can be asked on, null when there is none: what is piped elsewhere shows no question. */
export function askingTerminal(isJson: boolean): NodeJS.WriteStream | null {
  if (!isTyped()) return null
  if (process.stderr.isTTY) return process.stderr
  return process.stdout.isTTY && !isJson ? process.stdout : null
}
