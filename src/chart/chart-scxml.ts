import type { AnyStateMachine } from 'xstate'

import { chartTree, type ChartState } from './diagram.ts'
import type { ChartTransition } from './list-transitions.ts'
import { xmlText } from './xml-text.ts'

/**
 * The chart as W3C SCXML. Guards are names in `cond`; actions, docs and tags, for which SCXML has no words, are in a
 * namespace of their own. Effects are `invoke`s: their ends are `done.invoke.ID` and `error.platform.ID`.
 */
export function chartScxml(machine: AnyStateMachine): string {
  const root = chartTree(machine)
  const attributes = attributesOf({
    xmlns: 'http://www.w3.org/2005/07/scxml',
    'xmlns:loopchart': 'urn:loopchart:scxml',
    version: '1.0',
    datamodel: 'loopchart',
    name: root.key,
    initial: initialOf(root)?.targets.join(' ') ?? null,
  })
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<scxml${attributes}>`,
    ...contentOf(root, '  '),
    '</scxml>',
  ]
  return `${lines.join('\n')}\n`
}

function initialOf({ transitions }: ChartState): ChartTransition | undefined {
  return transitions.find(({ event }) => event === 'initial')
}

function contentOf(state: ChartState, indent: string): readonly string[] {
  return [
    ...blockOf('onentry', '', actionLines(state.entry, `${indent}  `), indent),
    ...blockOf('onexit', '', actionLines(state.exit, `${indent}  `), indent),
    ...state.invoke.map(({ id, effect }) => `${indent}<invoke${attributesOf({ id, src: effect })}/>`),
    ...state.transitions
      .filter(({ event }) => event !== 'initial')
      .flatMap((transition) => transitionLines(transition, indent)),
    ...state.states.flatMap((inner) => stateLines(inner, indent)),
  ]
}

function stateLines(state: ChartState, indent: string): readonly string[] {
  const element = state.type === 'final' || state.type === 'parallel' ? state.type : 'state'
  const attributes = attributesOf({
    id: state.path,
    initial: initialOf(state)?.targets.join(' ') ?? null,
    'loopchart:tags': state.tags.length === 0 ? null : state.tags.join(' '),
    'loopchart:doc': state.doc,
  })
  const content = contentOf(state, `${indent}  `)
  return content.length === 0
    ? [`${indent}<${element}${attributes}/>`]
    : blockOf(element, attributes, content, indent)
}

function transitionLines(transition: ChartTransition, indent: string): readonly string[] {
  const { source, event, guard, targets, reenter, doc, actions } = transition
  const isInner = !reenter && targets.some((target) => target.startsWith(`${source}.`))
  const attributes = attributesOf({
    event: event === 'always' ? null : scxmlEvent(event),
    cond: guard,
    target: targets.length === 0 ? null : targets.join(' '),
    type: isInner ? 'internal' : null,
    'loopchart:doc': doc,
  })
  const content = actionLines(actions, `${indent}  `)
  return content.length === 0
    ? [`${indent}<transition${attributes}/>`]
    : blockOf('transition', attributes, content, indent)
}

/** The names that the specification gives to the end of what a state invokes. */
function scxmlEvent(event: string): string {
  return event
    .replace(/^xstate\.done\.actor\./u, 'done.invoke.')
    .replace(/^xstate\.error\.actor\./u, 'error.platform.')
}

function actionLines(actions: readonly string[], indent: string): readonly string[] {
  return actions.map((name) => `${indent}<loopchart:action${attributesOf({ name })}/>`)
}

function blockOf(
  element: string,
  attributes: string,
  content: readonly string[],
  indent: string,
): readonly string[] {
  if (content.length === 0) return []
  return [`${indent}<${element}${attributes}>`, ...content, `${indent}</${element}>`]
}

function attributesOf(values: Readonly<Record<string, string | null>>): string {
  return Object.entries(values)
    .map(([name, value]) => (value === null ? '' : ` ${name}="${xmlText(value)}"`))
    .join('')
}
