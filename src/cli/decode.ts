import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import type { Writable } from 'node:stream'

import { LoopchartError } from '../errors.ts'
import { FrameStamp } from '../frames/frame-stamp.ts'
import { formatFrame } from '../frames/format-frame.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { recordResponse } from '../loop/record-response.ts'
import { loadStrict } from '../protocol/load-strict.ts'
import { tolerant } from '../protocol/tolerant.ts'
import type { ValidationProfile } from '../protocol/validation-profile.ts'
import type { AssembledResponse } from '../stream/assemble-response.ts'
import type { ResponseReader } from '../stream/response-reader.ts'
import { describeFrame, describeResponse } from './describe.ts'
import { ExitCode } from './exit-code.ts'
import { oneLine, safeJson } from './safe-text.ts'
import { isTyped, nameOf, readStandardInput } from './standard-input.ts'

export interface DecodeOptions {
  /** A path, or `-` for standard input. */
  readonly file: string
  readonly isJson: boolean
  readonly isStrict: boolean
  readonly output: Writable
}

/** Decodes a recorded response and prints it; resolves with the exit code. */
export async function decode({ file, isJson, isStrict, output }: DecodeOptions): Promise<number> {
  if (file === '-' && isTyped()) {
    throw new LoopchartError('usage', 'decode needs a recording: give its path, or pipe it in')
  }
  const input = file === '-' ? readStandardInput() : createReadStream(file)
  const profile = isStrict ? await loadStrict() : tolerant
  const show = isJson ? (frame: Frame) => safeJson(formatFrame(frame)) : describeFrame
  let hasEvent = false
  const onFrame = (frame: Frame): void => {
    hasEvent ||= frame.type === 'provider_event'
    output.write(`${show(frame)}\n`)
  }
  const response = await record(input, file, profile, onFrame, output)
  if (!isJson) output.write(`\n${describeResponse(response)}\n`)
  if (!hasEvent) process.stderr.write(`loopchart: ${oneLine(nothingIn(file))}\n`)
  return response.status === 'failed' ? ExitCode.failed : ExitCode.ok
}

/** What there is to say beside that no end came: for a file of something else, that is the smaller fault. */
function nothingIn(file: string): string {
  return `${nameOf(file)} is no recording of a response: there is no whole event in it; give one as it came from a provider`
}

async function record(
  input: AsyncIterable<unknown>,
  file: string,
  profile: ValidationProfile,
  onFrame: (frame: Frame) => void,
  output: Writable,
): Promise<AssembledResponse> {
  // A recording has no times of its own: frames of the same bytes are the same each time.
  const stamp = new FrameStamp('decoded', () => 0)
  let reader: ResponseReader | null = null
  let held: Buffer = NOTHING
  const open = (isBody: boolean): ResponseReader =>
    recordResponse({ stamp, turn: 0, attempt: 0, profile, shape: isBody ? 'body' : 'stream', onFrame })
  for await (const chunk of readAll(input, file)) {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    // What a recording is shows at its first character: no line of a stream that means anything starts with these.
    if (reader === null && held.length < HELD_MAX && isBlank(held)) continue
    reader ??= open(/^\uFEFF?\s*[[{]/u.test(held.toString('utf8')))
    if (!reader.feed(held)) break
    held = NOTHING
    if (output.writableNeedDrain) await once(output, 'drain')
  }
  reader ??= open(false)
  reader.feed(held)
  return reader.end()
}

const NOTHING = Buffer.alloc(0)
const HELD_MAX = 64 * 1024

function isBlank(bytes: Buffer): boolean {
  return /^\uFEFF?\s*$/u.test(bytes.toString('utf8'))
}

async function* readAll(
  input: AsyncIterable<unknown>,
  file: string,
): AsyncGenerator<Buffer, void, undefined> {
  try {
    for await (const chunk of input) if (Buffer.isBuffer(chunk)) yield chunk
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const name = file === '' ? 'a file without a name' : file
    throw new LoopchartError(
      'file_unreadable',
      `cannot read ${name}: ${reason}; give the path of a recording`,
      { cause },
    )
  }
}
