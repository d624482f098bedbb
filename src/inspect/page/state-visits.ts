import { countUpTo } from './binary-search.ts'

/** How often a state was entered and how long it was active, up to the cursor. */
export interface Visits {
  readonly count: number
  readonly timeMs: number
}

/** A state that was entered, and with which frame. */
export interface StateEntry {
  readonly seq: number
  readonly state: string
}

interface Stays {
  /** Seq of the frame with which each stay began, ascending. */
  readonly seqs: number[]
  readonly begins: number[]
  /** When each stay ended; the last has none while the state is active. */
  readonly ends: number[]
  /** Time in the state before each stay. */
  readonly before: number[]
}

/** Where a run was, and visits and time of every state, for any place of the run; grows with the run. */
export class StateVisits {
  readonly #stays = new Map<string, Stays>()
  readonly #seqs: number[] = []
  readonly #entries: StateEntry[] = []
  #active: readonly string[] = []

  /** Every entry in order; it grows, and is always the same list. */
  get entries(): readonly StateEntry[] {
    return this.#entries
  }

  /** The state that was entered last. */
  get latest(): string | null {
    return this.#entries.at(-1)?.state ?? null
  }

  /** The frame with which that was; -1 before the first. */
  get lastSeq(): number {
    return this.#seqs.at(-1) ?? -1
  }

  /** Counts are of entries in the order in which they happened. */
  enter(state: string, seq: number, ts: number): void {
    const active = withParents(state)
    for (const left of this.#active) {
      if (left === state || !active.includes(left)) this.#stays.get(left)?.ends.push(ts)
    }
    for (const entered of active) {
      if (entered === state || !this.#active.includes(entered)) this.#begin(entered, seq, ts)
    }
    this.#active = active
    this.#seqs.push(seq)
    this.#entries.push({ seq, state })
  }

  /** The state at a frame; null before the first. */
  stateAt(seq: number): string | null {
    return this.#entries[countUpTo(this.#seqs, seq) - 1]?.state ?? null
  }

  /** Up to a frame and its time. */
  visitsAt(state: string, seq: number, ts: number): Visits {
    const stays = this.#stays.get(state)
    const count = stays === undefined ? 0 : countUpTo(stays.seqs, seq)
    if (stays === undefined || count === 0) return { count: 0, timeMs: 0 }
    const begin = stays.begins[count - 1] ?? ts
    const end = Math.min(stays.ends[count - 1] ?? ts, ts)
    return { count, timeMs: (stays.before[count - 1] ?? 0) + Math.max(0, end - begin) }
  }

  #begin(state: string, seq: number, ts: number): void {
    const stays = this.#stays.get(state) ?? { seqs: [], begins: [], ends: [], before: [] }
    this.#stays.set(state, stays)
    const last = stays.begins.length - 1
    const lastMs = (stays.ends[last] ?? ts) - (stays.begins[last] ?? ts)
    stays.before.push((stays.before[last] ?? 0) + lastMs)
    stays.seqs.push(seq)
    stays.begins.push(ts)
  }
}

/** A state and all that it is in, the outermost first. */
export function withParents(state: string): readonly string[] {
  const parts = state.split('.')
  return parts.map((_, index) => parts.slice(0, index + 1).join('.'))
}
