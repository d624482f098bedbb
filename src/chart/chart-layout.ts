/** The chart with a place for everything in it, as plain JSON. Lengths are pixels from the top left corner. */
export interface ChartLayout {
  /** The version of the chart that was laid out. */
  readonly version: string
  readonly width: number
  readonly height: number
  /** Parents before what is in them. */
  readonly states: readonly LaidOutState[]
  readonly transitions: readonly LaidOutTransition[]
}

/** A rectangle of the picture. */
export interface ChartBox {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface LaidOutState extends ChartBox {
  /** Dotted path, as frames name states. */
  readonly id: string
  /** Null for a state of the chart itself. */
  readonly parent: string | null
  readonly label: string
  readonly doc: string
  readonly kind: 'compound' | 'atomic' | 'final'
  readonly tags: readonly string[]
  /** The effects that run for as long as the state is active. */
  readonly runs: readonly string[]
}

export interface LaidOutTransition {
  /** The key of the transition: the same for every copy of the machine. */
  readonly id: string
  /** Empty for the way into the chart. */
  readonly from: string
  /** The state itself when it is not left. */
  readonly to: string
  /** As the machine names it; `always` for an eventless one, `initial` for the one into a compound state. */
  readonly event: string
  readonly guard: string | null
  /** Event and guard in words; empty when there is nothing to say. */
  readonly text: string
  /** Whether a state that leads to itself is left and entered again. */
  readonly reenter: boolean
  readonly doc: string
  /**
   * The line to draw, from source to target. Transitions between the same two states share one line. Empty for one
   * that leads to its own state: it is written inside that state, at `label`.
   */
  readonly points: readonly (readonly [x: number, y: number])[]
  /** Where `text` is written, on one line; null when there is none. */
  readonly label: ChartBox | null
}
