// The inspection stream of a run: what moved it and where that led, made from its log, whether it is live or stored.
import type { Frame } from '../frames/generated/frame.ts'
import { describeRun, describeStep, type InspectedRun } from './describe-step.ts'
import type { InspectionEvent } from './inspection-event.ts'
import { StepReader } from './step-reader.ts'

/** The stream of one run, made as its frames come. */
export class Inspection {
  readonly #reader = new StepReader()
  #run: InspectedRun | null = null

  /**
   * Takes the next frame of the log, from its first on: the events that it stands for, none for most. Throws
   * `log_corrupt` for a log that is not the whole log of one run, and for one that another chart has written.
   */
  add(frame: Frame): readonly InspectionEvent[] {
    const step = this.#reader.add(frame)
    if (step === null) return []
    if (this.#run !== null) return describeStep(this.#run, step)
    const parentId = frame.type === 'run_started' ? frame.parent?.run_id : undefined
    this.#run = { runId: frame.run_id, parentId }
    return [describeRun(this.#run, step), ...describeStep(this.#run, step)]
  }
}

/** The stream of a log, event by event; see `Inspection`. */
export function* inspectionOf(frames: Iterable<Frame>): Generator<InspectionEvent, void> {
  const inspection = new Inspection()
  for (const frame of frames) yield* inspection.add(frame)
}
