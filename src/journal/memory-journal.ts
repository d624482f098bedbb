import type { FrameBlock } from '../frames/frame-block.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { QueuedJournal } from './queued-journal.ts'

/** A journal that lives as long as the process: the order of a run's decisions without a store. */
export class MemoryJournal extends QueuedJournal {
  commit(frames: readonly Frame[]): Promise<void> {
    this.log.append(frames)
    return Promise.resolve()
  }

  observe(frame: Frame): void {
    if (!this.isClosed) this.log.add(frame)
  }

  observeBlock(block: FrameBlock, added: number): void {
    if (!this.isClosed) this.log.extend(block, added)
  }
}
