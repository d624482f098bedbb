import { Buffer } from 'node:buffer'

/** Random numbers that a seed decides: a failure names its seed and can be made again. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** A whole number from 0, below `limit`. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % Math.max(1, Math.floor(limit))
  }

  pick<T>(values: readonly [T, ...T[]]): T {
    return values[this.below(values.length)] ?? values[0]
  }
}

/** One to six changes, to bytes or to events. */
export function mutateStream(bytes: Buffer, random: Random): Buffer {
  const times = 1 + random.below(6)
  let result = bytes
  for (let time = 0; time < times; time += 1) {
    result = random.below(2) === 0 ? changeBytes(result, random) : operate(result, random)
  }
  return result
}

/** Cuts bytes into chunks of random sizes, small ones mostly. */
export function* cutAtRandom(bytes: Buffer, random: Random): Generator<Buffer> {
  for (let at = 0; at < bytes.length;) {
    const size = 1 + random.below(random.pick([1, 7, 60, 4000]))
    yield bytes.subarray(at, at + size)
    at += size
  }
}

const BYTES = [
  Buffer.from([0xff, 0xfe]),
  Buffer.from([0xc3]),
  Buffer.from('\n'),
  Buffer.from('\r'),
  Buffer.from('\n\n'),
  Buffer.from('data: '),
  Buffer.from('data: [DONE]\n\n'),
  Buffer.from('"'),
  Buffer.from('\\'),
  Buffer.from('\0'),
  Buffer.from('{'),
  Buffer.from('\ufeff'),
] as const

function changeBytes(bytes: Buffer, random: Random): Buffer {
  const at = random.below(bytes.length + 1)
  const end = Math.min(bytes.length, at + random.below(40))
  const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)]
  switch (random.below(5)) {
    case 0: {
      const flipped = Buffer.from(bytes)
      if (at < flipped.length) flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8))
      return flipped
    }
    case 1:
      return Buffer.concat([head, bytes.subarray(end)])
    case 2:
      return Buffer.concat([head, bytes.subarray(at, end), tail])
    case 3:
      return Buffer.concat([head, random.pick(BYTES), tail])
    default:
      return random.below(4) === 0 ? head : bytes
  }
}

const VALUES = [
  null,
  0,
  1,
  -1,
  1e300,
  '',
  'fc_0',
  'call_0',
  'function_call',
  '__proto__',
  'response.completed',
  'response.output_item.done',
  'response.output_text.delta',
  'response.function_call_arguments.delta',
  [],
  {},
  [[]],
  true,
  '\ud800',
] as const

/** Event surgery: leave out, repeat, swap, rename, or edit a field somewhere inside. */
function operate(bytes: Buffer, random: Random): Buffer {
  const events = bytes.toString('latin1').split('\n\n')
  const at = random.below(events.length)
  const other = random.below(events.length)
  const [one = '', two = ''] = [events[at], events[other]]
  switch (random.below(6)) {
    case 4:
      // By the hundred: what is repeated must not cost more than it is long.
      events.splice(
        other,
        0,
        ...Array.from({ length: 1 + random.below(Math.min(300, 100_000 / (one.length + 1))) }, () => one),
      )
      break
    case 0:
      events.splice(at, 1)
      break
    case 1:
      events.splice(other, 0, one)
      break
    case 2:
      events[at] = two
      events[other] = one
      break
    default:
      events[at] = editField(one, random)
  }
  return Buffer.from(events.join('\n\n'), 'latin1')
}

function editField(event: string, random: Random): string {
  const match = /^data: (\{.*\})$/mu.exec(event)
  if (match?.[1] === undefined) return event
  try {
    const data: unknown = JSON.parse(match[1])
    editInside(data, random)
    return event.replace(match[0], () => `data: ${JSON.stringify(data)}`)
  } catch {
    return event
  }
}

function editInside(value: unknown, random: Random): void {
  if (typeof value !== 'object' || value === null) return
  const fields = value as Record<string, unknown>
  const keys = Object.keys(fields)
  const key = keys[random.below(keys.length)]
  if (key === undefined) return
  const inner = fields[key]
  if (typeof inner === 'object' && inner !== null && random.below(3) > 0) editInside(inner, random)
  else if (random.below(4) === 0) delete fields[key]
  else fields[key] = random.pick(VALUES)
}
