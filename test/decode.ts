import { readdirSync, readFileSync } from 'node:fs'

import { FrameStamp } from '../src/frames/frame-stamp.ts'
import { formatFrame } from '../src/frames/format-frame.ts'
import type { Frame, ProviderEventFrame } from '../src/frames/generated/frame.ts'
import { recordResponse } from '../src/loop/record-response.ts'
import { tolerant } from '../src/protocol/tolerant.ts'
import type { ValidationProfile } from '../src/protocol/validation-profile.ts'
import type { AnomalyCode } from '../src/stream/anomaly.ts'
import type { AssembledResponse } from '../src/stream/assemble-response.ts'
import type { StreamLimits } from '../src/stream/stream-limits.ts'

export interface Decoded {
  readonly frames: readonly Frame[]
  readonly events: readonly ProviderEventFrame[]
  readonly response: AssembledResponse
  /** False when the reader asked for the connection to be dropped. */
  readonly isReadToEnd: boolean
}

interface DecodeOptions {
  readonly shape?: 'stream' | 'body'
  readonly profile?: ValidationProfile
  readonly limits?: Partial<StreamLimits>
}

/** Decodes the chunks of one response the way the loop does, on a clock that stands still. */
export function decodeChunks(chunks: Iterable<Uint8Array>, options: DecodeOptions = {}): Decoded {
  const { shape = 'stream', profile = tolerant, limits = {} } = options
  const frames: Frame[] = []
  const stamp = new FrameStamp('run_test', () => 1000)
  const onFrame = (frame: Frame): void => void frames.push(frame)
  const reader = recordResponse({ stamp, turn: 1, attempt: 0, profile, shape, limits, onFrame })
  let isReadToEnd = true
  for (const chunk of chunks) {
    isReadToEnd = reader.feed(chunk)
    if (!isReadToEnd) break
  }
  const response = reader.end()
  const events = frames.filter((frame) => frame.type === 'provider_event')
  return { frames, events, response, isReadToEnd }
}

export function decodeText(text: string, options: DecodeOptions = {}): Decoded {
  return decodeChunks([Buffer.from(text)], options)
}

export function decodeFixture(name: string, options: DecodeOptions = {}): Decoded {
  return decodeChunks([readStream(name)], options)
}

const fixtures = new URL('../fixtures/', import.meta.url)

export function readStream(name: string): Buffer {
  return readFileSync(new URL(`streams/${name}.sse`, fixtures))
}

export function readBody(name: string): Buffer {
  return readFileSync(new URL(`bodies/${name}.json`, fixtures))
}

export function fixtureNames(folder: 'streams' | 'bodies'): readonly string[] {
  return readdirSync(new URL(`${folder}/`, fixtures))
    .map((file) => file.replace(/\.\w+$/u, ''))
    .sort()
}

export function anomalyCodes(decoded: Decoded): readonly AnomalyCode[] {
  return decoded.events.flatMap(({ anomalies }) => anomalies.map(({ code }) => code as AnomalyCode))
}

export function logText(frames: readonly Frame[]): string {
  return frames.map((frame) => `${formatFrame(frame)}\n`).join('')
}
