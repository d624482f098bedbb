import type { Samples } from './measures.ts'
import type { GrowthTarget, RatioTarget } from './targets.ts'

/** One figure beside what it is held to. */
export interface Verdict {
  readonly figure: string
  readonly client: string
  readonly value: number
  readonly target: number
  /** The most the gate lets through. */
  readonly limit: number
  readonly isOver: boolean
  /** What the value was made of. */
  readonly from: readonly [of: number, to: number]
}

/** The least a client took, to the least the floor took: of several rounds, the one that was disturbed least. */
export function ratioVerdict(
  samples: Samples,
  { figure, client, ratio, reached = ratio }: RatioTarget,
  slack: number,
): Verdict {
  const [own, floor] = [least(samples, figure, client), least(samples, figure, 'floor')]
  return { figure, client, ...held(own / floor, ratio, reached * slack), from: [own, floor] }
}

/**
 * The exponent of the rise in cost. The slack is given to the ratio of the costs: an exponent of 1.05 times 1.25 would
 * let 160 turns cost six times what 40 cost.
 */
export function growthVerdict(
  samples: Samples,
  { client, from, to, exponent, reached = exponent }: GrowthTarget,
  slack: number,
): Verdict {
  const [short, long] = [least(samples, from[0], client), least(samples, to[0], client)]
  const limit = reached + Math.log(slack) / Math.log(to[1] / from[1])
  const value = growthExponent([from[1], short], [to[1], long])
  const figure = `exponent ${from[0]} to ${to[1]}`
  return { figure, client, ...held(value, exponent, limit), from: [long, short] }
}

/** How cost rises with size: 1 when in step, 2 when with the square. */
export function growthExponent(
  [sizeFrom, costFrom]: readonly [size: number, cost: number],
  [sizeTo, costTo]: readonly [size: number, cost: number],
): number {
  return Math.log(costTo / costFrom) / Math.log(sizeTo / sizeFrom)
}

// A value that is not a number is over: nothing that was not measured may pass.
function held(
  value: number,
  target: number,
  limit: number,
): Pick<Verdict, 'value' | 'target' | 'limit' | 'isOver'> {
  return { value, target, limit, isOver: !(value <= limit) }
}

function least(samples: Samples, figure: string, client: string): number {
  return Math.min(...(samples[figure]?.[client] ?? [Number.NaN]))
}
