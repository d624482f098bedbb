// Every client beside the floor: what `npm run bench` adds to the figures of the parts.
import { median, pairedRatio } from '../measure.ts'
import { CLIENTS } from './client-list.ts'
import { MEASURES, type Samples } from './measures.ts'
import { Stand } from './stand.ts'
import { growthExponent } from './verdict.ts'

export interface ComparisonOptions {
  /** Names of measures; all when null. */
  readonly only: readonly string[] | null
  readonly isQuick: boolean
}

/** One client in one figure. */
export interface Compared {
  readonly figure: string
  readonly client: string
  /** The median of the rounds, in the unit of the measure. */
  readonly median: number
  /** The median of the ratios to the floor of the same round; for an exponent, that of the exponents. */
  readonly value: number
  readonly samples: readonly number[]
}

// So many rounds; so many when it is to be quick.
const ROUNDS: Readonly<Record<string, readonly [all: number, quick: number]>> = {
  events: [9, 3],
  loop: [9, 3],
  first: [9, 3],
  runs: [3, 1],
  growth: [5, 3],
  'growth-stateless': [3, 1],
}

// When it is to be quick: what takes most of the time has only a few clients, and some are in nothing.
const LONG = new Set(['runs', 'growth'])
const FEW_CLIENTS = ['floor', 'loopchart', 'openai create']
const LEFT_OUT = new Set(['openai stream', '@openai/agents by id'])

/** Measures one after the other, each with all of its clients. */
export async function compare({ only, isQuick }: ComparisonOptions): Promise<readonly Compared[]> {
  const compared: Compared[] = []
  await using stand = await Stand.open()
  for (const { name, about, run } of MEASURES) {
    if (only?.includes(name) === false) continue
    console.error(`bench: compare/${name}: ${about}`)
    const [all = 1, quick = 1] = ROUNDS[name] ?? []
    const clients = clientsIn(name, isQuick)
    const plan = { clients, rounds: isQuick ? quick : all, warmUp: isQuick ? 0.25 : 1 }
    compared.push(...comparedOf(await run(stand, plan)))
  }
  return compared
}

/** In the stateless measure only those that choose: the others have been measured so before. */
function clientsIn(measure: string, isQuick: boolean): readonly string[] {
  if (isQuick && LONG.has(measure)) return FEW_CLIENTS
  if (measure === 'growth-stateless') return ['floor', 'loopchart']
  return Object.entries(CLIENTS)
    .filter(([, { onlyIn }]) => onlyIn?.includes(measure) !== false)
    .map(([name]) => name)
    .filter((name) => !isQuick || !LEFT_OUT.has(name))
}

function comparedOf(samples: Samples): readonly Compared[] {
  const figures = Object.entries(samples).flatMap(([figure, byClient]) =>
    Object.entries(byClient).map(([client, values]) => ({
      figure,
      client,
      median: median(values),
      value: pairedRatio(values, byClient['floor'] ?? []),
      samples: values,
    })),
  )
  return [...figures, ...EXPONENTS.flatMap((exponent) => exponentsOf(samples, exponent))]
}

type Length = readonly [figure: string, turns: number]

const EXPONENTS: readonly (readonly [name: string, from: Length, to: Length])[] = [
  ['exponent', ['turns-40', 40], ['turns-160', 160]],
  ['exponent-stateless', ['stateless-40', 40], ['stateless-640', 640]],
]

function exponentsOf(
  samples: Samples,
  [name, [fromFigure, fromTurns], [toFigure, toTurns]]: (typeof EXPONENTS)[number],
): readonly Compared[] {
  return Object.entries(samples[toFigure] ?? {}).map(([client, costs]) => {
    const short = samples[fromFigure]?.[client] ?? []
    const exponents = costs.map((cost, round) =>
      growthExponent([fromTurns, short[round] ?? Number.NaN], [toTurns, cost]),
    )
    const value = median(exponents)
    return { figure: name, client, median: value, value, samples: exponents }
  })
}
