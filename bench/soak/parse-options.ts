import { parseArgs } from 'node:util'

export interface SoakOptions {
  readonly conversations: number
  readonly minutes: number
  /** Ends after so many messages; null: after the minutes alone. */
  readonly messages: number | null
  /** About how long each conversation rests between two messages. */
  readonly pauseMs: number
  readonly seed: number
  /** Where the figures go. */
  readonly out: string
}

/** Reads the command line. Throws for what is no number above 0. */
export function parseOptions(args: readonly string[]): SoakOptions {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...args],
    options: { conversations: text, minutes: text, messages: text, 'pause-ms': text, seed: text, out: text },
  })
  return {
    conversations: numberOf('conversations', values.conversations) ?? 200,
    minutes: numberOf('minutes', values.minutes) ?? 30,
    messages: numberOf('messages', values.messages),
    pauseMs: numberOf('pause-ms', values['pause-ms']) ?? 4_000,
    seed: numberOf('seed', values.seed) ?? 1,
    out: values.out ?? 'reports/soak.json',
  }
}

function numberOf(name: string, given: string | undefined): number | null {
  if (given === undefined) return null
  const value = Number(given)
  if (given.trim() === '' || !Number.isFinite(value) || value <= 0)
    throw new Error(`--${name} must be a number above 0, it is ${JSON.stringify(given)}`)
  return value
}
