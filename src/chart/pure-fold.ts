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
import { compileChart, type Act, type CompiledChart, type Place, type Way } from './compile-chart.ts'
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
      const step = new Step(chart, START, initialContext(input), options)
      step.enter(chart.root, null)
      return step.settle(maxIterations)
    },
    next(before, event) {
      if (before.status !== 'active') return nothingHappens(before)
      const way = openWay(chart.at(before.state), before.context, event)
      if (way === null) return isRejection(event) ? giveUp(before, event) : nothingHappens(before)
      const step = new Step(chart, event, before.context, options, before)
      step.take(way)
      return step.settle(maxIterations)
    },
    takes(snapshot, event) {
      if (snapshot.status !== 'active') return false
      return openWay(chart.at(snapshot.state), snapshot.context, event) !== null
    },
  }
}

const START = { type: 'xstate.init' }

/** One macrostep under way: a transition, and then every eventless one that it opens. */
class Step {
  readonly #event: object
  readonly #onTransition: FoldOptions['onTransition']
  readonly #started: StartedEffect[] = []
  readonly #stopped: string[] = []
  readonly #told: LoopEmitted[] = []
  readonly #entered: { state: string; turn: number }[] = []
  #leaf: Place
  #path: string
  #context: LoopContext
  #children: readonly string[]

  constructor(
    chart: CompiledChart,
    event: object,
    context: LoopContext,
    { onTransition }: FoldOptions,
    before?: LoopSnapshot,
  ) {
    this.#event = event
    this.#onTransition = onTransition
    this.#context = context
    this.#leaf = before === undefined ? chart.root : chart.at(before.state)
    this.#path = before?.state ?? ''
    this.#children = before?.children ?? []
  }

  /** Leaves what must be left, does what the transition says, enters what it leads to. */
  take({ target, within, acts, definition }: Way): void {
    this.#onTransition?.(definition)
    if (target !== null) this.#leave(within)
    for (const act of acts) this.#perform(act)
    if (target !== null) this.enter(target, within)
  }

  enter(target: Place, within: Place | null): void {
    if (target.parent !== null && target.parent !== within) this.enter(target.parent, within)
    // Entering a parent on the way leads to the target, not to the parent's own initial state.
    this.#arrive(target)
  }

  /** Takes eventless transitions until none is open. */
  settle(maxIterations: number): FoldedStep {
    this.#descend()
    for (let count = 0; !this.#leaf.isFinal; count += 1) {
      if (count >= maxIterations) throw new Error(`the chart does not come to rest in ${this.#leaf.path}`)
      const way = openAlways(this.#leaf, this.#context, this.#event)
      if (way === null) break
      this.take(way)
      this.#descend()
    }
    if (this.#leaf.isFinal) this.#stop(this.#children)
    return {
      snapshot: this.#snapshot(),
      entered: this.#entered,
      started: this.#started,
      stopped: this.#stopped,
      told: this.#told,
    }
  }

  #snapshot(): LoopSnapshot {
    const [context, children] = [this.#context, this.#children]
    const { path: state, isFinal } = this.#leaf
    return isFinal
      ? { state, status: 'done', context, output: loopOutput(context), error: undefined, children }
      : { state, status: 'active', context, output: undefined, error: undefined, children }
  }

  /** From the state that a transition names to the leaf that is entered with it. */
  #descend(): void {
    while (this.#leaf.initial !== null) this.#arrive(this.#leaf.initial)
    const { path } = this.#leaf
    if (path !== this.#path) this.#entered.push({ state: path, turn: this.#context.turn })
    this.#path = path
  }

  #arrive(place: Place): void {
    this.#leaf = place
    for (const act of place.entry) this.#perform(act)
    for (const { id, effect, inputOf } of place.invoke) {
      this.#start({ id, effect, input: inputOf(this.#context, this.#event) })
    }
  }

  #leave(within: Place | null): void {
    let place: Place | null = this.#leaf
    while (place !== null && place !== within) {
      for (const { id } of place.invoke) this.#stop([id])
      place = place.parent
    }
  }

  #perform(act: Act): void {
    const { stop, change, tell, start } = act(this.#context, this.#event)
    if (stop !== undefined) this.#stop(stop)
    if (change !== undefined) this.#context = changed(this.#context, change)
    if (tell !== undefined) this.#told.push(...tell)
    if (start !== undefined) for (const { id, input } of start) this.#start({ id, effect: 'runTool', input })
  }

  #start(started: { readonly id: string; readonly effect: unknown; readonly input: unknown }): void {
    if (!isStarted(started)) throw new TypeError('a child was spawned that is none of the effects')
    this.#started.push(started)
    this.#children = [...this.#children, started.id]
  }

  #stop(ids: readonly string[]): void {
    for (const id of ids) if (this.#children.includes(id)) this.#stopped.push(id)
    this.#children = this.#children.filter((child) => !ids.includes(child))
  }
}

/**
 * The context with what an action changes of it. Written out: a spread of two objects takes six times as long, and there are
 * half a dozen of them in a turn.
 */
function changed(
  context: LoopContext,
  {
    settings = context.settings,
    deadline = context.deadline,
    route = context.route,
    kind = context.kind,
    turn = context.turn,
    attempt = context.attempt,
    items = context.items,
    knownItems = context.knownItems,
    responseId = context.responseId,
    response = context.response,
    error = context.error,
    calls = context.calls,
    steers = context.steers,
    remembered = context.remembered,
    counts = context.counts,
    recentResults = context.recentResults,
    repairs = context.repairs,
    usage = context.usage,
    ending = context.ending,
  }: Partial<LoopContext>,
): LoopContext {
  return {
    settings,
    deadline,
    route,
    kind,
    turn,
    attempt,
    items,
    knownItems,
    responseId,
    response,
    error,
    calls,
    steers,
    remembered,
    counts,
    recentResults,
    repairs,
    usage,
    ending,
  }
}

function openWay(leaf: Place, context: LoopContext, event: LoopPathEvent): Way | null {
  for (let place: Place | null = leaf; place !== null; place = place.parent) {
    for (const way of place.waysOn(event.type)) if (way.isOpen(context, event)) return way
  }
  return null
}

function openAlways(leaf: Place, context: LoopContext, event: object): Way | null {
  for (let place: Place | null = leaf; place !== null; place = place.parent) {
    for (const way of place.always) if (way.isOpen(context, event)) return way
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
