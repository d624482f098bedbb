import { quoted } from '../quoted.ts'

const LENGTH_MAX = 120
const COMMON_MAX = 40

/** A line in quotes, cut. */
export function describeLine(line: string): string {
  return quoted(line, LENGTH_MAX)
}

/** How one line differs from what was expected. Of long lines, the part where the difference begins is shown. */
export function describeDifference(expected: string, actual: string): string {
  const skipped = Math.max(0, commonLength(expected, actual) - COMMON_MAX)
  const from = skipped === 0 ? '' : `from character ${skipped + 1} on, `
  return `${from}expected ${describeLine(expected.slice(skipped))}, found ${describeLine(actual.slice(skipped))}`
}

function commonLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && one.charCodeAt(length) === other.charCodeAt(length)) length += 1
  return length
}
