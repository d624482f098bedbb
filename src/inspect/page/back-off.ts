const FIRST_MS = 500
const LONGEST_MS = 15_000

/**
 * How long to wait before a try, after `failures` in a row: twice as long each time, half of it by chance so that
 * many pages do not come back at the same moment. `random` is from 0 up to 1.
 */
export function backOffMs(failures: number, random: number): number {
  const fullMs = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, failures - 1))
  return Math.round(fullMs / 2 + (fullMs / 2) * random)
}
