import type { CommandAnswer, LoopCommand } from '../../machines/loop.types.ts'
import type { FrameBlock } from '../frames/frame-block.ts'
import type { Frame } from '../frames/generated/frame.ts'

/** One thing that moves the loop. Their order is the run's history. */
export type Decision =
  | { readonly kind: 'settled'; readonly key: string; readonly value: unknown }
  | { readonly kind: 'inDoubt'; readonly key: string; readonly isUntouched: boolean }
  | { readonly kind: 'bug'; readonly key: string; readonly error: unknown }
  | {
      readonly kind: 'command'
      readonly command: LoopCommand
      /** Called once the command was folded and its frame committed. */
      readonly reply: (answer: CommandAnswer) => void
    }
  /** Somebody wants the run let go of. It is no part of its history. */
  | { readonly kind: 'letGo' }

/** Work that touches the world. It settles; a rejection is a bug. */
export type EffectRun = (signal: AbortSignal) => Promise<unknown>

/**
 * The durable, totally ordered decisions of one run, and its log.
 *
 * The driver takes one decision at a time, folds it through the chart, and commits what came of it before anything
 * else happens: commit, publish, launch.
 */
export interface Journal {
  /** Registers work; it is launched by `next`, once history is used up. */
  start(key: string, effect: EffectRun): void
  /** Settles its key at a time of the wall clock. Armed again on resume, never in doubt. */
  timer(key: string, atMs: number): void
  /** Decides about an effect that was at work when the process died: nobody knows how it ended, unless it had not begun. */
  doubt(key: string, isUntouched: boolean): void
  /** Ends an effect or a timer; what it still gives is dropped. */
  abort(key: string): void
  /** The next decision: recorded ones first, then live ones. */
  next(): Promise<Decision>
  /** Has `next` say so, once what is decided already was taken; nothing is launched before. */
  letGo(): void
  /** Takes the frames of one step into the log, all or none, and shows them to readers. */
  commit(frames: readonly Frame[]): Promise<void>
  /** Takes what an effect saw into the log. Never waited for. */
  observe(frame: Frame): void
  /**
   * The same for the next frames of a block, of which it has so many more. A journal that has no use for blocks leaves this
   * out, and is given frames.
   */
  observeBlock?(block: FrameBlock, added: number): void
  /**
   * Does something once readers were shown what was taken so far. A journal that shows it at once leaves this out.
   */
  whenShown?(work: () => void): void
  /** Asks something of the run; resolves when it was folded. */
  send(command: LoopCommand): Promise<CommandAnswer>
  /** Lets go of the run: effects end, nothing further is decided. */
  close(): Promise<void>
}
