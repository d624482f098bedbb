import { LoopchartError } from '../errors.ts'

/** What a list of numbers is of, for the words of a complaint. */
export interface NumberList {
  readonly noun: string
  readonly example: string
}

export const LIMITS: NumberList = { noun: 'a limit', example: 'turns=20,tool_calls=32' }
export const PRICES: NumberList = { noun: 'a price', example: 'input=1.25,cached=0.125,output=10' }
export const BUDGET: NumberList = { noun: 'part of a budget', example: 'tokens=200000,cost=2.5' }

/** Reads `turns=20,tokens=5000` into numbers by name. What they may be is for the configuration to say. */
export function parseNumbers(
  text: string,
  place: string,
  { noun, example }: NumberList,
): Readonly<Record<string, number>> {
  const pairs = text.split(',').map((pair) => {
    const [, name, value] = /^\s*([a-z_]+)\s*=\s*(\d{1,16}(?:\.\d{1,12})?)\s*$/u.exec(pair) ?? []
    if (name === undefined) {
      const complaint = `${place}: '${pair}' is not ${noun}; write name=number, such as ${example}`
      throw new LoopchartError('usage', complaint)
    }
    return [name, Number(value)] as const
  })
  const names = pairs.map(([name]) => name)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) {
    throw new LoopchartError('usage', `${place}: ${twice} is given twice; give it once`)
  }
  return Object.fromEntries(pairs)
}
