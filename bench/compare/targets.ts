/** The most that a figure of a client may be, as a ratio to the floor's. */
export interface RatioTarget {
  readonly measure: string
  readonly figure: string
  readonly client: string
  readonly ratio: number
  /** Where the target is not met yet: what is, and what the gate holds until then. */
  readonly reached?: number
}

/** How steeply the cost of a client's loops may rise with their length. */
export interface GrowthTarget {
  readonly measure: string
  readonly client: string
  /** The figures, and the turns, of the short loop and of the long one. */
  readonly from: readonly [figure: string, turns: number]
  readonly to: readonly [figure: string, turns: number]
  readonly exponent: number
  readonly reached?: number
}

/** What `npm run bench:gate` holds, and `npm run bench` shows. */
export const RATIO_TARGETS: readonly RatioTarget[] = [
  { measure: 'events', figure: 'events', client: 'loopchart', ratio: 1.4 },
  { measure: 'events', figure: 'events', client: 'loopchart-sqlite', ratio: 4 },
  { measure: 'loop', figure: 'loop', client: 'loopchart', ratio: 1.0 },
  { measure: 'loop', figure: 'loop', client: 'loopchart-sqlite', ratio: 1.6, reached: 2.9 },
  { measure: 'first', figure: 'first', client: 'loopchart', ratio: 1.3 },
  { measure: 'runs', figure: 'runs-cpu', client: 'loopchart', ratio: 0.8, reached: 0.9 },
  { measure: 'runs', figure: 'runs-rss', client: 'loopchart', ratio: 0.7, reached: 0.75 },
]

export const GROWTH_TARGETS: readonly GrowthTarget[] = [
  {
    measure: 'growth',
    client: 'loopchart',
    from: ['turns-40', 40],
    to: ['turns-160', 160],
    exponent: 1.05,
  },
  {
    measure: 'growth-stateless',
    client: 'loopchart',
    from: ['stateless-160', 160],
    to: ['stateless-640', 640],
    exponent: 1.15,
    // What a process comes to that has run for long.
    reached: 1.2,
  },
  {
    measure: 'growth-stateless',
    client: 'loopchart',
    from: ['stateless-40', 40],
    to: ['stateless-640', 640],
    exponent: 1.15,
    // What a process comes to that has run for long.
    reached: 1.2,
  },
]

/** How far above a target the gate lets a figure be: a shared machine is not a quiet one. */
export const GATE_SLACK = 1.25
