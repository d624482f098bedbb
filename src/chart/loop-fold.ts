import { loopMachine } from '../../machines/loop.machine.ts'
import { createFold, type LoopFold } from './pure-fold.ts'

let shared: LoopFold | null = null

/** The fold of the one chart, laid out when it is first needed. It holds nothing of a run. */
export function loopFold(): LoopFold {
  shared ??= createFold(loopMachine)
  return shared
}
