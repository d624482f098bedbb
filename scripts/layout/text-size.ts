import type { ChartBox } from '../../src/chart/chart-layout.ts'

/** The height of a line of text in the picture. */
export const LINE_HEIGHT = 17

// Wider than any usual monospaced font at the size in which chartSvg writes, so that a box holds its text everywhere.
const LABEL_CHARACTER_WIDTH = 7.3
const NAME_CHARACTER_WIDTH = 8.8

/** The room that the text of a transition takes. */
export function labelSize(text: string): Pick<ChartBox, 'width' | 'height'> {
  return { width: Math.ceil(text.length * LABEL_CHARACTER_WIDTH) + 12, height: LINE_HEIGHT }
}

/** How wide the name of a state is. */
export function nameWidth(name: string): number {
  return Math.ceil(name.length * NAME_CHARACTER_WIDTH)
}
