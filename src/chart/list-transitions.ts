// The chart as data, read from the machine that runs: what tests count, hashes fix and diagrams draw.
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate'

/** One way through the chart. */
export interface ChartTransition {
  /** `source.id event index`: the same for every copy of the machine that `provide` makes. */
  readonly key: string
  /** Dotted path of the state it leaves; empty for the chart itself. */
  readonly source: string
  /** What it is taken on; `always` for an eventless one, `initial` for the one into a compound state. */
  readonly event: string
  /** Its place among those of the same state and event: they are tried in this order. */
  readonly index: number
  readonly guard: string | null
  /** Dotted paths; empty when no state is left. */
  readonly targets: readonly string[]
  readonly actions: readonly string[]
  /** Whether the source is left and entered again. */
  readonly reenter: boolean
  readonly doc: string | null
}

/** Every transition of a chart, parents first, in the order in which the chart tries them. */
export function listTransitions(machine: AnyStateMachine): readonly ChartTransition[] {
  return listStates(machine).flatMap((node) => [
    ...initialOf(node).map((transition) => describe(node, 'initial', transition, 0)),
    ...(node.always ?? []).map((transition, index) => describe(node, 'always', transition, index)),
    ...[...node.transitions].flatMap(([event, transitions]) =>
      transitions.map((transition, index) => describe(node, event, transition, index)),
    ),
  ])
}

/** Every state of a chart, parents first, the chart itself included. */
export function listStates(machine: AnyStateMachine): readonly AnyStateNode[] {
  return withInner(machine.root)
}

function withInner(node: AnyStateNode): readonly AnyStateNode[] {
  return [node, ...Object.values(node.states).flatMap((inner) => withInner(inner))]
}

function initialOf(node: AnyStateNode): readonly AnyTransitionDefinition[] {
  return node.type === 'compound' ? [node.initial] : []
}

function describe(
  source: AnyStateNode,
  event: string,
  transition: AnyTransitionDefinition,
  index: number,
): ChartTransition {
  return {
    key: transitionKey(source, event, index),
    source: source.path.join('.'),
    event,
    index,
    guard: transition.guard === undefined ? null : nameOf(transition.guard),
    targets: (transition.target ?? []).map(({ path }) => path.join('.')),
    actions: transition.actions.map(nameOf),
    reenter: transition.reenter,
    doc: docOf(transition),
  }
}

/** The key of a transition by its place. */
export function transitionKey(source: AnyStateNode, event: string, index: number): string {
  return `${source.id} ${event} ${index}`
}

/** What an action, a guard or an actor is called in the chart. */
export function nameOf(named: unknown): string {
  if (typeof named === 'string') return named
  if (typeof named === 'function') return named.name === '' ? 'anonymous' : named.name
  if (typeof named === 'object' && named !== null && 'type' in named) return String(named.type)
  return 'anonymous'
}

/** What the chart says about a state or a transition. */
export function docOf({ meta }: { readonly meta?: unknown }): string | null {
  if (typeof meta !== 'object' || meta === null || !('doc' in meta)) return null
  return typeof meta.doc === 'string' ? meta.doc : null
}
