import { LoopchartError } from '../errors.ts'

/** Reads `turns=20,tokens=5000` into numbers by name. What the names may be is for the configuration to say. */
export function parseLimits(text: string, place: string): Readonly<Record<string, number>> {
  const pairs = text.split(',').map((pair) => {
    const [, name, value] = /^\s*([a-z_]+)\s*=\s*(\d+)\s*$/u.exec(pair) ?? []
    if (name === undefined) {
      const complaint = `${place}: '${pair}' is not a limit; write name=number, such as turns=20,tool_calls=32`
      throw new LoopchartError('usage', complaint)
    }
    return [name, Number(value)] as const
  })
  return Object.fromEntries(pairs)
}
