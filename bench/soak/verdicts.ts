import type { LoopDelay, Sample } from './sampler.ts'

/** One line of the table: what was measured, and whether it is as it must be. */
export interface Verdict {
  readonly what: string
  readonly measured: string
  readonly limit: string
  /** Null: the soak was too short to say. */
  readonly isMet: boolean | null
}

/** What is held against the limits. */
export interface Measured {
  /** While the load was on, the oldest first. */
  readonly samples: readonly Sample[]
  /** Of the event loop, over the second half. */
  readonly delay: LoopDelay
  readonly answered: number
  readonly unexpected: number
  readonly hangs: number
  /** Unhandled rejections, warnings of listeners that pile up, and the like. */
  readonly alarms: number
  /** On the signal that lasts, when all conversations are closed. */
  readonly listenersLeft: number
}

const SLOPE_MB_PER_MINUTE_MAX = 1
const DELAY_P99_MS_MAX = 50

// Shorter ones have not warmed up, and a window of theirs is a sample or two.
const JUDGED_MS_MIN = 60_000
const SAMPLES_MIN = 10

const MS_PER_MINUTE = 60_000

/** Holds a soak against its limits. */
export function verdictsOf(measured: Measured): readonly Verdict[] {
  const { samples } = measured
  const isLong = samples.length >= SAMPLES_MIN && spanMs(samples) >= JUDGED_MS_MIN
  return [...correctness(measured), ...(isLong ? overTime(measured) : TOO_SHORT)]
}

/** Whether none of them is missed. */
export function areMet(verdicts: readonly Verdict[]): boolean {
  return verdicts.every(({ isMet }) => isMet !== false)
}

function correctness({ answered, unexpected, hangs, alarms, listenersLeft }: Measured): readonly Verdict[] {
  return [
    {
      what: 'messages with the answer or the failure that they asked for',
      measured: `${answered} of ${answered + unexpected}`,
      limit: 'all',
      isMet: answered > 0 && unexpected === 0,
    },
    { what: 'messages without an end', measured: `${hangs}`, limit: '0', isMet: hangs === 0 },
    {
      what: 'unhandled rejections, uncaught exceptions, warnings',
      measured: `${alarms}`,
      limit: '0',
      isMet: alarms === 0,
    },
    {
      what: 'abort listeners left on the lasting signal in the end',
      measured: `${listenersLeft}`,
      limit: '0',
      isMet: listenersLeft === 0,
    },
  ]
}

const TOO_SHORT: readonly Verdict[] = [
  { what: 'memory, handles, delay', measured: 'too short to say', limit: '', isMet: null },
]

function overTime({ samples, delay }: Measured): readonly Verdict[] {
  const second = secondHalf(samples)
  const { perMinute, error } = slopeOf(second.map(({ atMs, rssMb }) => [atMs / MS_PER_MINUTE, rssMb]))
  return [
    {
      what: 'slope of RSS in the second half',
      measured: `${perMinute.toFixed(2)} ± ${error.toFixed(2)} MB/min`,
      limit: `${SLOPE_MB_PER_MINUTE_MAX}`,
      isMet: perMinute < SLOPE_MB_PER_MINUTE_MAX,
    },
    {
      what: 'slope of the heap after collections in the second half',
      measured: heapSlope(second),
      limit: 'for information',
      isMet: null,
    },
    ...growths(samples),
    {
      what: 'delay of the event loop in the second half, p99',
      measured: `${delay.p99Ms.toFixed(1)} ms, longest ${delay.maxMs.toFixed(0)} ms`,
      limit: `${DELAY_P99_MS_MAX} ms`,
      isMet: delay.p99Ms < DELAY_P99_MS_MAX,
    },
    {
      what: 'the same without the time in which others had the core',
      measured: `${delay.ownP99Ms.toFixed(1)} ms`,
      limit: 'for information',
      isMet: null,
    },
  ]
}

// RSS follows the heap with what the collector holds back; this is what there is to collect no more.
function heapSlope(samples: readonly Sample[]): string {
  const points = samples.flatMap(({ atMs, heapMb }) =>
    heapMb === null ? [] : [[atMs / MS_PER_MINUTE, heapMb] as const],
  )
  const { perMinute, error } = slopeOf(points)
  return `${perMinute.toFixed(2)} ± ${error.toFixed(2)} MB/min`
}

/** What must not grow: the middle of the soak held against its end. */
function growths(samples: readonly Sample[]): readonly Verdict[] {
  const kinds = [...new Set(samples.flatMap(({ resources }) => Object.keys(resources)))].sort()
  const counts: readonly (readonly [string, (sample: Sample) => number])[] = [
    ['open file descriptors', ({ descriptors }) => descriptors ?? 0],
    ['abort listeners on the lasting signal', ({ signalListeners }) => signalListeners],
    ['listeners of the process', ({ processListeners }) => processListeners],
    ...kinds.map((kind) => [`active ${kind}`, ({ resources }: Sample) => resources[kind] ?? 0] as const),
  ]
  const load = compareWindows(samples.map(({ underway }) => underway))
  return counts.map(([what, count]) => growthOf(what, compareWindows(samples.map(count)), load))
}

interface Windows {
  readonly middle: number
  readonly end: number
}

// The tenth of the time around the middle, and the last one.
const WINDOW_SHARE = 0.1

function compareWindows(counts: readonly number[]): Windows {
  const width = Math.max(1, Math.floor(counts.length * WINDOW_SHARE))
  const from = Math.floor((counts.length - width) / 2)
  return { middle: meanOf(counts.slice(from, from + width)), end: meanOf(counts.slice(-width)) }
}

// Of the middle: so much comes and goes from one window to the next.
const NOISE_SHARE = 0.1
const NOISE_MIN = 5
// Of each kind, one message more at a time has no more than this: sockets, timers, listeners.
const PER_MESSAGE_MAX = 3

/** The same load is meant: where a busy machine had more messages under way at the end, what those hold is no growth. */
function growthOf(what: string, { middle, end }: Windows, load: Windows): Verdict {
  const noise = Math.max(NOISE_MIN, middle * NOISE_SHARE)
  const more = Math.max(0, load.end - load.middle)
  const allowed =
    middle + noise + Math.min(more * PER_MESSAGE_MAX, middle * (more / Math.max(1, load.middle)))
  return {
    what,
    measured: `${middle.toFixed(1)} in the middle, ${end.toFixed(1)} at the end`,
    limit: allowed.toFixed(1),
    isMet: end <= allowed,
  }
}

/** The line through points with the least squares: its slope, and how far off that may be (two standard errors). */
export function slopeOf(points: readonly (readonly [number, number])[]): {
  readonly perMinute: number
  readonly error: number
} {
  const meanX = meanOf(points.map(([x]) => x))
  const meanY = meanOf(points.map(([, y]) => y))
  const spread = sumOf(points.map(([x]) => (x - meanX) ** 2))
  if (spread === 0) return { perMinute: 0, error: Number.POSITIVE_INFINITY }
  const perMinute = sumOf(points.map(([x, y]) => (x - meanX) * (y - meanY))) / spread
  const rest = sumOf(points.map(([x, y]) => (y - meanY - perMinute * (x - meanX)) ** 2))
  const error = points.length < 3 ? Number.POSITIVE_INFINITY : Math.sqrt(rest / (points.length - 2) / spread)
  return { perMinute, error: 2 * error }
}

/** The samples from the middle of the time on. */
export function secondHalf(samples: readonly Sample[]): readonly Sample[] {
  const [first] = samples
  const middleMs = (first?.atMs ?? 0) + spanMs(samples) / 2
  return samples.filter(({ atMs }) => atMs >= middleMs)
}

function spanMs(samples: readonly Sample[]): number {
  return (samples.at(-1)?.atMs ?? 0) - (samples[0]?.atMs ?? 0)
}

export function meanOf(values: readonly number[]): number {
  return values.length === 0 ? 0 : sumOf(values) / values.length
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}
