// Draws the chart from the code that runs: docs/loop.mmd.
import { writeFileSync } from 'node:fs'

import { loopMachine } from '../machines/loop.machine.ts'
import { mermaidDiagram } from '../src/chart/diagram.ts'

writeFileSync(new URL('../docs/loop.mmd', import.meta.url), mermaidDiagram(loopMachine))
