import type { CommandAnswer } from '../../machines/loop.types.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { Run } from '../loop/run.ts'
import type { ConversationTurn, RefusalReason, TurnReceipt, TurnResult } from './conversation-api.ts'

/** A message on its way, from the side of whoever sent it and of whoever answers it. */
export class LiveTurn implements ConversationTurn {
  readonly receipt: TurnReceipt
  readonly result: Promise<TurnResult>
  readonly run: Promise<Run | null>
  /** Aborted when somebody takes the message back. */
  readonly signal: AbortSignal
  readonly #taken = new AbortController()
  readonly #end = Promise.withResolvers<TurnResult>()
  readonly #first = Promise.withResolvers<Run | null>()
  readonly #runs: Run[] = []
  #isOver = false
  #wake: (() => void)[] = []

  constructor(receipt: TurnReceipt) {
    this.receipt = receipt
    this.result = this.#end.promise
    this.run = this.#first.promise
    this.signal = this.#taken.signal
    // A result that nobody asks for is not an unhandled rejection.
    this.result.catch(() => undefined)
    this.run.catch(() => undefined)
  }

  // oxlint-disable-next-line unicorn/no-thenable -- a message is there to be awaited
  then<A = TurnResult, B = never>(
    onResult?: ((result: TurnResult) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.result.then(onResult, onError)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Frame> {
    for await (const run of this.runs()) yield* run
  }

  async *textStream(): AsyncGenerator<string> {
    for await (const run of this.runs()) yield* run.textStream()
  }

  async *runs(): AsyncGenerator<Run> {
    for (let at = 0; ; at += 1) {
      while (at >= this.#runs.length && !this.#isOver) await this.#changed()
      const run = this.#runs[at]
      if (run === undefined) return
      yield run
    }
  }

  async cancel(reason?: string): Promise<CommandAnswer> {
    if (this.#isOver) return { answer: 'refused', reason: 'the message has been dealt with' }
    this.#taken.abort()
    const run = this.#runs.at(-1)
    return run === undefined ? { answer: 'accepted', reason: null } : run.cancel(reason)
  }

  /** A run for the message has begun. */
  begin(run: Run): void {
    this.#runs.push(run)
    this.#first.resolve(run)
    this.#tell()
    if (this.signal.aborted) void run.cancel('the message was taken back')
  }

  /** The message has been dealt with. */
  settle(result: TurnResult): void {
    this.#isOver = true
    this.#first.resolve(null)
    this.#end.resolve(result)
    this.#tell()
  }

  refuse(reason: RefusalReason, message: string): void {
    this.settle({ status: 'refused', reason, message })
  }

  /** Something broke that is nobody's answer. */
  fail(error: unknown): void {
    this.#isOver = true
    this.#first.resolve(null)
    this.#end.reject(error)
    this.#tell()
  }

  /** Resolves when a run was added, or none will be. */
  #changed(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve))
  }

  #tell(): void {
    const waiting = this.#wake
    this.#wake = []
    for (const wake of waiting) wake()
  }
}
