import type { ChartTransition } from './list-transitions.ts'

/** A transition in words: what it is taken on and, in brackets, what must hold; empty when it is always taken. */
export function transitionText({ event, guard }: Pick<ChartTransition, 'event' | 'guard'>): string {
  return [eventText(event), guard === null ? '' : `[${guard}]`].filter((part) => part !== '').join(' ')
}

function eventText(event: string): string {
  if (event === 'always' || event === 'initial') return ''
  const [, how, id = ''] = /^xstate\.(done|error)\.actor\.(.+)$/u.exec(event) ?? []
  if (how === undefined) return event
  const who = id === '*' ? 'any effect' : id
  return how === 'done' ? `${who} done` : `${who} rejected`
}
