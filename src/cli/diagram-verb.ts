import { loopMachine } from '../../machines/loop.machine.ts'
import { chartTree, mermaidDiagram } from '../chart/diagram.ts'
import { LoopchartError } from '../errors.ts'
import { asciiChart } from './ascii-chart.ts'

/** The chart, drawn from the machine that runs. */
export function diagram(format: string): string {
  switch (format) {
    case 'mermaid':
      return mermaidDiagram(loopMachine)
    case 'json':
      return `${JSON.stringify(chartTree(loopMachine), null, 2)}\n`
    case 'ascii':
      return asciiChart(loopMachine)
    default:
      throw new LoopchartError('usage', `--format must be mermaid, json or ascii, it is '${format}'`)
  }
}
