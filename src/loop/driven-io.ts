import type { FrameBlock } from '../frames/frame-block.ts'
import type { FrameStamp } from '../frames/frame-stamp.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { Journal } from '../journal/journal.ts'
import type { EffectIo } from './effect.ts'
import type { RunToolValue } from './run-tool.ts'
import type { Suspension } from './suspension.ts'

/** An effect that was started. */
export class UnderWay {
  readonly id: string
  readonly key: string
  /** It has settled, or the chart let go of it. */
  isOver = false
  /** A call that is to begin, by its id; null: what it is was not started here. */
  callId: string | null = null
  /** The call that it is, once that runs. */
  call: { readonly slot: number; readonly running: Promise<RunToolValue> } | null = null

  constructor(id: string, key: string) {
    this.id = id
    this.key = key
  }
}

/** Who drives the run that an effect belongs to. */
interface Drive {
  /** Its last frame is made: nothing comes behind that. */
  readonly hasEnded: boolean
  observeOpened(): void
  suspend(suspension: Suspension): void
}

interface RunParts {
  readonly runId: string
  readonly stamp: FrameStamp
  readonly journal: Journal
}

/** What an effect may do. One object without closures: there are as many of them as runs that wait. */
export class DrivenIo implements EffectIo {
  readonly signal: AbortSignal
  readonly #drive: Drive
  readonly #run: RunParts
  readonly #underWay: UnderWay

  constructor(drive: Drive, run: RunParts, underWay: UnderWay, signal: AbortSignal) {
    this.#drive = drive
    this.#run = run
    this.#underWay = underWay
    this.signal = signal
  }

  get runId(): string {
    return this.#run.runId
  }

  get stamp(): FrameStamp {
    return this.#run.stamp
  }

  isWanted(): boolean {
    return !this.#underWay.isOver
  }

  observe(frame: Frame): void {
    if (!this.#drive.hasEnded) this.#run.journal.observe(frame)
  }

  observeBlock(block: FrameBlock, added: number): void {
    if (this.#drive.hasEnded) return
    const { journal } = this.#run
    if (journal.observeBlock !== undefined) return journal.observeBlock(block, added)
    for (let at = block.length - added; at < block.length; at += 1) journal.observe(block.at(at))
  }

  whenShown(work: () => void): void {
    const { journal } = this.#run
    if (journal.whenShown === undefined) work()
    else journal.whenShown(work)
  }

  opened(): void {
    if (this.isWanted()) this.#drive.observeOpened()
  }

  suspend(suspension: Suspension): void {
    this.#drive.suspend(suspension)
  }
}
