// node scripts/chart-layout.ts: finds a place for everything in the chart and keeps it as src/chart/generated/chart-layout.ts.
import { writeFileSync } from 'node:fs'

import { CHART_VERSION, loopMachine } from '../machines/loop.machine.ts'
import { layOutChart } from './layout/lay-out-chart.ts'
import { layoutModule } from './layout/layout-module.ts'

const layout = await layOutChart(loopMachine, CHART_VERSION)
writeFileSync(new URL('../src/chart/generated/chart-layout.ts', import.meta.url), layoutModule(layout))
