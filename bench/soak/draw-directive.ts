import { KINDS, type Directive, type Kind } from './directive.ts'
import type { Random } from './random.ts'

// How often each kind comes up, in about a hundred messages. Most of what people say is simply answered.
const WEIGHTS: Readonly<Record<Kind, number>> = {
  plain: 22,
  long: 6,
  tool: 14,
  chain: 4,
  parallel: 5,
  throws: 4,
  timeout: 2,
  late: 2,
  approve: 4,
  deny: 3,
  subagent: 3,
  steer: 2,
  limited: 4,
  broken: 4,
  down: 2,
  cut: 3,
  reset: 3,
  torn: 1,
  stall: 1,
  silent: 1,
  'cancel-stream': 3,
  'cancel-tool': 2,
  'cancel-wait': 1,
  abort: 2,
  'close-stream': 2,
  'close-tool': 1,
  'close-approval': 1,
  abandon: 1,
}

const TOTAL = Object.values(WEIGHTS).reduce((sum, weight) => sum + weight, 0)

/** What the next message is about. */
export function drawDirective(random: Random, id: string): Directive {
  const kind = drawKind(random.next() * TOTAL)
  const words = kind === 'long' ? random.between(200, 500) : random.between(5, 60)
  return { id, kind, words, a: random.between(1, 99), b: random.between(1, 99) }
}

function drawKind(at: number): Kind {
  let left = at
  for (const kind of KINDS) {
    left -= WEIGHTS[kind]
    if (left < 0) return kind
  }
  return 'plain'
}
