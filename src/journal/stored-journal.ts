import type { Clock } from '../clock.ts'
import { LoopchartError } from '../errors.ts'
import type { FrameBlock } from '../frames/frame-block.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { FrameLog } from './frame-log.ts'
import type { Appender, GroupCommit, Membership } from './group-commit.ts'
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
  readonly #member: Membership
  #summary: RunSummary
  /** Not yet written: frames, and parts of blocks, which readers are shown as blocks. */
  #pending: (Frame | BlockPart)[] = []
  /** What is done once that is shown. */
  #afterwards: (() => void)[] = []
  #waiting: Waiting[] = []
  #isReleased = false

  constructor(clock: Clock, options: StoredJournalOptions) {
    super(clock, options.log)
    this.#options = options
    this.#encoder = new SegmentEncoder(options.runId, options.epoch, options.end)
    this.#summary = options.summary
    this.#member = options.group.join(this)
  }

  get isAwaited(): boolean {
    return this.#waiting.length > 0
  }

  commit(frames: readonly Frame[]): Promise<void> {
    if (this.failure !== null) return Promise.reject(this.failure)
    if (this.#isReleased) return Promise.reject(new LoopchartError('store_unusable', 'the run was let go of'))
    for (const frame of frames) this.#pending.push(frame)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      // Also when there are no frames: somebody waits for what was seen before.
      this.#options.group.ask(this.#member)
    })
  }

  observe(frame: Frame): void {
    if (this.isClosed || this.failure !== null) return
    this.#pending.push(frame)
    this.#options.group.ask(this.#member)
  }

  observeBlock(block: FrameBlock, added: number): void {
    if (this.isClosed || this.failure !== null) return
    const last = this.#pending.at(-1)
    if (last !== undefined && isPart(last) && last.block === block) last.added += added
    else this.#pending.push({ block, from: block.length - added, added })
    this.#options.group.ask(this.#member)
  }

  whenShown(work: () => void): void {
    if (this.#pending.length === 0) work()
    else this.#afterwards.push(work)
  }

  override async close(): Promise<void> {
    if (this.#isReleased) return
    this.#isReleased = true
    const hadFailed = this.failure !== null
    if (this.#pending.length > 0) this.#options.group.flush()
    this.#options.group.leave(this.#member)
    this.#options.release()
    await super.close()
    // Whoever closes it because it failed knows already.
    if (!hadFailed && this.failure !== null) throw this.failure
  }

  collect(): Batch | null {
    if (this.failure !== null) return null
    const { id, epoch } = this.#options
    for (const one of this.#pending) {
      if (isPart(one)) this.#encoder.addBlock(one.block, one.from, one.from + one.added)
      else this.#encoder.add(one)
    }
    const { segments, texts } = this.#encoder.take()
    const [first] = segments
    if (first === undefined) {
      this.written()
      return null
    }
    this.#summary = this.#summarise()
    const { chain } = this.#encoder
    return { id, epoch, after: first.firstSeq, chain, summary: this.#summary, segments, texts }
  }

  #summarise(): RunSummary {
    const frames: Frame[] = []
    let inBlocks = 0
    for (const pending of this.#pending) {
      if (isPart(pending)) inBlocks += pending.added
      else frames.push(pending)
    }
    const last = this.#pending.at(-1)
    const updatedAt = last === undefined ? undefined : lastOf(last).ts
    return summarise(this.#summary, frames, inBlocks, updatedAt)
  }

  written(): void {
    const [pending, waiting] = [this.#pending, this.#waiting]
    this.#pending = []
    this.#waiting = []
    let frames: Frame[] = []
    for (const one of pending) {
      if (!isPart(one)) frames.push(one)
      else if (!this.log.keepsAll) frames.push(...framesOf(one))
      else {
        if (frames.length > 0) this.log.append(frames)
        frames = []
        this.log.extend(one.block, one.added)
      }
    }
    if (frames.length > 0) this.log.append(frames)
    for (const { resolve } of waiting) resolve()
    this.#shown()
  }

  #shown(): void {
    if (this.#afterwards.length === 0) return
    const works = this.#afterwards
    this.#afterwards = []
    for (const work of works) work()
  }

  refused(): void {
    this.failed(this.#options.explainRefusal())
  }

  failed(error: unknown): void {
    this.fail(error instanceof Error ? error : new Error('the log cannot be written', { cause: error }))
    this.#pending = []
    const waiting = this.#waiting
    this.#waiting = []
    for (const { reject } of waiting) reject(this.failure)
    this.#shown()
  }
}

/** Somebody who is told when what was committed is on disk, or that it is not. */
interface Waiting {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Some of the frames of a block. */
interface BlockPart {
  readonly block: FrameBlock
  readonly from: number
  added: number
}

function isPart(pending: Frame | BlockPart): pending is BlockPart {
  return 'block' in pending
}

function framesOf({ block, from, added }: BlockPart): readonly Frame[] {
  return Array.from({ length: added }, (_, at) => block.at(from + at))
}

function lastOf(pending: Frame | BlockPart): Frame {
  return isPart(pending) ? pending.block.at(pending.from + pending.added - 1) : pending
}
