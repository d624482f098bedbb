import { LoopchartError } from '../errors.ts'
import type { CompiledValidator } from '../protocol/compiled-validator.ts'
import { describeFault } from '../protocol/describe-fault.ts'
import { isJsonObject } from '../protocol/json.ts'
import { FRAME_VERSION } from './frame-stamp.ts'
import type { Frame } from './generated/frame.ts'

/** `parseFrame`, for whoever has the validator of frames from elsewhere. */
export function parseFrameWith(validator: CompiledValidator, line: string): Frame {
  const value = parseLine(line)
  if (!isJsonObject(value)) throw new LoopchartError('frame_invalid', 'a frame must be a JSON object')
  const version = value['v']
  if (version === undefined) {
    throw new LoopchartError(
      'frame_version_unknown',
      'the frame has no version: it was not written by loopchart',
    )
  }
  if (version !== FRAME_VERSION) {
    throw new LoopchartError(
      'frame_version_unknown',
      `frame version ${show(version)} is not known, this loopchart reads version ${FRAME_VERSION}`,
    )
  }
  if (isFrame(validator, value)) return value
  throw new LoopchartError('frame_invalid', `${show(value['type'])} frame: ${describeFault(validator).text}`)
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (cause) {
    throw new LoopchartError('frame_invalid', 'the line is not JSON', { cause })
  }
}

function isFrame(validator: CompiledValidator, value: unknown): value is Frame {
  return validator(value)
}

function show(value: unknown): string {
  const isShort = typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string'
  return isShort ? JSON.stringify(value).slice(0, 60) : typeof value
}
