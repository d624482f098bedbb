import { safeJson } from './safe-text.ts'

/** Prints a value as JSON for programs, safe to look at on a terminal. */
export function writeJson(value: unknown): void {
  process.stdout.write(`${safeJson(JSON.stringify(value, null, 2))}\n`)
}
