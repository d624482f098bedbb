import { loopMachine } from '../../machines/loop.machine.ts'
import type { LoopPath } from '../../src/chart/loop-paths.ts'
import { createFold, type FoldedStep, type FoldOptions } from '../../src/chart/pure-fold.ts'
import { settledId, type PathHost, type PathStep } from './path-host.ts'

/** The chart as a pure function. */
export const foldHost: PathHost = { name: 'pure fold', run: async (path) => foldPath(path) }

/** Folds a path, and keeps track of which effects are at work. */
export function foldPath(
  path: LoopPath,
  options: FoldOptions = {},
  machine = loopMachine,
): readonly PathStep[] {
  const fold = createFold(machine, options)
  const live = new Set<string>()
  let last = fold.first(path.input)
  const steps = [stepOf(last, null, live)]
  for (const event of path.events) {
    last = fold.next(last.snapshot, event)
    steps.push(stepOf(last, settledId(event.type), live))
  }
  return steps
}

function stepOf(folded: FoldedStep, settled: string | null, live: Set<string>): PathStep {
  const { snapshot, started, stopped, told } = folded
  if (settled !== null) live.delete(settled)
  const aborted = stopped.filter((id) => live.delete(id))
  for (const { id } of started) live.add(id)
  const { state, status, context, output } = snapshot
  return { state, status, context, output, started, aborted, told }
}
