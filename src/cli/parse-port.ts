import { LoopchartError } from '../errors.ts'

const PORT_MAX = 65_535

/** The number of a port; 0 for any free one. Throws `usage`. */
export function parsePort(text = '0'): number {
  const port = /^\d{1,5}$/u.test(text) ? Number(text) : Number.NaN
  if (port <= PORT_MAX) return port
  throw new LoopchartError('usage', `--port must be a number from 0 to ${PORT_MAX}, it is '${text}'`)
}
