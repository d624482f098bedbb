/** How far behind one thing, by its index, another must be. */
export interface OrderRule {
  readonly from: number
  readonly to: number
  readonly length: number
}

/**
 * New places on an axis, each as near as can be to where it was, so that all rules hold; from the first place to the
 * last is as far as before. Places are given in ascending order, and a rule leads from an earlier to a later one. Where
 * the rules ask for too much, everything gets less of it.
 */
export function placeInOrder(were: readonly number[], rules: readonly OrderRule[]): readonly number[] {
  const axis = { were, rules }
  const [start, end] = [were[0] ?? 0, were.at(-1) ?? 0]
  const first = earliest(axis)
  const needed = Math.max(start, ...first) - start
  if (needed > end - start) return first.map((place) => start + ((place - start) * (end - start)) / needed)
  // What needs room takes it towards the end in the one and towards the start in the other. Between two that keep the
  // rules, the middle does too.
  const backwards = mirrored(nearest(mirror(axis)))
  return nearest(axis).map((place, index) => (place + (backwards[index] ?? place)) / 2)
}

interface Axis {
  readonly were: readonly number[]
  readonly rules: readonly OrderRule[]
}

/** Every place as near to the start as the rules let it be. */
function earliest({ were, rules }: Axis): readonly number[] {
  return inOrder(were, rules, (_, least) => least)
}

/** Every place where it was, or as little away from that as the rules ask for. */
function nearest(axis: Axis): readonly number[] {
  const latest = mirrored(earliest(mirror(axis)))
  return inOrder(axis.were, axis.rules, (index, least) => {
    const was = axis.were[index] ?? least
    return Math.max(least, Math.min(was, latest[index] ?? was))
  })
}

function inOrder(
  were: readonly number[],
  rules: readonly OrderRule[],
  choose: (index: number, least: number) => number,
): readonly number[] {
  const start = were[0] ?? 0
  const rulesOf = Map.groupBy(rules, ({ to }) => to)
  const places: number[] = []
  for (const index of were.keys()) {
    const bounds = (rulesOf.get(index) ?? []).map(({ from, length }) => (places[from] ?? start) + length)
    places.push(choose(index, Math.max(start, ...bounds)))
  }
  return places
}

/** The axis as it is seen from its end. */
function mirror({ were, rules }: Axis): Axis {
  const last = were.length - 1
  return {
    were: mirrored(were),
    rules: rules.map(({ from, to, length }) => ({ from: last - to, to: last - from, length })),
  }
}

function mirrored(places: readonly number[]): readonly number[] {
  return places.map((place) => -place).toReversed()
}
