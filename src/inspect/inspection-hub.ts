import { LoopchartError } from '../errors.ts'
import type { ActorInspection, Inspect, InspectionEvent, SnapshotInspection } from './inspection-event.ts'

export interface InspectionHubOptions {
  /** How many of the latest events somebody who comes late is given; 200 when left out. */
  readonly tail?: number
}

const TAIL = 200

interface KnownRun {
  readonly actor: ActorInspection
  snapshot: SnapshotInspection | null
}

/**
 * Passes streams on to any number of readers, who come and go. Whoever comes late gets the chart of every run first,
 * then where each of them is, then the latest events as they were; and from then on what everybody gets.
 */
export class InspectionHub {
  readonly #tailMax: number
  readonly #runs = new Map<string, KnownRun>()
  readonly #readers = new Set<Inspect>()
  readonly #tail: InspectionEvent[] = []

  constructor({ tail = TAIL }: InspectionHubOptions = {}) {
    if (!Number.isSafeInteger(tail) || tail < 0) {
      throw new LoopchartError('usage', 'tail must be a whole number that is not negative')
    }
    this.#tailMax = tail
  }

  /** Takes the next event of a stream. For the `inspect` option: it may be passed on without the hub. */
  readonly inspect: Inspect = (event) => {
    this.#keep(event)
    // Whoever comes while the others are told has this event from what was kept.
    const readers = [...this.#readers]
    for (const read of readers) this.#tell(read, event)
  }

  /** Tells a reader what it has missed, then everything to come. The answer takes it off again. */
  subscribe(read: Inspect): () => void {
    this.#readers.add(read)
    for (const event of this.#missed()) this.#tell(read, event)
    return () => void this.#readers.delete(read)
  }

  /** Drops what is kept of a run, for a process that has many: a late reader hears nothing of it any more. */
  forget(runId: string): void {
    this.#runs.delete(runId)
    const others = this.#tail.filter(({ sessionId }) => sessionId !== runId)
    this.#tail.splice(0, this.#tail.length, ...others)
  }

  #keep(event: InspectionEvent): void {
    const { sessionId } = event
    if (event.type === '@xstate.actor') {
      this.#runs.set(sessionId, { actor: event, snapshot: null })
      return
    }
    const run = this.#runs.get(sessionId)
    if (run !== undefined && event.type === '@xstate.snapshot') run.snapshot = event
    this.#tail.push(event)
    // Cut by halves: taking one off the front of an array each time moves all the others.
    if (this.#tail.length >= this.#tailMax * 2) this.#tail.splice(0, this.#tail.length - this.#tailMax)
  }

  #missed(): readonly InspectionEvent[] {
    const tail = this.#tailMax === 0 ? [] : this.#tail.slice(-this.#tailMax)
    const inTail = new Set(tail)
    const runs = [...this.#runs.values()]
    const snapshots = runs.flatMap(({ snapshot }) =>
      snapshot === null || inTail.has(snapshot) ? [] : [snapshot],
    )
    return [...runs.map(({ actor }) => actor), ...snapshots, ...tail]
  }

  /** One that throws is a reader no longer; the run and the others go on. */
  #tell(read: Inspect, event: InspectionEvent): void {
    if (!this.#readers.has(read)) return
    try {
      read(event)
    } catch {
      this.#readers.delete(read)
    }
  }
}
