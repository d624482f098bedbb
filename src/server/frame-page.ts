import { formatFrame } from '../frames/format-frame.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { FrameView } from './frame-view.ts'
import type { RunFeed } from './run-feed.ts'

export interface PageOptions {
  readonly feed: RunFeed
  readonly view: FrameView
  readonly framesMax: number
  readonly charsMax: number
}

export interface FramePage {
  /** Each as one line of JSON. */
  readonly lines: readonly string[]
  /** The last of them is the last frame that the run will ever have. */
  readonly isEnded: boolean
}

const TAKE_FRAMES = 500
const TAKE_CHARS = 256 * 1024

/** What a log has from a place on, up to a size: at least one frame when there is one to show. */
export async function readPage(options: PageOptions): Promise<FramePage> {
  const { feed, view } = options
  const page = new PageLines(options)
  while (!page.isFull) {
    const frames = feed.take(TAKE_FRAMES, TAKE_CHARS)
    page.add(view.show(frames))
    if (frames.length === 0 && !feed.isBehind) {
      // What may be the start of a secret is held back while more of it may come.
      if (feed.isOver || !feed.isDriven) page.add(view.end())
      break
    }
    // Others have their turn: a page may be a long way into a log.
    await new Promise((resolve) => setImmediate(resolve))
  }
  // A reader that has every frame gets none, and is told as well.
  return { lines: page.lines, isEnded: (page.last ?? feed.last)?.type === 'run_ended' }
}

/** The lines of a page until there is no room for the next one. */
class PageLines {
  readonly lines: string[] = []
  last: Frame | null = null
  #isFull = false
  #chars = 0
  readonly #framesMax: number
  readonly #charsMax: number

  constructor({ framesMax, charsMax }: PageOptions) {
    this.#framesMax = framesMax
    this.#charsMax = charsMax
  }

  get isFull(): boolean {
    return this.#isFull || this.lines.length >= this.#framesMax
  }

  add(frames: readonly Frame[]): void {
    for (const frame of frames) {
      if (this.isFull) return
      const line = formatFrame(frame)
      this.#isFull = this.lines.length > 0 && this.#chars + line.length > this.#charsMax
      if (this.#isFull) return
      this.lines.push(line)
      this.last = frame
      this.#chars += line.length
    }
  }
}
