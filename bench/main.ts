import { contextFigures } from './context.ts'
import { decodeFigures, firstFrameFigure, type Figure } from './decode.ts'
import { grepFigures } from './grep.ts'
import { loopFigures } from './loop.ts'
import { importFigure, manyRunsFigure, memoryFigure } from './processes.ts'
import { patchFigure } from './patch.ts'
import { replayFigures } from './replay.ts'
import { serviceFigures } from './service.ts'
import { shellOutputFigure } from './shell-output.ts'
import { storeFigures } from './store.ts'

// `npm run bench`: every figure with its budget; exits 1 when one is over.
const figures: Figure[] = [
  ...decodeFigures(),
  firstFrameFigure(),
  ...(await loopFigures()),
  ...(await replayFigures()),
  ...(await storeFigures()),
  ...(await contextFigures()),
  await patchFigure(),
  ...(await grepFigures()),
  shellOutputFigure(),
  memoryFigure(),
  manyRunsFigure(),
  ...(await serviceFigures()),
  importFigure(),
]

console.log('| figure | measured | budget | | |\n|---|---|---|---|---|')
for (const { id, value, unit, budget, about } of figures) {
  const verdict = value <= budget ? 'ok' : 'over'
  console.log(
    `| ${id} | ${value.toFixed(2)} ${unit} | ${Number.isFinite(budget) ? budget : 'none'} | ${verdict} | ${about} |`,
  )
}
if (figures.some(({ value, budget }) => !(value <= budget))) process.exitCode = 1
