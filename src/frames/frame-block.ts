import type { Frame } from './generated/frame.ts'

/**
 * Frames of a log, one after the other, that are kept as less than themselves and made when somebody reads them: a
 * long answer has thousands that differ in a word. Only its owner adds to it; what is in it stays as it is.
 */
export interface FrameBlock {
  readonly length: number
  /** The frame at a place, from 0 up to `length`; a new one each time. */
  at(index: number): Frame
}
