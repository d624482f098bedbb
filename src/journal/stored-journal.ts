import type { Clock } from '../clock.ts'
import { LoopchartError } from '../errors.ts'
import type { FrameBlock } from '../frames/frame-block.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { FrameLog } from './frame-log.ts'
import type { Appender, GroupCommit } from './group-commit.ts'
import { QueuedJournal } from './queued-journal.ts'
import type { Batch } from './run-rows.ts'
import { summarise, type RunSummary } from './run-summary.ts'
import { SegmentEncoder, type LogEnd } from './segments.ts'

export interface StoredJournalOptions {
  readonly runId: string
  readonly id: number
  readonly epoch: number
  readonly end: LogEnd
  readonly summary: RunSummary
  readonly log: FrameLog
  readonly group: GroupCommit
  /** Why what it writes is refused. */
  readonly explainRefusal: () => Error
  /** Gives the run back. Must not throw. */
  readonly release: () => void
}

/** A journal whose log is in a store: a frame is written first and shown to readers then. */
export class StoredJournal extends QueuedJournal implements Appender {
  readonly #options: StoredJournalOptions
  readonly #encoder: SegmentEncoder
  #summary: RunSummary
  /** Not yet written. */
  #frames: Frame[] = []
  /** Which of those are of a block, and so many from where: readers are shown the block. */
  #shown: { readonly block: FrameBlock; readonly at: number; added: number }[] = []
  #waiting: PromiseWithResolvers<void>[] = []
  #isReleased = false

  constructor(clock: Clock, options: StoredJournalOptions) {
    super(clock, options.log)
    this.#options = options
    this.#encoder = new SegmentEncoder(options.runId, options.epoch, options.end)
    this.#summary = options.summary
    options.group.add(this)
  }

  get isAwaited(): boolean {
    return this.#waiting.length > 0
  }

  commit(frames: readonly Frame[]): Promise<void> {
    if (this.failure !== null) return Promise.reject(this.failure)
    if (this.#isReleased) return Promise.reject(new LoopchartError('store_unusable', 'the run was let go of'))
    const written = Promise.withResolvers<void>()
    this.#frames.push(...frames)
    this.#waiting.push(written)
    this.#options.group.ask(this)
    return written.promise
  }

  observe(frame: Frame): void {
    if (this.isClosed || this.failure !== null) return
    this.#frames.push(frame)
    this.#options.group.ask(this)
  }

  observeBlock(block: FrameBlock, added: number): void {
    if (this.isClosed || this.failure !== null) return
    if (this.log.keepsAll) this.#show(block, added)
    for (let at = block.length - added; at < block.length; at += 1) this.#frames.push(block.at(at))
    this.#options.group.ask(this)
  }

  #show(block: FrameBlock, added: number): void {
    const last = this.#shown.at(-1)
    if (last?.block === block) last.added += added
    else this.#shown.push({ block, at: this.#frames.length, added })
  }

  override async close(): Promise<void> {
    if (this.#isReleased) return
    this.#isReleased = true
    const hadFailed = this.failure !== null
    if (this.#frames.length > 0) this.#options.group.flush()
    this.#options.group.remove(this)
    this.#options.release()
    await super.close()
    // Whoever closes it because it failed knows already.
    if (!hadFailed && this.failure !== null) throw this.failure
  }

  collect(): Batch | null {
    const after = this.#encoder.nextSeq
    const { id, epoch } = this.#options
    const { segments, texts } = this.#encoder.encode(this.#frames)
    if (segments.length === 0) {
      this.written()
      return null
    }
    this.#summary = summarise(this.#summary, this.#frames)
    return { id, epoch, after, chain: this.#encoder.chain, summary: this.#summary, segments, texts }
  }

  written(): void {
    const [frames, shown, waiting] = [this.#frames, this.#shown, this.#waiting]
    this.#frames = []
    this.#shown = []
    this.#waiting = []
    let from = 0
    for (const { block, at, added } of shown) {
      if (at > from) this.log.append(frames.slice(from, at))
      this.log.extend(block, added)
      from = at + added
    }
    if (from < frames.length) this.log.append(frames.slice(from))
    for (const { resolve } of waiting) resolve()
  }

  refused(): void {
    this.failed(this.#options.explainRefusal())
  }

  failed(error: unknown): void {
    this.fail(error instanceof Error ? error : new Error('the log cannot be written', { cause: error }))
    this.#frames = []
    this.#shown = []
    const waiting = this.#waiting
    this.#waiting = []
    for (const { reject } of waiting) reject(this.failure)
  }
}
