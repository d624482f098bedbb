import type { AnyStateMachine, AnyStateNode } from 'xstate'

import { docOf, listTransitions, nameOf, type ChartTransition } from './list-transitions.ts'
import { transitionText } from './transition-text.ts'

/** A state of the chart with everything that is known about it, as plain JSON. */
export interface ChartState {
  readonly key: string
  /** Dotted path; empty for the chart itself. */
  readonly path: string
  readonly type: string
  readonly doc: string | null
  readonly tags: readonly string[]
  readonly entry: readonly string[]
  readonly exit: readonly string[]
  readonly invoke: readonly { readonly id: string; readonly effect: string }[]
  readonly transitions: readonly ChartTransition[]
  readonly states: readonly ChartState[]
}

/** The chart as a tree, for whoever draws it. */
export function chartTree(machine: AnyStateMachine): ChartState {
  const bySource = Map.groupBy(listTransitions(machine), ({ source }) => source)
  return treeOf(machine.root, bySource)
}

function treeOf(node: AnyStateNode, bySource: ReadonlyMap<string, readonly ChartTransition[]>): ChartState {
  const path = node.path.join('.')
  return {
    key: node.key,
    path,
    type: node.type,
    doc: docOf(node),
    tags: node.tags,
    entry: node.entry.map(nameOf),
    exit: node.exit.map(nameOf),
    invoke: node.invoke.map(({ id, src }) => ({ id, effect: nameOf(src) })),
    transitions: bySource.get(path) ?? [],
    states: Object.values(node.states).map((inner) => treeOf(inner, bySource)),
  }
}

/** The chart as a Mermaid state diagram. */
export function mermaidDiagram(machine: AnyStateMachine): string {
  const root = chartTree(machine)
  const transitions = statesIn(root).flatMap((state) =>
    state.transitions.flatMap((one) => edgeLines(state, one)),
  )
  // Mermaid takes a state into the block that names it first, so every way between states comes after all of them.
  const lines = ['stateDiagram-v2', ...innerLines(root, '  '), ...transitions.map((line) => `  ${line}`)]
  return `${lines.join('\n')}\n`
}

function statesIn(state: ChartState): readonly ChartState[] {
  return [state, ...state.states.flatMap(statesIn)]
}

function innerLines(state: ChartState, indent: string): readonly string[] {
  const initial = state.transitions.find(({ event }) => event === 'initial')
  return [
    ...(initial?.targets ?? []).map((target) => `${indent}[*] --> ${mermaidId(target)}`),
    ...state.states.flatMap((inner) => stateLines(inner, indent)),
  ]
}

function stateLines(state: ChartState, indent: string): readonly string[] {
  const declared = `${indent}state "${state.key}" as ${mermaidId(state.path)}`
  if (state.type === 'final') return [declared, `${indent}${mermaidId(state.path)} --> [*]`]
  if (state.states.length === 0) return [declared]
  return [`${declared} {`, ...innerLines(state, `${indent}  `), `${indent}}`]
}

function edgeLines(state: ChartState, transition: ChartTransition): readonly string[] {
  if (transition.event === 'initial') return []
  const targets = transition.targets.length === 0 ? [transition.source] : transition.targets
  const label = transitionText(transition)
  return targets.map((target) => {
    const edge = `${mermaidId(transition.source)} --> ${mermaidId(target)}${label === '' ? '' : `: ${label}`}`
    // Mermaid cannot draw a way from a state with inner states to itself.
    return target === state.path && state.states.length > 0 ? `%% ${edge}` : edge
  })
}

function mermaidId(path: string): string {
  return path.replaceAll('.', '_')
}
