import { parseFrame } from '../../src/frames/parse-frame.ts'
import { formatFrame } from '../../src/frames/format-frame.ts'
import { strict } from '../../src/protocol/strict.ts'
import { tolerant } from '../../src/protocol/tolerant.ts'
import type { StreamLimits } from '../../src/stream/stream-limits.ts'
import { decodeChunks, fixtureNames, readStream, type Decoded } from '../decode.ts'
import { cutAtRandom, mutateStream, Random } from './mutate-stream.ts'

const streams = fixtureNames('streams').map(readStream)

/** Makes the stream of this seed and reads it; throws when what comes out breaks a promise. */
export function fuzzStream(seed: number): void {
  const random = new Random(seed)
  const bytes = mutateStream(streams[random.below(streams.length)] ?? Buffer.alloc(0), random)
  const profile = random.below(4) === 0 ? strict : tolerant
  const limits = random.below(4) === 0 ? smallLimits(random) : {}
  const decoded = decodeChunks(cutAtRandom(bytes, random), { profile, limits })
  checkFrames(decoded)
  checkResponse(decoded)
  const whole = decodeChunks([bytes], { profile, limits })
  if (describe(whole) !== describe(decoded)) throw new Error('another chunking gave other frames')
}

function smallLimits(random: Random): Partial<StreamLimits> {
  return {
    responseBytesMax: 1000 + random.below(8000),
    eventsMax: 1 + random.below(20),
    argumentsBytesMax: random.below(20),
    itemsMax: random.below(6),
    depthMax: 2 + random.below(6),
  }
}

function describe({ frames, response }: Decoded): string {
  return JSON.stringify({ frames, response })
}

function checkFrames({ frames }: Decoded): void {
  frames.forEach((frame, at) => {
    if (frame.seq !== at) throw new Error(`frame ${at} has number ${frame.seq}`)
    parseFrame(formatFrame(frame))
    const before = frames[at - 1]?.type
    if (frame.type.endsWith('_delta') && before !== 'provider_event')
      throw new Error('a delta without its event')
  })
}

function checkResponse({ response }: Decoded): void {
  const { status, error, calls } = response
  if ((status === 'failed') !== (error !== null)) throw new Error(`${status} with ${JSON.stringify(error)}`)
  const ready = calls.filter(({ disposition }) => disposition === 'ready')
  if (status !== 'completed' && ready.length > 0)
    throw new Error(`a call is ready in a response that is ${status}`)
  const ids = new Set(ready.map(({ callId }) => callId))
  if (ids.size !== ready.length || ids.has('')) throw new Error('ready calls share an id or have none')
}
