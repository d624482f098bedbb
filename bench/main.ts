// npm run bench                                  every figure with its budget, then every client beside the floor
// npm run bench -- --quick                       fewer rounds, without the slow parts: under three minutes
// npm run bench -- --only decode,compare/loop    parts by their names; `compare` is all of the comparison
//
// Prints markdown and writes reports/bench.json. Exits 1 when a figure is over its budget; the comparison has no budget
// here, `npm run bench:gate` holds it.
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { installPackages } from '../scripts/install-packages.ts'
import { comparisonTable } from './compare/comparison-table.ts'
import { compare, type Compared } from './compare/comparison.ts'
import { MEASURES } from './compare/measures.ts'
import type { Figure } from './decode.ts'
import { PARTS } from './parts.ts'

const COMPARE = 'compare'
const folder = fileURLToPath(new URL('.', import.meta.url))

process.exitCode = await main()

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
  })
  const { quick: isQuick } = values
  const only = values.only?.split(',') ?? null
  const names = [...Object.keys(PARTS), COMPARE, ...MEASURES.map(({ name }) => `${COMPARE}/${name}`)]
  const unknown = only?.find((name) => !names.includes(name))
  if (unknown !== undefined) {
    console.error(`bench: ${unknown} is none of ${names.join(', ')}`)
    return 2
  }
  const measures = comparedMeasures(only)
  // Before anything is measured: not to find out after minutes that half of it cannot be.
  if (measures?.length !== 0 && !installPackages(folder)) return 2
  const figures = await measureParts(only, isQuick)
  if (figures.length > 0) console.log(figureTable(figures))
  const compared = measures?.length === 0 ? [] : await compare({ only: measures, isQuick })
  if (compared.length > 0) console.log(`\n${comparisonTable(compared)}`)
  report({ isQuick, figures, compared })
  return figures.some(isOver) ? 1 : 0
}

/** The measures of the comparison to take; null: all. */
function comparedMeasures(only: readonly string[] | null): readonly string[] | null {
  if (only === null || only.includes(COMPARE)) return null
  return MEASURES.map(({ name }) => name).filter((name) => only.includes(`${COMPARE}/${name}`))
}

async function measureParts(only: readonly string[] | null, isQuick: boolean): Promise<readonly Figure[]> {
  const figures: Figure[] = []
  for (const [name, { measure, isSlow = false }] of Object.entries(PARTS)) {
    if (only === null ? isQuick && isSlow : !only.includes(name)) continue
    console.error(`bench: ${name}`)
    figures.push(...(await measure(isQuick)))
  }
  return figures
}

function isOver({ value, budget }: Figure): boolean {
  return !(value <= budget)
}

function figureTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const { id, value, unit, budget, about } = figure
    const most = Number.isFinite(budget) ? budget : 'none'
    return `| ${id} | ${value.toFixed(2)} ${unit} | ${most} | ${isOver(figure) ? 'over' : 'ok'} | ${about} |`
  })
  return ['| figure | measured | budget | | |', '|---|---|---|---|---|', ...rows].join('\n')
}

interface Report {
  readonly isQuick: boolean
  readonly figures: readonly Figure[]
  readonly compared: readonly Compared[]
}

function report(measured: Report): void {
  const machine = {
    cpu: cpus()[0]?.model ?? '',
    cores: cpus().length,
    platform: `${process.platform} ${process.arch}`,
  }
  const path = fileURLToPath(new URL('../reports/bench.json', import.meta.url))
  mkdirSync(fileURLToPath(new URL('../reports', import.meta.url)), { recursive: true })
  const whole = { date: new Date().toISOString(), node: process.version, machine, ...measured }
  writeFileSync(path, `${JSON.stringify(whole, null, 2)}\n`)
  console.error(`bench: wrote ${path}`)
}
