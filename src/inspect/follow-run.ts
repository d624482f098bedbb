import type { Frame } from '../frames/generated/frame.ts'
import { guarded } from './guarded.ts'
import type { Inspect } from './inspection-event.ts'
import { Inspection } from './inspection.ts'

/** Tells an inspector of a run until its log ends. Never rejects: an inspector has no say in how a run ends. */
export async function followRun(frames: AsyncIterable<Frame>, inspect: Inspect): Promise<void> {
  const tell = guarded(inspect)
  const inspection = new Inspection()
  try {
    for await (const frame of frames) for (const event of inspection.add(frame)) tell(event)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    process.emitWarning(`the run cannot be inspected any further: ${why}`, 'LoopchartWarning')
  }
}
