// What is measured. Each measure has processes of its own; repetitions go round the clients, so that whatever else the
// machine does falls on all of them alike.
import { median } from '../measure.ts'
import { CLIENTS } from './client-list.ts'
import type { Continuity } from './client.ts'
import type { Stand } from './stand.ts'
import type { Task } from './task.ts'

/** Figures by name, of each client one value a round. */
export type Samples = Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>

interface MeasurePlan {
  readonly clients: readonly string[]
  readonly rounds: number
  /** How much of the warm-up is done, 1 being what compiled code needs. */
  readonly warmUp: number
}

export interface Measure {
  readonly name: string
  readonly about: string
  readonly run: (stand: Stand, plan: MeasurePlan) => Promise<Samples>
}

/** The units of figures; a growth's are ms. */
export const UNITS: Readonly<Record<string, string>> = {
  events: 'us',
  loop: 'ms',
  first: 'us',
  'runs-cpu': 'ms',
  'runs-rss': 'MiB',
}

const DELTAS = 20_000
const RUNS_AT_ONCE = 500
const LOOPS = 5
const FIRSTS = 40
const LOOPS_SHORT = 4
const WARM_UP_TURNS = 800

export const MEASURES: readonly Measure[] = [
  {
    name: 'events',
    about: `CPU us per SSE event, ${DELTAS} deltas, one event per chunk`,
    run: async (stand, plan) => {
      const task: Task = { kind: 'answer', baseUrl: `${stand.url}/events-${DELTAS}/v1`, deltas: DELTAS }
      return { events: await rounds(stand, plan, { taskOf: () => task, warmUps: 6, unitUs: DELTAS }) }
    },
  },
  {
    name: 'loop',
    about: 'CPU ms of a 20-turn tool loop, 50 argument deltas each, one event per chunk',
    run: async (stand, plan) => {
      const taskOf = (client: string): Task => loopTask(stand, 20, continuityOf(client), LOOPS)
      return { loop: await rounds(stand, plan, { taskOf, warmUps: 60, unitUs: 1000 * LOOPS }) }
    },
  },
  { name: 'first', about: 'us from the first byte of a body to the first text', run: measureFirst },
  { name: 'runs', about: `${RUNS_AT_ONCE} concurrent 5-turn runs: CPU ms, peak RSS MiB`, run: measureRuns },
  {
    name: 'growth',
    about: 'CPU ms of 40 and of 160 turns',
    run: (stand, plan) => measureGrowth(stand, plan, { prefix: 'turns', continuityOf, lengths: [40, 160] }),
  },
  {
    name: 'growth-stateless',
    about: 'CPU ms of 40, 160 and 640 turns, the whole history in each request',
    run: (stand, plan) =>
      measureGrowth(stand, plan, {
        prefix: 'stateless',
        continuityOf: () => 'stateless',
        lengths: [40, 160, 640],
      }),
  },
]

interface Repetition {
  readonly taskOf: (client: string) => Task
  readonly warmUps: number
  /** What one of the figure's unit is of the CPU microseconds of a task. */
  readonly unitUs: number
}

async function rounds(
  stand: Stand,
  { clients, rounds, warmUp }: MeasurePlan,
  { taskOf, warmUps, unitUs }: Repetition,
): Promise<Record<string, number[]>> {
  const samples: Record<string, number[]> = {}
  for (let round = -Math.ceil(warmUps * warmUp); round < rounds; round += 1) {
    for (const client of clients) {
      const { cpuUs } = await stand.perform(client, taskOf(client))
      if (round >= 0) (samples[client] ??= []).push(cpuUs / unitUs)
    }
  }
  await stand.startAfresh()
  return samples
}

/**
 * The server notes when it wrote the first byte of a body, the client when its reader had the first text; both on the
 * clock of the machine. In between are the socket, the transport, the parser and everything up to the reader.
 */
async function measureFirst(stand: Stand, { clients, rounds, warmUp }: MeasurePlan): Promise<Samples> {
  const samples: Record<string, number[]> = {}
  const task: Task = { kind: 'first', baseUrl: `${stand.url}/first/v1`, times: FIRSTS }
  for (let round = -Math.ceil(4 * warmUp); round < rounds; round += 1) {
    for (const client of clients) {
      const { firstTextsAt } = await stand.perform(client, task)
      const writtenAt = await stand.takeFirstBytes()
      if (writtenAt.length !== firstTextsAt.length) throw new Error(`${client}: not one text a body`)
      const spentUs = firstTextsAt.map((at, index) => Number(at - (writtenAt[index] ?? 0n)) / 1000)
      if (round >= 0) (samples[client] ??= []).push(median(spentUs))
    }
  }
  await stand.startAfresh()
  return { first: samples }
}

/** A fresh process for each repetition, as a peak is that of a whole life; a few runs before, so that all is loaded. */
async function measureRuns(stand: Stand, { clients, rounds }: MeasurePlan): Promise<Samples> {
  const cpu: Record<string, number[]> = {}
  const rss: Record<string, number[]> = {}
  for (let round = 0; round < rounds; round += 1) {
    for (const client of clients) {
      const continuity = continuityOf(client)
      await stand.perform(client, loopTask(stand, 5, continuity, 10))
      const task = loopTask(stand, 5, continuity, RUNS_AT_ONCE)
      const { cpuUs, peakRssKib } = await stand.perform(client, { ...task, kind: 'loops-at-once' })
      await stand.startAfresh(client)
      ;(cpu[client] ??= []).push(cpuUs / 1000)
      ;(rss[client] ??= []).push(peakRssKib / 1024)
    }
  }
  return { 'runs-cpu': cpu, 'runs-rss': rss }
}

interface Growth {
  readonly prefix: string
  readonly continuityOf: (client: string) => Continuity
  readonly lengths: readonly number[]
}

/** Loops of several lengths; the shorter ones several times, as they are over too soon to be measured well. */
async function measureGrowth(
  stand: Stand,
  { clients, rounds, warmUp }: MeasurePlan,
  { prefix, continuityOf, lengths }: Growth,
): Promise<Samples> {
  const samples: Record<string, Record<string, number[]>> = {}
  const longest = Math.max(...lengths)
  const timesOf = (turns: number): number => Math.min(LOOPS_SHORT, longest / turns)
  const turnsARound = lengths.reduce((sum, turns) => sum + turns * timesOf(turns), 0)
  for (let round = -Math.ceil((WARM_UP_TURNS / turnsARound) * warmUp); round < rounds; round += 1) {
    for (const client of clients) {
      for (const turns of lengths) {
        const times = timesOf(turns)
        const { cpuUs } = await stand.perform(client, loopTask(stand, turns, continuityOf(client), times))
        const figure = (samples[`${prefix}-${turns}`] ??= {})
        if (round >= 0) (figure[client] ??= []).push(cpuUs / 1000 / times)
      }
    }
  }
  await stand.startAfresh()
  return samples
}

/** A client goes on from the id of a response if it can, as that is what its users would want. */
function continuityOf(client: string): Continuity {
  return CLIENTS[client]?.byId === false ? 'stateless' : 'previous_response_id'
}

function loopTask(
  { url }: Stand,
  turns: number,
  continuity: Continuity,
  times: number,
): Extract<Task, { times: number; turns: number }> {
  return { kind: 'loop', baseUrl: `${url}/loop-${turns}/v1`, turns, continuity, times }
}
