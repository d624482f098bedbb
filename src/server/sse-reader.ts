import { LoopchartError } from '../errors.ts'
import { formatFrame } from '../frames/format-frame.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { FrameView } from './frame-view.ts'
import type { RunFeed } from './run-feed.ts'

/** Why a reader was closed: `gone` is its own doing. */
export type ReaderEnd = 'end' | 'gone' | 'too_slow' | 'closing' | 'error'

export interface SseReaderOptions {
  readonly feed: RunFeed
  readonly view: FrameView
  readonly now: () => number
  /** Whether others read the same run: then the text of a frame is made once for all of them. */
  readonly isShared: () => boolean
  readonly onSent: (frames: number, bytes: number) => void
  readonly onClosed: (why: ReaderEnd) => void
}

const WRITE_BYTES_MAX = 64 * 1024
const FRAMES_MAX = 512
// Of those before the place that was asked for, which are looked at and not sent.
const EARLIER_MAX = 2_000
const ALIVE_EVERY_MS = 15_000
const STALLED_MS = 30_000

const encoder = new TextEncoder()
const ALIVE = encoder.encode(': ka\n\n')

/**
 * One reader of a run over server-sent events. It takes from the log when its client has taken what it had before, many
 * frames in one write; whoever takes nothing costs nothing but its place in the log.
 */
export class SseReader {
  readonly body: ReadableStream<Uint8Array>
  readonly #options: SseReaderOptions
  readonly #controller: ReadableStreamDefaultController<Uint8Array>
  /** The client waits for something to read. */
  #isWanting = false
  /** It will be woken by the log. */
  #isWaiting = false
  #isDone = false
  /** What is left of a write that was too long for one. */
  #rest: Uint8Array | null = null
  #writtenAtMs: number
  #stalledSinceMs: number | null = null

  constructor(options: SseReaderOptions) {
    this.#options = options
    this.#writtenAtMs = options.now()
    const given: ReadableStreamDefaultController<Uint8Array>[] = []
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void given.push(controller),
        pull: () => this.#pull(),
        cancel: () => this.#close('gone'),
      },
      // Nothing is read ahead of a client.
      { highWaterMark: 0 },
    )
    const [controller] = given
    if (controller === undefined) throw new Error('a stream starts when it is made')
    this.#controller = controller
  }

  /** Looks at the time: says that the stream is alive, or gives up a client that takes nothing while frames wait. */
  tick(nowMs: number): void {
    if (this.#isDone) return
    try {
      if (this.#isWanting) this.#tickWanting(nowMs)
      else this.#tickStalled(nowMs)
    } catch (error) {
      this.#finish('error', errorOf(error))
    }
  }

  /** Tells the client that the service is being stopped. */
  leave(): void {
    if (!this.#isDone) this.#finish('closing', {})
  }

  #tickWanting(nowMs: number): void {
    // Whoever drove the run may be gone: then what was held back is shown.
    if (this.#options.view.isHolding) this.#fill()
    if (this.#isWanting && nowMs - this.#writtenAtMs >= ALIVE_EVERY_MS) this.#write(ALIVE)
  }

  #tickStalled(nowMs: number): void {
    if (this.#rest === null && this.#options.feed.at >= this.#options.feed.length) {
      this.#stalledSinceMs = null
      return
    }
    this.#stalledSinceMs ??= nowMs
    if (nowMs - this.#stalledSinceMs >= STALLED_MS) this.#finish('too_slow', {})
  }

  #pull(): void {
    this.#isWanting = true
    this.#stalledSinceMs = null
    this.#fill()
  }

  #fill(): void {
    if (this.#isDone || !this.#isWanting) return
    try {
      const bytes = this.#rest ?? this.#nextBytes()
      if (bytes !== null) this.#writeSome(bytes)
      else if (this.#options.feed.isOver) this.#finish('end', endOf(this.#options.feed.last))
      else this.#wait()
    } catch (error) {
      this.#finish('error', errorOf(error))
    }
  }

  /** The next frames as they are sent; null when there are none now. */
  #nextBytes(): Uint8Array | null {
    const { feed, view, onSent } = this.#options
    for (;;) {
      const earlier = Math.min(view.from - feed.at, EARLIER_MAX)
      const taken =
        earlier > 0 ? feed.take(earlier, Number.POSITIVE_INFINITY) : feed.take(FRAMES_MAX, WRITE_BYTES_MAX)
      const shown = view.show(taken)
      const isAll = taken.length === 0 && !feed.isBehind
      // Nothing can follow what was held back: the run has ended, or nobody drives it.
      const last = view.isHolding && isAll && (feed.isOver || !feed.isDriven) ? view.end() : []
      if (shown.length + last.length > 0) {
        const isShared = this.#options.isShared()
        const bytes = encoder.encode(textOf(shown, isShared) + textOf(last, isShared))
        onSent(shown.length + last.length, bytes.byteLength)
        return bytes
      }
      // Taken and not shown: held back, or before the place that was asked for.
      if (taken.length === 0 || feed.isBehind) return null
    }
  }

  #writeSome(bytes: Uint8Array): void {
    const isWhole = bytes.byteLength <= WRITE_BYTES_MAX
    this.#rest = isWhole ? null : bytes.subarray(WRITE_BYTES_MAX)
    this.#write(isWhole ? bytes : bytes.subarray(0, WRITE_BYTES_MAX))
  }

  #write(bytes: Uint8Array): void {
    this.#isWanting = false
    this.#writtenAtMs = this.#options.now()
    this.#controller.enqueue(bytes)
  }

  #wait(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    void this.#options.feed.changed().then(() => this.#woken())
  }

  #woken(): void {
    this.#isWaiting = false
    this.#fill()
  }

  /**
   * A last event, and the end of the stream. It is queued for a client that takes nothing: it is small. A frame that was
   * cut is sent to its end: what was added to a part of it would be taken for that frame, which would then be lost.
   */
  #finish(why: Exclude<ReaderEnd, 'gone'>, data: object): void {
    if (this.#rest !== null) this.#controller.enqueue(this.#rest)
    this.#rest = null
    this.#controller.enqueue(encoder.encode(`event: ${why}\ndata: ${JSON.stringify(data)}\n\n`))
    this.#controller.close()
    this.#close(why)
  }

  #close(why: ReaderEnd): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#rest = null
    this.#options.feed.close()
    this.#options.onClosed(why)
  }
}

// For as long as the log keeps the frame. Not for a single reader: that would double what each run holds.
const texts = new WeakMap<Frame, string>()

function textOf(frames: readonly Frame[], isShared: boolean): string {
  let text = ''
  for (const frame of frames) {
    const one = (isShared ? texts.get(frame) : undefined) ?? eventOf(frame)
    if (isShared) texts.set(frame, one)
    text += one
  }
  return text
}

function eventOf(frame: Frame): string {
  return `id: ${frame.seq}\nevent: frame\ndata: ${formatFrame(frame)}\n\n`
}

function endOf(last: Frame | null): object {
  return last?.type === 'run_ended' ? { reason: last.reason, state: last.state } : { reason: 'ended' }
}

function errorOf(error: unknown): object {
  if (error instanceof LoopchartError) return { code: error.code, message: error.message }
  return { code: 'internal_error', message: 'the log could not be read' }
}
