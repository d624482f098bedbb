// The chart as XState has read it, laid out for folding: every look-up that depends on the chart alone is made once.
import type { AnyStateNode, AnyTransitionDefinition } from 'xstate'

import type { loopMachine } from '../../machines/loop.machine.ts'
import { pureAction, type PureAction } from '../../machines/perform.ts'
import type { LoopContext } from '../../machines/loop.types.ts'
import { listStates } from './list-transitions.ts'

/** One state of the chart, and what entering, leaving and being in it means. */
export interface Place {
  /** Dotted path; empty for the chart itself. */
  readonly path: string
  readonly parent: Place | null
  readonly isFinal: boolean
  readonly entry: readonly Act[]
  readonly invoke: readonly Invocation[]
  /** Its eventless ways and then those of the states around it, in the order in which they are tried. */
  readonly always: readonly Way[]
  /** The same for its ways out on an event. */
  waysOn(eventType: string): readonly Way[]
}

/** One transition. */
export interface Way {
  /** Null: it is always open. */
  readonly guard: Guard | null
  /** What is entered, the outermost state first, the leaf last; null: no state is left. */
  readonly enters: readonly Place[] | null
  /** The innermost state that is neither left nor entered. */
  readonly within: Place | null
  readonly acts: readonly Act[]
  readonly definition: AnyTransitionDefinition
}

/** What guards, actions and inputs are asked about. */
export interface Scope {
  readonly context: LoopContext
  readonly event: object
}

/** What a guard or an action is given beside; null: nothing. */
type Params = ((scope: Scope) => unknown) | null

interface Guard {
  readonly test: (scope: Scope, params: unknown) => unknown
  readonly params: Params
}

export interface Act {
  readonly action: PureAction
  readonly params: Params
}

interface Invocation {
  readonly id: string
  readonly effect: unknown
  readonly inputOf: Params
}

export interface CompiledChart {
  /** What is entered at the start, the chart itself first, the leaf last. */
  readonly start: readonly Place[]
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
  for (const [node, place] of places) {
    const [initial] = node.type === 'compound' ? node.initial.target : []
    place.parent = node.parent === undefined ? null : placeOf(node.parent)
    place.initial = initial === undefined ? null : placeOf(initial)
  }
  for (const [node, place] of places) fill(place, node, placeOf, machine)
  const byPath = new Map([...places.values()].map((place) => [place.path, place]))
  return {
    start: entering(placeOf(machine.root), null),
    at(path) {
      const place = byPath.get(path)
      if (place === undefined) throw new TypeError(`the chart has no state ${path}`)
      return place
    },
  }
}

type MutablePlace = { -readonly [K in keyof Place]: Place[K] } & {
  parent: MutablePlace | null
  /** Entered with it; null for a leaf. */
  initial: MutablePlace | null
}

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

/** Lays a state out; those around it are laid out already. */
function fill(
  place: MutablePlace,
  node: AnyStateNode,
  placeOf: (node: AnyStateNode) => MutablePlace,
  machine: typeof loopMachine,
): void {
  const { parent } = place
  place.entry = node.entry.map((action) => actOf(action, machine))
  place.invoke = node.invoke.map(({ id, src, input }) => ({ id, effect: src, inputOf: mapper(input) }))
  const wayOf = (definition: AnyTransitionDefinition): Way => {
    const [target] = definition.target ?? []
    const within =
      target === undefined ? null : placeOf(domainOf(definition.source, target, definition.reenter))
    return {
      guard: guardOf(definition.guard, machine),
      enters: target === undefined ? null : entering(placeOf(target), within),
      within,
      acts: definition.actions.map((action) => actOf(action, machine)),
      definition,
    }
  }
  place.always = [...(node.always ?? []).map(wayOf), ...(parent?.always ?? [])]
  const ways = new Map([...node.transitions].map(([descriptor, all]) => [descriptor, all.map(wayOf)]))
  const found = new Map<string, readonly Way[]>()
  place.waysOn = (eventType) => {
    const known = found.get(eventType)
    if (known !== undefined) return known
    const fitting = [...waysFor(eventType, ways), ...(parent?.waysOn(eventType) ?? [])]
    // Ids of effects are few; what a stranger sends is not kept.
    if (fitting.length > 0) found.set(eventType, fitting)
    return fitting
  }
}

/** From inside a state to the target, and on to the leaf that is entered with it. */
function entering(target: MutablePlace, within: Place | null): readonly Place[] {
  const entered: Place[] = []
  for (let at: Place | null = target; at !== null && at !== within; at = at.parent) entered.unshift(at)
  for (let at = target.initial; at !== null; at = at.initial) entered.push(at)
  return entered
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
  return { action: pureAction(implementation), params }
}

function guardOf(guard: unknown, machine: typeof loopMachine): Guard | null {
  if (guard === undefined) return null
  if (isFunction(guard)) return { test: guard, params: null }
  const { name, params } = named(guard)
  const implementation: unknown = Object(machine.implementations.guards)[name]
  if (!isFunction(implementation)) throw new TypeError(`the chart has no guard ${name}`)
  return { test: implementation, params }
}

function named(thing: unknown): { readonly name: string; readonly params: Params } {
  if (typeof thing === 'string') return { name: thing, params: null }
  if (typeof thing === 'object' && thing !== null && 'type' in thing && typeof thing.type === 'string')
    return { name: thing.type, params: mapper('params' in thing ? thing.params : undefined) }
  throw new TypeError('an action or a guard of the chart has no name')
}

/** A value, or a function of context and event that gives it. */
function mapper(value: unknown): Params {
  if (value === undefined) return null
  return isFunction(value) ? value : () => value
}

function isFunction(value: unknown): value is (...given: readonly unknown[]) => unknown {
  return typeof value === 'function'
}

function unfit({ id }: AnyStateNode, why: string): TypeError {
  return new TypeError(`${id} cannot be folded: ${why}`)
}
