import type { Frame } from './generated/frame.ts'

/**
 * Frames of a log, one after the other, that are kept as less than themselves and made when somebody reads them: a
 * long answer has thousands that differ in a word. Only its owner adds to it; what is in it stays as it is.
 */
export interface FrameBlock {
  readonly length: number
  /** The frame at a place, from 0 up to `length`; a new one each time. */
  at(index: number): Frame
  /** Adds the frames from a place up to another to a list. A block that leaves this out is read frame by frame. */
  addTo?(frames: Frame[], from: number, to: number): void
  /**
   * Tells what the frames from a place up to another are made of, in their order, to somebody who needs no frames; the
   * places are those of whole events. A block that leaves this out is read frame by frame.
   */
  tell?(from: number, to: number, teller: BlockTeller): void
  /** Which turn and attempt the events of one that tells are of. */
  readonly turn?: number
  readonly attempt?: number
}

/**
 * Is told what a block has. Each event is a provider_event frame of one turn and attempt, with nothing to say about it;
 * where it has a text that is a frame of its own, that comes behind it.
 */
export interface BlockTeller {
  /** An event by its type and exact text. The index is that of its frame in the block. */
  event(index: number, ts: number, type: string, raw: string): void
  /** So many that have a form in common and came at one time, from a place among them on. The index is that of the first. */
  deltas(index: number, ts: number, deltas: EventDeltas, from: number, count: number): void
}

/** Events that differ in what stands in the holes of one form. */
export interface EventDeltas {
  readonly form: EventForm
  /** What stood in the holes of one after the other. */
  readonly fillings: EventFillings
  /** 2 where each has its text as a frame of its own behind it. */
  readonly framesEach: 1 | 2
  /** The hole that the text stands in; -1: it stands in none. */
  readonly textHole: number
  /** The text of one. */
  textOf(delta: number): string
}

/** What stands in the holes of one event after the other: texts as JSON writes them, and numbers. */
export type EventFillings = readonly (string | number)[]

/** The text of events of one type, without what is different in each. */
export interface EventForm {
  readonly type: string
  /** The text before each hole, and that behind the last. */
  readonly fixed: readonly string[]
}
