import type { AnyStateNode, AnyTransitionDefinition, InspectionEvent } from 'xstate'

import { transitionKey } from './list-transitions.ts'

/**
 * The keys of what is taken with one transition, in order: its own, then those of the initial transitions that lead
 * from its target to a leaf, which XState does not list among those taken.
 */
export function transitionKeys(transition: AnyTransitionDefinition): readonly string[] {
  return [keyOf(transition), ...(transition.target ?? []).flatMap(entryKeys)]
}

/** The keys of the initial transitions that are taken when a state is entered, from the outside in. */
export function entryKeys(node: AnyStateNode): readonly string[] {
  if (node.type !== 'compound') return []
  return [transitionKey(node, 'initial', 0), ...node.initial.target.flatMap(entryKeys)]
}

/** The transitions that an actor's inspection says were taken. */
export function microstepTransitions(event: InspectionEvent): readonly AnyTransitionDefinition[] {
  // The field with the transitions is XState's own and has no promise of staying: it is read here and nowhere else.
  if (event.type !== '@xstate.microstep') return []
  const { _transitions: transitions } = event
  return transitions
}

function keyOf(transition: AnyTransitionDefinition): string {
  const { source, eventType } = transition
  const isEventless = eventType === ''
  const siblings = isEventless ? source.always : source.transitions.get(eventType)
  const index = siblings?.indexOf(transition) ?? -1
  return transitionKey(source, isEventless ? 'always' : eventType, index)
}
