import { createParser, type EventSourceMessage } from 'eventsource-parser'

import type { Frame } from '../../frames/generated/frame.ts'
import { isJsonObject, parseJson } from '../../protocol/json.ts'
import { isFrame } from './answers.ts'

/** What one piece of the service's stream of frames says. */
export interface FrameBatch {
  /** Frames in order, each once, without a gap. */
  readonly frames: readonly Frame[]
  /** Why the service ends the stream here; null while it goes on. */
  readonly farewell: Farewell | null
}

/** The last event of a stream: the run has ended, the reader was too slow, the service stops or cannot read on. */
export interface Farewell {
  readonly kind: FarewellKind
  readonly reason: string | null
}

const FAREWELLS = ['end', 'too_slow', 'closing', 'error'] as const

type FarewellKind = (typeof FAREWELLS)[number]

// A frame holds at most a request body; what is longer than this is not a frame of ours.
const BUFFER_CHARS_MAX = 64 * 1024 * 1024

/**
 * Reads the service's stream of frames, in whatever pieces it arrives. Frames up to `after` are dropped, so that a
 * stream that repeats what is known does no harm. Throws when a frame is missing or cannot be read. Whatever comes,
 * a sign of life included, is told to `onHeard`.
 */
export async function* readFrameEvents(
  stream: ReadableStream<Uint8Array>,
  after: number,
  onHeard: () => void = () => undefined,
): AsyncGenerator<FrameBatch, void, void> {
  const messages: EventSourceMessage[] = []
  const parser = createParser({
    onEvent: (message) => messages.push(message),
    onError: (cause) => {
      if (cause.type === 'max-buffer-size-exceeded') throw cause
    },
    maxBufferSize: BUFFER_CHARS_MAX,
  })
  const decoder = new TextDecoder()
  const reader = stream.getReader()
  let last = after
  let isFarewell = false
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      onHeard()
      parser.feed(decoder.decode(value, { stream: true }))
      const batch = batchOf(messages.splice(0), last)
      last = batch.frames.at(-1)?.seq ?? last
      isFarewell = batch.farewell !== null
      if (batch.frames.length > 0 || isFarewell) yield batch
      if (isFarewell) return
    }
  } finally {
    // After a farewell the service closes the stream; before, nobody reads on and the connection is given back. A
    // stream that broke has nothing to give back.
    void (isFarewell ? readToEnd(reader) : reader.cancel()).catch(() => undefined)
  }
}

async function readToEnd(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  for (;;) {
    const { done } = await reader.read()
    if (done) return
  }
}

function batchOf(messages: readonly EventSourceMessage[], after: number): FrameBatch {
  const frames: Frame[] = []
  let last = after
  for (const { event, data } of messages) {
    const kind = FAREWELLS.find((known) => known === event)
    if (kind !== undefined) return { frames, farewell: { kind, reason: reasonOf(data) } }
    // Kinds of events that a later service may add are not for this page.
    if (event !== undefined && event !== 'frame') continue
    const frame = frameOf(data)
    if (frame.seq <= last) continue
    if (frame.seq !== last + 1) throw new Error(`frame ${last + 1} is missing: ${frame.seq} came instead`)
    last = frame.seq
    frames.push(frame)
  }
  return { frames, farewell: null }
}

function frameOf(data: string): Frame {
  const value = parseJson(data)
  if (!isFrame(value)) throw new Error('the stream holds something that is not a frame')
  return value
}

function reasonOf(data: string): string | null {
  const value = parseJson(data)
  const reason = isJsonObject(value) ? (value['reason'] ?? value['message']) : undefined
  return typeof reason === 'string' ? reason : null
}
