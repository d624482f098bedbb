// The chart as XState has read it, laid out for folding: every look-up that depends on the chart alone is made once.
import type { AnyStateNode, AnyTransitionDefinition } from 'xstate'

import type { loopMachine } from '../../machines/loop.machine.ts'
import { pureAction, type LoopUpdate } from '../../machines/perform.ts'
import type { LoopContext } from '../../machines/loop.types.ts'
import { listStates } from './list-transitions.ts'

/** One state of the chart, and what entering, leaving and being in it means. */
export interface Place {
  /** Dotted path; empty for the chart itself. */
  readonly path: string
  readonly parent: Place | null
  /** Entered with it; null for a leaf. */
  readonly initial: Place | null
  readonly isFinal: boolean
  readonly entry: readonly Act[]
  readonly invoke: readonly Invocation[]
  readonly always: readonly Way[]
  /** The ways out on an event, in the order in which they are tried. */
  waysOn(eventType: string): readonly Way[]
}

/** One transition. */
export interface Way {
  readonly isOpen: (context: LoopContext, event: object) => boolean
  /** Null: no state is left. */
  readonly target: Place | null
  /** The innermost state that is neither left nor entered. */
  readonly within: Place | null
  readonly acts: readonly Act[]
  readonly definition: AnyTransitionDefinition
}

export type Act = (context: LoopContext, event: object) => LoopUpdate

interface Invocation {
  readonly id: string
  readonly effect: unknown
  readonly inputOf: (context: LoopContext, event: object) => unknown
}

export interface CompiledChart {
  readonly root: Place
  at(path: string): Place
}

/**
 * Lays a chart out. It may have what this chart needs and nothing else: no parallel states, no history, no delays, and
 * actions only from `perform`; anything else throws here.
 */
export function compileChart(machine: typeof loopMachine): CompiledChart {
  const places = new Map<AnyStateNode, MutablePlace>()
  for (const node of listStates(machine)) {
    if (node.type === 'parallel' || node.type === 'history') throw unfit(node, `it is ${node.type}`)
    if (node.after.length > 0) throw unfit(node, 'it has delays')
    if (node.exit.length > 0) throw unfit(node, 'it has exit actions')
    places.set(node, emptyPlace(node))
  }
  const placeOf = (node: AnyStateNode): MutablePlace => {
    const place = places.get(node)
    if (place === undefined) throw unfit(node, 'it is of another chart')
    return place
  }
  for (const [node, place] of places) fill(place, node, placeOf, machine)
  const byPath = new Map([...places.values()].map((place) => [place.path, place]))
  return {
    root: placeOf(machine.root),
    at(path) {
      const place = byPath.get(path)
      if (place === undefined) throw new TypeError(`the chart has no state ${path}`)
      return place
    },
  }
}

type MutablePlace = { -readonly [K in keyof Place]: Place[K] }

function emptyPlace({ path, type }: AnyStateNode): MutablePlace {
  return {
    path: path.join('.'),
    parent: null,
    initial: null,
    isFinal: type === 'final',
    entry: [],
    invoke: [],
    always: [],
    waysOn: () => [],
  }
}

function fill(
  place: MutablePlace,
  node: AnyStateNode,
  placeOf: (node: AnyStateNode) => Place,
  machine: typeof loopMachine,
): void {
  const [initial] = node.type === 'compound' ? node.initial.target : []
  place.parent = node.parent === undefined ? null : placeOf(node.parent)
  place.initial = initial === undefined ? null : placeOf(initial)
  place.entry = node.entry.map((action) => actOf(action, machine))
  place.invoke = node.invoke.map(({ id, src, input }) => ({ id, effect: src, inputOf: mapper(input) }))
  const wayOf = (definition: AnyTransitionDefinition): Way => {
    const [target] = definition.target ?? []
    return {
      isOpen: guardOf(definition.guard, machine),
      target: target === undefined ? null : placeOf(target),
      within: target === undefined ? null : placeOf(domainOf(definition.source, target, definition.reenter)),
      acts: definition.actions.map((action) => actOf(action, machine)),
      definition,
    }
  }
  place.always = (node.always ?? []).map(wayOf)
  const ways = new Map([...node.transitions].map(([descriptor, all]) => [descriptor, all.map(wayOf)]))
  const found = new Map<string, readonly Way[]>()
  place.waysOn = (eventType) => {
    const known = found.get(eventType)
    if (known !== undefined) return known
    const fitting = waysFor(eventType, ways)
    // Ids of effects are few; what a stranger sends is not kept.
    if (fitting.length > 0) found.set(eventType, fitting)
    return fitting
  }
}

/** The exact descriptor first, then those with a `*`, the longest first. */
function waysFor(eventType: string, ways: ReadonlyMap<string, readonly Way[]>): readonly Way[] {
  const wild = [...ways.keys()]
    .filter((descriptor) => descriptor.endsWith('.*') && eventType.startsWith(descriptor.slice(0, -1)))
    .sort((a, b) => b.length - a.length)
  return [eventType, ...wild].flatMap((descriptor) => ways.get(descriptor) ?? [])
}

/** A target inside its source leaves the source alone, unless it is to be entered again. */
function domainOf(source: AnyStateNode, target: AnyStateNode, isReentered: boolean): AnyStateNode {
  if (!isReentered && (source === target || isInside(target, source))) return source
  let domain = source.parent
  while (domain !== undefined && !isInside(target, domain)) domain = domain.parent
  if (domain === undefined) throw unfit(source, 'it is left for the chart itself')
  return domain
}

function isInside(node: AnyStateNode, outer: AnyStateNode): boolean {
  for (let at = node.parent; at !== undefined; at = at.parent) if (at === outer) return true
  return false
}

function actOf(action: unknown, machine: typeof loopMachine): Act {
  const { name, params } = named(action)
  const implementation: unknown = Object(machine.implementations.actions)[name]
  if (typeof implementation !== 'function') throw new TypeError(`the chart has no action ${name}`)
  const pure = pureAction(implementation)
  return (context, event) => pure.update(context, params(context, event))
}

function guardOf(guard: unknown, machine: typeof loopMachine): Way['isOpen'] {
  if (guard === undefined) return always
  if (isFunction(guard)) return (context, event) => guard({ context, event }) === true
  const { name, params } = named(guard)
  const implementation: unknown = Object(machine.implementations.guards)[name]
  if (!isFunction(implementation)) throw new TypeError(`the chart has no guard ${name}`)
  return (context, event) => implementation({ context, event }, params(context, event)) === true
}

function always(): boolean {
  return true
}

function named(thing: unknown): { readonly name: string; readonly params: Invocation['inputOf'] } {
  if (typeof thing === 'string') return { name: thing, params: mapper(undefined) }
  if (typeof thing === 'object' && thing !== null && 'type' in thing && typeof thing.type === 'string')
    return { name: thing.type, params: mapper('params' in thing ? thing.params : undefined) }
  throw new TypeError('an action or a guard of the chart has no name')
}

/** A value, or a function of context and event that gives it. */
function mapper(value: unknown): Invocation['inputOf'] {
  return isFunction(value) ? (context, event) => value({ context, event }) : () => value
}

function isFunction(value: unknown): value is (...given: readonly unknown[]) => unknown {
  return typeof value === 'function'
}

function unfit({ id }: AnyStateNode, why: string): TypeError {
  return new TypeError(`${id} cannot be folded: ${why}`)
}
