import { CLIENTS } from './client-list.ts'
import type { Compared } from './comparison.ts'
import { UNITS } from './measures.ts'
import { GROWTH_TARGETS, RATIO_TARGETS } from './targets.ts'

interface Column {
  readonly figure: string
  readonly title: string
}

const COLUMNS: readonly Column[] = [
  { figure: 'events', title: 'CPU per SSE event' },
  { figure: 'loop', title: '20-turn loop' },
  { figure: 'first', title: 'first byte to first text' },
  { figure: 'runs-cpu', title: '500 runs: CPU' },
  { figure: 'runs-rss', title: '500 runs: peak RSS' },
  { figure: 'exponent', title: 'growth 40 to 160 turns' },
  { figure: 'exponent-stateless', title: 'stateless, 40 to 640 turns' },
]

/** Clients down, measures across: ratio to the floor, and what that is; what a client does not do in the last column. */
export function comparisonTable(compared: readonly Compared[]): string {
  const columns = COLUMNS.filter(({ figure }) => compared.some((one) => one.figure === figure))
  const rows = Object.entries(CLIENTS)
    .filter(([name]) => compared.some(({ client }) => client === name))
    .map(([name, { byId, doesNot }]) => [
      name,
      ...columns.map((column) => cell(compared, name, column)),
      byId ? 'response id' : 'whole history',
      doesNot,
    ])
  const head = ['x floor', ...columns.map(({ title }) => title), 'goes on by', 'what it does not do']
  const targets = ['target for loopchart', ...columns.map(({ figure }) => targetOf(figure)), '', '']
  return [head, head.map(() => '---'), ...rows, targets].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

function cell(compared: readonly Compared[], client: string, { figure }: Column): string {
  const found = compared.find((one) => one.figure === figure && one.client === client)
  if (found === undefined) return ''
  const value = found.value.toFixed(2)
  const unit = UNITS[figure]
  return unit === undefined ? value : `${value} (${found.median.toFixed(found.median < 100 ? 1 : 0)} ${unit})`
}

function targetOf(figure: string): string {
  const ratio = RATIO_TARGETS.find(
    (target) => target.figure === figure && target.client === 'loopchart',
  )?.ratio
  const measure = { exponent: 'growth', 'exponent-stateless': 'growth-stateless' }[figure]
  const exponent = GROWTH_TARGETS.find((target) => target.measure === measure)?.exponent
  return (ratio ?? exponent)?.toFixed(2) ?? ''
}
