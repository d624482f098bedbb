import type { AnyStateMachine, AnyTransitionDefinition, InspectionEvent } from 'xstate'

import { listTransitions, type ChartTransition } from './list-transitions.ts'
import { entryKeys, microstepTransitions, transitionKeys } from './transition-keys.ts'

/** Which transitions of a chart were taken by the runs that were watched. */
export interface Coverage {
  /** For `createActor(machine, { inspect })`; any number of runs. */
  readonly inspect: (event: InspectionEvent) => void
  /** For `createFold(machine, { onTransition })`. */
  readonly take: (transition: AnyTransitionDefinition) => void
  /** How often each transition was taken, by its key. */
  taken(): ReadonlyMap<string, number>
  /** Those that no run took, eventless and initial ones included. */
  missing(): readonly ChartTransition[]
}

/**
 * Watches runs of one chart. Each guarded branch is a transition of its own, so a branch that is never true is missed
 * by name.
 */
export function createCoverage(machine: AnyStateMachine): Coverage {
  const all = listTransitions(machine)
  const counts = new Map<string, number>()
  const count = (key: string): void => {
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const taken = (): ReadonlyMap<string, number> => {
    const started = new Map(counts)
    // Entering the chart itself is no microstep, but no run is without it.
    if (counts.size > 0)
      for (const key of entryKeys(machine.root)) started.set(key, (started.get(key) ?? 0) + 1)
    return started
  }
  const take = (transition: AnyTransitionDefinition): void => {
    if (transition.source.machine.id !== machine.id) return
    for (const key of transitionKeys(transition)) count(key)
  }
  return {
    inspect(event) {
      for (const transition of microstepTransitions(event)) take(transition)
    },
    take,
    taken,
    missing() {
      const seen = taken()
      return all.filter(({ key }) => !seen.has(key))
    },
  }
}

/** What a report says of a transition. */
export function describeTransition({ source, event, index, guard, targets }: ChartTransition): string {
  const from = source === '' ? '(chart)' : source
  const to = targets.length === 0 ? '(stays)' : targets.join(', ')
  return `${from} --${event}[${index}]${guard === null ? '' : ` if ${guard}`}--> ${to}`
}
