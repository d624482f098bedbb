import { escapeUnsafe } from '../frames/format-frame.ts'

/** Prints a value as JSON for programs, safe to look at on a terminal. */
export function writeJson(value: unknown): void {
  process.stdout.write(`${escapeUnsafe(JSON.stringify(value, null, 2))}\n`)
}
