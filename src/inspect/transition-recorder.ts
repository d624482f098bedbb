import type { AnyTransitionDefinition } from 'xstate'

import { loopMachine } from '../../machines/loop.machine.ts'
import { createFold, type LoopFold } from '../chart/pure-fold.ts'
import { entryKeys, transitionKeys } from '../chart/transition-keys.ts'

/** A fold that says which transitions its last step took. */
interface TransitionRecorder {
  readonly fold: LoopFold
  /** The ids of the transitions taken since it was asked last, in order, as `chartLayout` has them. */
  taken(): readonly string[]
}

/** The recorder of the one chart. A step is folded and asked about at once, so that all histories can share it. */
export function transitionRecorder(): TransitionRecorder {
  shared ??= createRecorder()
  return shared
}

let shared: TransitionRecorder | null = null

/** The ids of the transitions into the chart, which are taken by every run's start. */
export const ENTRY_IDS: readonly string[] = entryKeys(loopMachine.root)

function createRecorder(): TransitionRecorder {
  const known = new Map<AnyTransitionDefinition, readonly string[]>()
  let taken: string[] = []
  const onTransition = (transition: AnyTransitionDefinition): void => {
    const ids = known.get(transition) ?? transitionKeys(transition)
    known.set(transition, ids)
    taken.push(...ids)
  }
  return {
    fold: createFold(loopMachine, { onTransition }),
    taken() {
      const ids = taken
      taken = []
      return ids
    },
  }
}
