import type { CallView } from '../derive/call-at.ts'
import type { Tone } from './marks.tsx'

const WORDS = {
  proposed: ['not started', 'quiet'],
  asked: ['waits for a yes', 'warn'],
  approved: ['approved', 'quiet'],
  denied: ['denied', 'bad'],
  running: ['running', 'busy'],
  in_doubt: ['in doubt', 'warn'],
  ended: ['ended', 'quiet'],
} as const

/** How a call stands, as a word and its tone. */
export function callTone({ state, end }: CallView): { readonly text: string; readonly tone: Tone } {
  if (end !== null)
    return { text: end.outcome.replaceAll('_', ' '), tone: end.outcome === 'ok' ? 'good' : 'bad' }
  const [text, tone] = WORDS[state]
  return { text, tone }
}
