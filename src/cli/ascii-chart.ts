import type { AnyStateMachine } from 'xstate'

import { chartTree, type ChartState } from '../chart/diagram.ts'
import { transitionText } from '../chart/transition-text.ts'
import type { ChartTransition } from '../chart/list-transitions.ts'

/** The chart as an indented tree: each state with what it runs, and under it the ways out of it. */
export function asciiChart(machine: AnyStateMachine): string {
  const root = chartTree(machine)
  return `${root.key}\n${innerLines(root, '').join('\n')}\n`
}

function innerLines(state: ChartState, indent: string): readonly string[] {
  const initial = state.transitions.find(({ event }) => event === 'initial')?.targets[0]
  const ways = state.transitions.filter(({ event }) => event !== 'initial')
  const isLeaf = state.states.length === 0
  return [
    ...ways.map((way) => `${indent}${isLeaf ? '    ' : '|   '}${wayLine(way)}`),
    ...state.states.flatMap((inner, index) => {
      const isLast = index === state.states.length - 1
      const head = `${indent}${isLast ? '`-- ' : '|-- '}${headLine(inner, inner.path === initial)}`
      return [head, ...innerLines(inner, `${indent}${isLast ? '    ' : '|   '}`)]
    }),
  ]
}

function headLine({ key, type, invoke }: ChartState, isInitial: boolean): string {
  const notes = [
    ...(isInitial ? ['initial'] : []),
    ...(type === 'final' ? ['final'] : []),
    ...invoke.map(({ effect }) => `runs ${effect}`),
  ]
  return notes.length === 0 ? key : `${key} (${notes.join(', ')})`
}

function wayLine({ source, event, guard, targets, reenter }: ChartTransition): string {
  const when = transitionText({ event, guard })
  const isStaying = targets.length === 0 || (targets[0] === source && !reenter)
  const to = isStaying ? '(stays)' : targets[0] === source ? '(again)' : targets.join(', ')
  return `${when === '' ? 'otherwise' : when} -> ${to}`
}
