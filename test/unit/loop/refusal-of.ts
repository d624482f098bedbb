import { LoopchartError } from '../../../src/errors.ts'

/** The code and the message of the error that an action throws on purpose. */
export function refusalOf(action: () => unknown): string {
  try {
    action()
  } catch (error) {
    if (error instanceof LoopchartError) return `${error.code}: ${error.message}`
    throw error
  }
  throw new Error('it was accepted')
}
