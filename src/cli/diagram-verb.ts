import { loopMachine } from '../../machines/loop.machine.ts'
import { chartScxml } from '../chart/chart-scxml.ts'
import { chartSvg } from '../chart/chart-svg.ts'
import { chartTree, mermaidDiagram } from '../chart/diagram.ts'
import { chartLayout } from '../chart/generated/chart-layout.ts'
import { LoopchartError } from '../errors.ts'
import { asciiChart } from './ascii-chart.ts'

/** The chart, drawn from the machine that runs. */
export function diagram(format: string): string {
  switch (format) {
    case 'svg':
      return chartSvg(chartLayout)
    case 'mermaid':
      return mermaidDiagram(loopMachine)
    case 'scxml':
      return chartScxml(loopMachine)
    case 'json':
      return `${JSON.stringify(chartTree(loopMachine), null, 2)}\n`
    case 'ascii':
      return asciiChart(loopMachine)
    default:
      throw new LoopchartError(
        'usage',
        `--format must be svg, mermaid, scxml, json or ascii, it is '${format}'`,
      )
  }
}
