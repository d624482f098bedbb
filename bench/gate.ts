// npm run bench:gate                  loopchart against the floor; exit 1 when a figure is over 1.25 times its target,
//                                     or, where that is not met yet, 1.25 times what is reached
// npm run bench:gate -- --only loop   one measure, or several by their names with a comma between
//
// The least of some rounds, side by side. What is compared with what: bench/compare/targets.ts.
import { parseArgs } from 'node:util'

import { MEASURES, UNITS, type Samples } from './compare/measures.ts'
import { Stand } from './compare/stand.ts'
import { GATE_SLACK, GROWTH_TARGETS, RATIO_TARGETS } from './compare/targets.ts'
import { growthVerdict, ratioVerdict, type Verdict } from './compare/verdict.ts'

const ROUNDS = 5

process.exitCode = await main()

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { only: { type: 'string' } } })
  const only = values.only?.split(',')
  const unknown = only?.find((name) => !MEASURES.some((measure) => measure.name === name))
  if (unknown !== undefined) {
    console.error(`bench: ${unknown} is none of ${MEASURES.map(({ name }) => name).join(', ')}`)
    return 2
  }
  console.log(
    '| figure | client | least of it | of the floor, or of the short loop | ratio or exponent | target | limit | |',
  )
  console.log('|---|---|---|---|---|---|---|---|')
  await using stand = await Stand.open()
  let isOver = false
  for (const { name, run } of MEASURES) {
    if (only?.includes(name) === false) continue
    const isGrowth = GROWTH_TARGETS.some(({ measure }) => measure === name)
    const plan = { clients: clientsOf(name, isGrowth), rounds: ROUNDS, warmUp: 1 }
    let samples = await run(stand, plan)
    // A machine that does something else for a minute is no reason to fail: what is really over is so again.
    if (verdictsOf(name, samples).some((verdict) => verdict.isOver)) {
      samples = together(samples, await run(stand, plan))
    }
    for (const verdict of verdictsOf(name, samples)) {
      print(verdict)
      isOver ||= verdict.isOver
    }
  }
  return isOver ? 1 : 0
}

/** The rounds of two measurements of the same. */
function together(one: Samples, other: Samples): Samples {
  return Object.fromEntries(
    Object.entries(one).map(([figure, clients]) => [
      figure,
      Object.fromEntries(
        Object.entries(clients).map(([client, costs]) => [
          client,
          [...costs, ...(other[figure]?.[client] ?? [])],
        ]),
      ),
    ]),
  )
}

/** Growth is held against the client itself, and needs no floor. */
function clientsOf(name: string, isGrowth: boolean): readonly string[] {
  const targets = [...RATIO_TARGETS, ...GROWTH_TARGETS].filter(({ measure }) => measure === name)
  return [...new Set([...(isGrowth ? [] : ['floor']), ...targets.map(({ client }) => client)])]
}

function verdictsOf(name: string, samples: Samples): readonly Verdict[] {
  return [
    ...RATIO_TARGETS.filter(({ measure }) => measure === name).map((target) =>
      ratioVerdict(samples, target, GATE_SLACK),
    ),
    ...GROWTH_TARGETS.filter(({ measure }) => measure === name).map((target) =>
      growthVerdict(samples, target, GATE_SLACK),
    ),
  ]
}

function print({ figure, client, value, target, limit, isOver, from: [of, to] }: Verdict): void {
  const unit = UNITS[figure] ?? 'ms'
  const costs = [of, to].map((cost) => `${cost.toFixed(2)} ${unit}`)
  const cells = [figure, client, ...costs, value.toFixed(2), target.toFixed(2)]
  console.log(`| ${cells.join(' | ')} | ${limit.toFixed(2)} | ${isOver ? 'OVER' : 'ok'} |`)
}
