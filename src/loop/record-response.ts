import type { FrameBlock } from '../frames/frame-block.ts'
import type { FrameStamp } from '../frames/frame-stamp.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { deltaFrame, providerEventFrame } from '../frames/make-frame.ts'
import { responseFirstByteFrame } from '../frames/turn-frames.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import type { ValidationProfile } from '../protocol/validation-profile.ts'
import type { Anomaly } from '../stream/anomaly.ts'
import type { AssembledResponse } from '../stream/assemble-response.ts'
import type { DeltaForm, Filling } from '../stream/delta-form.ts'
import type { StreamEvent } from '../stream/event-pipeline.ts'
import { createBodyReader, createStreamReader, type ResponseReader } from '../stream/response-reader.ts'
import { ownText } from '../stream/own-text.ts'
import type { StreamLimits } from '../stream/stream-limits.ts'
import { deltaKindOf, deltaPlaceOf } from './delta-kind.ts'
import { EventBlock } from './event-block.ts'

export interface RecorderOptions {
  readonly stamp: FrameStamp
  readonly turn: number
  readonly attempt: number
  readonly profile: ValidationProfile
  /** `stream` for text/event-stream, `body` for a response that comes whole. */
  readonly shape: 'stream' | 'body'
  readonly limits?: Partial<StreamLimits>
  readonly onFrame: (frame: Frame) => void
  /**
   * Takes frames as a block that grows, with how many it has more; without it, every frame is made at once. Of the first
   * event of a response it is told as soon as it is in, and of others once a chunk.
   */
  readonly onBlock?: ((block: FrameBlock, added: number) => void) | undefined
  /** Does something once readers were shown what was told so far; at once, when left out. */
  readonly whenShown?: (work: () => void) => void
}

/** Reads one response and records it: one frame for each event, derived frames directly after theirs. */
export function recordResponse(options: RecorderOptions): ResponseReader {
  return new ResponseRecorder(options)
}

/** A reader that can be left before its response is over. */
export class ResponseRecorder implements ResponseReader {
  readonly #options: RecorderOptions
  readonly #reader: ResponseReader
  #block: EventBlock | null = null
  /** Those that are not sealed; the last of them grows. */
  #open: EventBlock[] = []
  /** How many frames of the block nobody was told of. */
  #added = 0
  #hasBytes = false
  #hasEvent = false
  #isWhole = false

  constructor(options: RecorderOptions) {
    this.#options = options
    const { profile, shape, limits = {}, onBlock } = options
    const createReader = shape === 'stream' ? createStreamReader : createBodyReader
    this.#reader = createReader({
      profile,
      limits,
      onEvent: (event) => this.#record(event),
      onDeltas:
        onBlock === undefined
          ? undefined
          : (event, form, fillings, count) => this.#recordDeltas(event, form, fillings, count),
    })
  }

  feed(chunk: Uint8Array): boolean {
    const { stamp, turn, attempt, onFrame } = this.#options
    stamp.tick()
    if (!this.#hasBytes && chunk.length > 0) {
      this.#hasBytes = true
      onFrame(responseFirstByteFrame(stamp, { turn, attempt }))
    }
    const isWanted = this.#telling(() => this.#reader.feed(chunk))
    // A response that is whole ends at once, and its blocks are sealed: there is no need to copy them before.
    if (!this.#isWhole) for (const block of this.#open) block.keep()
    return isWanted
  }

  end(): AssembledResponse {
    this.#options.stamp.tick()
    const assembled = this.#telling(() => this.#reader.end())
    this.#seal()
    return assembled
  }

  /** Nobody wants the rest: what was recorded is put away like that of a response that is over. */
  leave(): void {
    this.#seal()
  }

  /** Numbers were given out: also when reading breaks off, the log hears of the frames that have them. */
  #telling<T>(read: () => T): T {
    try {
      return read()
    } finally {
      this.#tell()
    }
  }

  #record(event: StreamEvent): void {
    const { stamp, turn, attempt, onFrame, onBlock } = this.#options
    this.#isWhole ||= LAST_TYPES.has(event.type)
    if (onBlock !== undefined && isPlain(event)) {
      const block = this.#openBlock()
      this.#added += block.addEvent(event.type, event.raw, stamp)
      if (!this.#hasEvent) this.#tell()
      this.#hasEvent = true
      return
    }
    this.#hasEvent = true
    this.#tell()
    const kept = onBlock === undefined ? event : { ...event, raw: ownText(event.raw) }
    onFrame(providerEventFrame(stamp, turn, attempt, kept))
    const derived = derivedFrame(stamp, event)
    if (derived !== null) onFrame(derived)
  }

  #recordDeltas(event: JsonObject, form: DeltaForm, fillings: Filling, count: number): void {
    const block = this.#openBlock()
    this.#added += block.addDeltas(event, form, fillings, count, this.#options.stamp)
  }

  #openBlock(): EventBlock {
    const { stamp, turn, attempt } = this.#options
    if (this.#block?.canTake(stamp) === true) return this.#block
    this.#tell()
    // One that a frame has come behind is sealed with some that follow: a piece of memory for each would be too many.
    if (this.#block?.isFull === true || this.#open.length >= OPEN_MAX) this.#seal()
    this.#block = new EventBlock(stamp, turn, attempt)
    this.#open.push(this.#block)
    return this.#block
  }

  #seal(): void {
    this.#tell()
    const blocks = this.#open
    this.#open = []
    if (blocks.length === 0) return
    const { whenShown } = this.#options
    if (whenShown === undefined) sealSoon(blocks)
    else whenShown(() => sealSoon(blocks))
  }

  /** Once for all events of a chunk, or up to a frame that is not of the block. */
  #tell(): void {
    const added = this.#added
    this.#added = 0
    if (added > 0 && this.#block !== null) this.#options.onBlock?.(this.#block, added)
  }
}

/**
 * After those who read frames as they come, some microtasks from here: they need the texts once more. A tick would come
 * too late for a model that answers within microtasks alone.
 */
function sealSoon(blocks: readonly EventBlock[]): void {
  queueMicrotask(() => queueMicrotask(() => queueMicrotask(() => EventBlock.seal(blocks))))
}

// Each is looked at with every chunk, and how many there are is the provider's to say.
const OPEN_MAX = 8

// Behind one of these there is nothing that counts.
const LAST_TYPES: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
])

/** Whether its type and its text are all there is to say about an event. */
function isPlain(event: StreamEvent): boolean {
  return (
    event.status === 'event' &&
    event.event_name === event.type &&
    event.raw_base64 === null &&
    event.errors.length + event.response_errors.length + event.anomalies.length === 0 &&
    deltaKindOf(event.type) === null
  )
}

function derivedFrame(stamp: FrameStamp, { type, data, isLate, anomalies }: StreamEvent): Frame | null {
  const kind = deltaKindOf(type)
  if (kind === null || isLate || !isJsonObject(data) || anomalies.some(isAfterDone)) return null
  const { delta } = data
  if (typeof delta !== 'string') return null
  const { runId, ts } = stamp
  return deltaFrame({ runId, seq: stamp.seq(), ts }, kind, delta, deltaPlaceOf(data))
}

function isAfterDone({ code }: Anomaly): boolean {
  return code === 'delta_after_done'
}
