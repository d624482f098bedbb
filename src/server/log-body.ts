import { formatFrame } from '../frames/format-frame.ts'
import type { FrameView } from './frame-view.ts'
import type { RunFeed } from './run-feed.ts'

const TAKE_FRAMES = 500
const TAKE_CHARS = 64 * 1024

const encoder = new TextEncoder()

/** A log as lines of JSON, as far as it goes now. Read as it is taken. */
export function logBody(feed: RunFeed, view: FrameView): ReadableStream<Uint8Array> {
  const until = feed.length
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const isRead = feed.at >= until
          const frames = isRead ? [] : feed.take(TAKE_FRAMES, TAKE_CHARS)
          const isDone = isRead || (frames.length === 0 && !feed.isBehind)
          // What may be the start of a secret is held back while more of it may come.
          const shown = !isDone ? view.show(frames) : feed.isDriven ? [] : view.end()
          const text = shown.map((frame) => `${formatFrame(frame)}\n`).join('')
          if (text !== '') controller.enqueue(encoder.encode(text))
          if (isDone) {
            feed.close()
            controller.close()
          }
          if (isDone || text !== '') return
          await new Promise((resolve) => setImmediate(resolve))
        }
      },
      cancel: () => feed.close(),
    },
    { highWaterMark: 0 },
  )
}
