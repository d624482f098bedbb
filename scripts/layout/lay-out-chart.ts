import elk from 'elkjs'
import type { ElkExtendedEdge, ElkNode } from 'elkjs/lib/elk-api.js'
import type { AnyStateMachine } from 'xstate'

import type { ChartBox, ChartLayout, LaidOutState, LaidOutTransition } from '../../src/chart/chart-layout.ts'
import { chartTree, type ChartState } from '../../src/chart/diagram.ts'
import type { ChartTransition } from '../../src/chart/list-transitions.ts'
import { transitionText } from '../../src/chart/transition-text.ts'
import {
  chartGraph,
  HEADING,
  isBackward,
  isWithin,
  linesTop,
  listRoutes,
  writtenText,
  type Route,
} from './chart-graph.ts'
import { labelSize, LINE_HEIGHT } from './text-size.ts'

/** Finds a place for every state and transition of a chart. The same chart always gives the same places. */
export async function layOutChart(machine: AnyStateMachine, version: string): Promise<ChartLayout> {
  const graph = await new elk.default().layout(chartGraph(machine))
  const tree = chartTree(machine)
  const states = tree.states.flatMap(withInner)
  const boxes = new Map(nodesIn(graph).map((node) => [node.id, boxOf(node)]))
  const edges = new Map((graph.edges ?? []).map((edge) => [edge.id, edge]))
  const order = ['', ...states.map(({ path }) => path)]
  const transitions = new Map([
    ...listRoutes(machine).flatMap((route) =>
      alongRoute(route, found(edges, route.id), isBackward(route, order)),
    ),
    ...states.flatMap((state) => insideState(state, found(boxes, state.path))),
  ])
  return {
    version,
    width: Math.ceil(graph.width ?? 0),
    height: Math.ceil(graph.height ?? 0),
    states: states.map((state) => laidOutState(state, found(boxes, state.path))),
    transitions: [tree, ...states].flatMap((state) =>
      state.transitions.map(({ key }) => found(transitions, key)),
    ),
  }
}

function withInner(state: ChartState): readonly ChartState[] {
  return [state, ...state.states.flatMap(withInner)]
}

function nodesIn(node: ElkNode): readonly ElkNode[] {
  return (node.children ?? []).flatMap((child) => [child, ...nodesIn(child)])
}

function boxOf({ x = 0, y = 0, width = 0, height = 0 }: Partial<ChartBox>): ChartBox {
  return { x: rounded(x), y: rounded(y), width: rounded(width), height: rounded(height) }
}

/** Half pixels are as fine as a picture shows, and keep the file free of noise. */
function rounded(length: number): number {
  return Math.round(length * 2) / 2
}

function found<T>(all: ReadonlyMap<string, T>, id: string): T {
  const one = all.get(id)
  if (one === undefined) throw new TypeError(`the layout has no place for ${id}`)
  return one
}

function laidOutState(state: ChartState, box: ChartBox): LaidOutState {
  const cut = state.path.lastIndexOf('.')
  return {
    id: state.path,
    parent: cut === -1 ? null : state.path.slice(0, cut),
    label: state.key,
    doc: state.doc ?? '',
    kind: state.type === 'final' ? 'final' : state.states.length > 0 ? 'compound' : 'atomic',
    tags: state.tags,
    runs: state.invoke.map(({ id }) => id),
    ...box,
  }
}

type Placed = readonly [key: string, transition: LaidOutTransition]

function alongRoute(
  { transitions }: Route,
  { labels = [], sections = [] }: ElkExtendedEdge,
  isUpwards: boolean,
): readonly Placed[] {
  const downwards = sections.flatMap(({ startPoint, bendPoints = [], endPoint }) =>
    [startPoint, ...bendPoints, endPoint].map(({ x, y }) => [rounded(x), rounded(y)] as const),
  )
  const points = isUpwards ? downwards.toReversed() : downwards
  const [label] = labels
  const place = label === undefined ? null : boxOf(label)
  return transitions.map((one, line) => {
    const text = writtenText(one)
    if (place === null || text === '') return [one.key, { ...factsOf(one), points, label: null }]
    const size = labelSize(text)
    const x = rounded(place.x + (place.width - size.width) / 2)
    return [one.key, { ...factsOf(one), points, label: { x, y: place.y + line * LINE_HEIGHT, ...size } }]
  })
}

function insideState(state: ChartState, { x, y }: ChartBox): readonly Placed[] {
  return state.transitions.filter(isWithin).map((one, line) => {
    const at = { x: x + HEADING.side / 2, y: y + linesTop(state) + line * LINE_HEIGHT }
    return [one.key, { ...factsOf(one), points: [], label: { ...at, ...labelSize(writtenText(one)) } }]
  })
}

function factsOf(one: ChartTransition): Omit<LaidOutTransition, 'points' | 'label'> {
  return {
    id: one.key,
    from: one.source,
    to: one.targets[0] ?? one.source,
    event: one.event,
    guard: one.guard,
    text: transitionText(one),
    reenter: one.reenter,
    doc: one.doc ?? '',
  }
}
