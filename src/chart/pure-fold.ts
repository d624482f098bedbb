import type { AnyTransitionDefinition } from 'xstate'

import type { loopMachine } from '../../machines/loop.machine.ts'
import { initialContext, loopOutput } from '../../machines/loop.rules.ts'
import type {
  CompactInput,
  LoopContext,
  LoopEmitted,
  LoopInput,
  RespondInput,
  RunToolInput,
} from '../../machines/loop.types.ts'
import type { LoopUpdate } from '../../machines/perform.ts'
import { compileChart, type Act, type Place, type Scope, type Way } from './compile-chart.ts'
import type { LoopPathEvent } from './loop-events.ts'
import type { LoopSnapshot } from './loop-snapshot.ts'

/** An effect that the chart wants started. */
export type StartedEffect = { readonly id: string } & (
  | { readonly effect: 'respond'; readonly input: RespondInput }
  | { readonly effect: 'runTool'; readonly input: RunToolInput }
  | { readonly effect: 'timer'; readonly input: { readonly at: number | null } }
  | { readonly effect: 'compact'; readonly input: CompactInput }
  | { readonly effect: 'drain'; readonly input: { readonly slots: readonly number[] } }
)

/** What one event comes to. */
export interface FoldedStep {
  readonly snapshot: LoopSnapshot
  /** The states passed through, the one it ends in included; none when the event led nowhere else. */
  readonly entered: readonly { readonly state: string; readonly turn: number }[]
  readonly started: readonly StartedEffect[]
  /** Ids of children that are to stop, also of those that ended by themselves. */
  readonly stopped: readonly string[]
  readonly told: readonly LoopEmitted[]
}

/** The chart as a pure function of its events. */
export interface LoopFold {
  first(input: LoopInput): FoldedStep
  next(before: LoopSnapshot, event: LoopPathEvent): FoldedStep
  /** Whether the chart has a way for an event: one that leads somewhere, or does something. */
  takes(snapshot: LoopSnapshot, event: LoopPathEvent): boolean
}

export interface FoldOptions {
  /** Hears of each transition that is taken. */
  readonly onTransition?: (transition: AnyTransitionDefinition) => void
}

/**
 * Folds events through the chart without running anything. XState has read the chart and says what its states and
 * transitions are; taking them is done here, since an actor's `transition` costs ten times as much. Tests walk every
 * path on both and compare.
 */
export function createFold(machine: typeof loopMachine, options: FoldOptions = {}): LoopFold {
  const chart = compileChart(machine)
  const { maxIterations = Number.POSITIVE_INFINITY } = machine.options ?? {}
  return {
    first(input) {
      const step = new Step(START, initialContext(input), options, '', [])
      return step.settle(step.enter(chart.start), maxIterations)
    },
    next(before, event) {
      if (before.status !== 'active') return nothingHappens(before)
      const place = chart.at(before.state)
      const step = new Step(event, before.context, options, place.path, before.children)
      const way = openWay(place.waysOn(event.type), step)
      if (way === null) return isRejection(event) ? giveUp(before, event) : nothingHappens(before)
      return step.settle(step.take(way, place), maxIterations)
    },
    takes({ status, state, context }, event) {
      if (status !== 'active') return false
      return openWay(chart.at(state).waysOn(event.type), { context, event }) !== null
    },
  }
}

const START = { type: 'xstate.init' }

// Of what most steps have none: a list for each would be made some ten times in a turn.
const NONE: readonly never[] = []

/**
 * One macrostep under way: a transition, and then every eventless one that it opens. Guards and actions are given the step
 * itself, which has the context and the event that they ask for.
 */
class Step implements Scope {
  readonly event: object
  context: LoopContext
  readonly #onTransition: FoldOptions['onTransition']
  readonly #entered: { state: string; turn: number }[] = []
  #started: readonly StartedEffect[] = NONE
  #stopped: readonly string[] = NONE
  #told: readonly LoopEmitted[] = NONE
  #isChanged = false
  #path: string
  #children: readonly string[]

  constructor(
    event: object,
    context: LoopContext,
    { onTransition }: FoldOptions,
    path: string,
    children: readonly string[],
  ) {
    this.event = event
    this.context = context
    this.#onTransition = onTransition
    this.#path = path
    this.#children = children
  }

  /** Leaves what must be left, does what the transition says, enters what it leads to. The answer is the leaf then. */
  take({ enters, within, acts, definition }: Way, leaf: Place): Place {
    this.#onTransition?.(definition)
    if (enters !== null) this.#leave(leaf, within)
    this.#perform(acts)
    return enters === null ? leaf : this.enter(enters)
  }

  enter(places: readonly Place[]): Place {
    let leaf: Place | undefined
    for (let at = 0; at < places.length; at += 1) {
      leaf = places[at]
      if (leaf !== undefined) this.#arrive(leaf)
    }
    if (leaf === undefined) throw new Error('a transition leads nowhere')
    const { path } = leaf
    if (path !== this.#path) this.#entered.push({ state: path, turn: this.context.turn })
    this.#path = path
    return leaf
  }

  /** Takes eventless transitions until none is open. */
  settle(from: Place, maxIterations: number): FoldedStep {
    let leaf = from
    for (let count = 0; !leaf.isFinal; count += 1) {
      if (count >= maxIterations) throw new Error(`the chart does not come to rest in ${leaf.path}`)
      const way = openWay(leaf.always, this)
      if (way === null) break
      leaf = this.take(way, leaf)
    }
    if (leaf.isFinal) for (const id of this.#children) this.#stop(id)
    return {
      snapshot: this.#snapshot(leaf),
      entered: this.#entered,
      started: this.#started,
      stopped: this.#stopped,
      told: this.#told,
    }
  }

  #snapshot({ path: state, isFinal }: Place): LoopSnapshot {
    const { context } = this
    const children = this.#children
    return isFinal
      ? { state, status: 'done', context, output: loopOutput(context), error: undefined, children }
      : { state, status: 'active', context, output: undefined, error: undefined, children }
  }

  #arrive({ entry, invoke }: Place): void {
    this.#perform(entry)
    for (let at = 0; at < invoke.length; at += 1) {
      const invoked = invoke[at]
      if (invoked === undefined) continue
      const { id, effect, inputOf } = invoked
      this.#start({ id, effect, input: inputOf?.(this) })
    }
  }

  #leave(leaf: Place, within: Place | null): void {
    let place: Place | null = leaf
    while (place !== null && place !== within) {
      for (let at = 0; at < place.invoke.length; at += 1) this.#stop(place.invoke[at]?.id ?? '')
      place = place.parent
    }
  }

  #perform(acts: readonly Act[]): void {
    for (let at = 0; at < acts.length; at += 1) {
      const act = acts[at]
      if (act !== undefined) this.#update(act.action.update(this.context, act.params?.(this)))
    }
  }

  #update({ stop, change, tell, start }: LoopUpdate): void {
    if (stop !== undefined) for (const id of stop) this.#stop(id)
    if (change !== undefined) this.#change(change)
    if (tell !== undefined && tell.length > 0) {
      this.#told = this.#told.length === 0 ? tell : this.#told.concat(tell)
    }
    if (start !== undefined) for (const { id, input } of start) this.#start({ id, effect: 'runTool', input })
  }

  // One object for all that a step changes: nobody keeps a context that is not that of a snapshot.
  #change(change: Partial<LoopContext>): void {
    if (!this.#isChanged) this.context = { ...this.context }
    this.#isChanged = true
    Object.assign(this.context, change)
  }

  #start(started: { readonly id: string; readonly effect: unknown; readonly input: unknown }): void {
    if (!isStarted(started)) throw new TypeError('a child was spawned that is none of the effects')
    this.#started = withOne(this.#started, started)
    this.#children = withOne(this.#children, started.id)
  }

  #stop(id: string): void {
    const at = this.#children.indexOf(id)
    if (at === -1) return
    this.#stopped = withOne(this.#stopped, id)
    this.#children = this.#children.toSpliced(at, 1)
  }
}

// Not by a spread, which makes room for sixteen more.
function withOne<T>(list: readonly T[], one: T): readonly T[] {
  return list.length === 0 ? [one] : list.toSpliced(list.length, 0, one)
}

/** The first way that is open. */
function openWay(ways: readonly Way[], scope: Scope): Way | null {
  for (let at = 0; at < ways.length; at += 1) {
    const way = ways[at]
    if (way === undefined) continue
    const { guard } = way
    if (guard === null || guard.test(scope, guard.params?.(scope)) === true) return way
  }
  return null
}

function nothingHappens(snapshot: LoopSnapshot): FoldedStep {
  return { snapshot, entered: [], started: [], stopped: [], told: [] }
}

function isRejection({ type }: LoopPathEvent): boolean {
  return type.startsWith('xstate.error.actor.')
}

/** A rejected effect that no state has an answer to ends the chart as an actor would end: with the error. */
function giveUp(before: LoopSnapshot, event: LoopPathEvent): FoldedStep {
  const error = 'error' in event ? event.error : undefined
  const { state, context } = before
  const snapshot: LoopSnapshot = { state, status: 'error', context, output: undefined, error, children: [] }
  return { ...nothingHappens(snapshot), stopped: before.children }
}

// What an effect is called and what it is given are checked against each other where the chart is written.
function isStarted(value: {
  readonly id: string
  readonly effect: unknown
  readonly input: unknown
}): value is StartedEffect {
  return typeof value.effect === 'string' && EFFECTS.has(value.effect)
}

const EFFECTS: ReadonlySet<string> = new Set(['respond', 'runTool', 'timer', 'compact', 'drain'])
