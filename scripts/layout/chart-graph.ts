import type { ElkExtendedEdge, ElkNode } from 'elkjs/lib/elk-api.js'
import type { AnyStateMachine } from 'xstate'

import { chartTree, type ChartState } from '../../src/chart/diagram.ts'
import { listStates, listTransitions, type ChartTransition } from '../../src/chart/list-transitions.ts'
import { transitionText } from '../../src/chart/transition-text.ts'
import { labelSize, LINE_HEIGHT, nameWidth } from './text-size.ts'

/** Where the lines inside a state begin, below its name and the effects it runs. */
export const HEADING = { side: 12, name: 34, runs: LINE_HEIGHT, below: 6 } as const

const DOT_PIXELS = 10
const SIDE_PIXELS = 18

/** What is drawn as one line: all transitions from one state to another. */
export interface Route {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly transitions: readonly ChartTransition[]
}

/** The chart as the graph that ELK lays out: boxes with the room their text needs, and one edge for each route. */
export function chartGraph(machine: AnyStateMachine): ElkNode {
  const root = chartTree(machine)
  const order = listStates(machine).map(({ path }) => path.join('.'))
  return {
    id: '',
    layoutOptions: ROOT_OPTIONS,
    children: childrenOf(root),
    edges: listRoutes(machine).map((route) => edgeOf(route, isBackward(route, order))),
  }
}

/** Whether a route leads up, to a state that the chart names before the one it leaves. */
export function isBackward({ from, to }: Route, order: readonly string[]): boolean {
  return order.includes(from) && order.indexOf(to) < order.indexOf(from)
}

const ROOT_OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.json.edgeCoords': 'ROOT',
  'elk.json.shapeCoords': 'ROOT',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.padding': '[top=24,left=24,bottom=24,right=24]',
  // Picks among orders that ELK holds equally good; this one gives a narrow picture whose lines hardly cross.
  'elk.randomSeed': '7',
  'elk.layered.thoroughness': '30',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.cycleBreaking.strategy': 'GREEDY',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.spacing.nodeNode': '28',
  'elk.spacing.edgeNode': '16',
  'elk.spacing.edgeEdge': '14',
  'elk.layered.spacing.nodeNodeBetweenLayers': '26',
  'elk.layered.spacing.edgeNodeBetweenLayers': '14',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '12',
}

function childrenOf(state: ChartState): ElkNode[] {
  return [
    { id: dotId(state.path), width: DOT_PIXELS, height: DOT_PIXELS },
    ...state.states.map((inner) => nodeOf(inner)),
  ]
}

/** The place from which the way into a compound state is drawn. */
function dotId(path: string): string {
  return `initial ${path}`
}

function nodeOf(state: ChartState): ElkNode {
  const within = state.transitions.filter(isWithin)
  const height = linesTop(state) + within.length * LINE_HEIGHT + HEADING.below
  const width = Math.max(
    nameWidth(state.key),
    ...state.invoke.map(({ id }) => labelSize(`runs ${id}`).width),
    ...within.map((one) => labelSize(writtenText(one)).width),
  )
  const box = { id: state.path, width: width + 2 * HEADING.side, height }
  if (state.states.length === 0) return box
  const children = childrenOf(state)
  // ELK makes a box as wide as what is in it, however wide its heading: the rest is room at the sides.
  const rest = box.width - Math.max(...children.map((child) => child.width ?? 0))
  const side = Math.max(SIDE_PIXELS, Math.ceil(rest / 2))
  const padding = `[top=${height + 4},left=${side},bottom=${SIDE_PIXELS},right=${side}]`
  return { id: state.path, layoutOptions: { 'elk.padding': padding }, children }
}

/** How far below its upper edge the transitions that are written inside a state begin. */
export function linesTop({ invoke }: Pick<ChartState, 'invoke'>): number {
  return HEADING.name + (invoke.length > 0 ? HEADING.runs : 0)
}

/** A transition to its own state is written inside that state instead of drawn. */
export function isWithin({ event, source, targets }: ChartTransition): boolean {
  return event !== 'initial' && targets.every((target) => target === source)
}

/** The text of a transition as the picture shows it. */
export function writtenText(transition: ChartTransition): string {
  const text = transitionText(transition)
  return isWithin(transition) && transition.reenter ? `↻ ${text}` : text
}

/** All that is drawn as lines. */
export function listRoutes(machine: AnyStateMachine): readonly Route[] {
  const drawn = listTransitions(machine).filter((one) => !isWithin(one))
  return [...Map.groupBy(drawn, routeId)].map(([id, transitions]) => {
    const [from = '', to = ''] = id.split(' -> ')
    return { id, from, to, transitions }
  })
}

function routeId({ event, source, targets }: ChartTransition): string {
  return `${event === 'initial' ? dotId(source) : source} -> ${targets.join(' ')}`
}

/** ELK is given every edge downwards, so that states stand in the order in which the chart names them. */
function edgeOf({ id, from, to, transitions }: Route, isUpwards: boolean): ElkExtendedEdge {
  const ends = isUpwards ? { sources: [to], targets: [from] } : { sources: [from], targets: [to] }
  const sizes = transitions
    .map(writtenText)
    .filter((text) => text !== '')
    .map(labelSize)
  if (sizes.length === 0) return { id, ...ends }
  const width = Math.max(...sizes.map((size) => size.width))
  // A transition without words takes a line too: it stands for "otherwise" below those with guards.
  const height = transitions.length * LINE_HEIGHT
  const layoutOptions = { 'elk.edgeLabels.inline': 'true' }
  return { id, ...ends, labels: [{ text: id, width, height, layoutOptions }] }
}
