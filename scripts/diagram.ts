// Draws the chart from the code that runs: docs/loop.mmd and, in the layout of scripts/chart-layout.ts, docs/loop.svg.
import { writeFileSync } from 'node:fs'

import { loopMachine } from '../machines/loop.machine.ts'
import { chartSvg } from '../src/chart/chart-svg.ts'
import { mermaidDiagram } from '../src/chart/diagram.ts'
import { chartLayout } from '../src/chart/generated/chart-layout.ts'

writeFileSync(new URL('../docs/loop.mmd', import.meta.url), mermaidDiagram(loopMachine))
writeFileSync(new URL('../docs/loop.svg', import.meta.url), chartSvg(chartLayout))
