import { stateKey, type LoopPath } from '../../src/chart/loop-paths.ts'
import { loopFold } from '../../src/chart/loop-fold.ts'
import type { LoopSnapshot } from '../../src/chart/loop-snapshot.ts'
import type { LoopFold } from '../../src/chart/pure-fold.ts'
import { allPaths, pathName } from './all-paths.ts'

/** A state that some path leads to, and how to go on from there. */
export interface FoldedState {
  readonly leaf: string
  readonly snapshot: LoopSnapshot
  readonly fold: LoopFold
  readonly name: string
}

/** One of each state that guards can tell apart, in each scenario. */
export function foldedStates(): readonly FoldedState[] {
  const states = new Map<string, FoldedState>()
  for (const path of allPaths()) addStates(path, states)
  return [...states.values()]
}

function addStates(path: LoopPath, states: Map<string, FoldedState>): void {
  const fold = loopFold()
  let { snapshot } = fold.first(path.input)
  path.events.forEach((event, index) => {
    add(snapshot, index)
    snapshot = fold.next(snapshot, event).snapshot
  })
  add(snapshot, path.events.length)

  function add(snapshot: LoopSnapshot, length: number): void {
    const key = `${path.scenario} ${stateKey(snapshot)}`
    const leaf = snapshot.state
    if (!states.has(key)) states.set(key, { leaf, snapshot, fold, name: pathName(path, length) })
  }
}
