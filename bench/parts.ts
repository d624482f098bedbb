import { contextFigures } from './context.ts'
import { decodeFigures, firstFrameFigure, type Figure } from './decode.ts'
import { grepFigures } from './grep.ts'
import { loopFigures } from './loop.ts'
import { patchFigure } from './patch.ts'
import { importFigures, leftBehindFigures, manyRunsFigure, memoryFigure } from './processes.ts'
import { replayFigures } from './replay.ts'
import { serviceFigures } from './service.ts'
import { shellOutputFigure } from './shell-output.ts'
import { storeFigures } from './store.ts'

/** Some figures of loopchart alone, each with its budget. */
export interface Part {
  readonly measure: (isQuick: boolean) => readonly Figure[] | Promise<readonly Figure[]>
  /** Left out when it is to be quick. */
  readonly isSlow?: true
}

const ROUNDS = 40
const QUICK_ROUNDS = 8

/** By the names that `--only` takes. */
export const PARTS: Readonly<Record<string, Part>> = {
  decode: { measure: (isQuick) => [...decodeFigures(isQuick ? QUICK_ROUNDS : ROUNDS), firstFrameFigure()] },
  loop: { measure: (isQuick) => loopFigures(isQuick ? QUICK_ROUNDS : ROUNDS) },
  replay: { measure: replayFigures },
  store: { measure: storeFigures, isSlow: true },
  context: { measure: contextFigures },
  patch: { measure: async () => [await patchFigure()] },
  grep: { measure: grepFigures, isSlow: true },
  shell: { measure: () => [shellOutputFigure()], isSlow: true },
  memory: { measure: () => [memoryFigure(), manyRunsFigure(), ...leftBehindFigures()], isSlow: true },
  service: { measure: serviceFigures, isSlow: true },
  import: { measure: importFigures },
}
