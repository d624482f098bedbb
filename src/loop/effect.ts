import type { FrameStamp } from '../frames/frame-stamp.ts'
import type { FrameBlock } from '../frames/frame-block.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { Suspension } from './suspension.ts'

/** What an effect may do while it works, beside settling. */
export interface EffectIo {
  readonly runId: string
  readonly signal: AbortSignal
  readonly stamp: FrameStamp
  /** Whether anybody still listens. Asked before a frame is made: one that is made and not taken leaves a gap. */
  isWanted(): boolean
  /** Takes what was seen into the log. */
  observe(frame: Frame): void
  /** The same for the next frames of a block, with how many; without it, only frames are taken. */
  observeBlock?(block: FrameBlock, added: number): void
  /** Does something once readers were shown what was taken so far; without it, they are at once. */
  whenShown?(work: () => void): void
  /** The first event of a response is in. */
  opened(): void
  /** Lets go of the run: nothing further is decided, and what this effect comes to is not heard. */
  suspend(suspension: Suspension): void
}
