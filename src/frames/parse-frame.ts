import type { Frame } from './generated/frame.ts'
import { frameValidator } from './generated/validate-frame.ts'
import { parseFrameWith } from './parse-frame-with.ts'

/**
 * Reads one line of a log.
 *
 * Throws `frame_version_unknown` for a line of another format version, `frame_invalid` for anything else that is
 * not a frame. Fields that the format does not list are kept.
 */
export function parseFrame(line: string): Frame {
  return parseFrameWith(frameValidator, line)
}
