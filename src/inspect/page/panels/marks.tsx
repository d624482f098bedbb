import type { JSX } from 'preact'

import { formatRoute } from '../route.ts'
import { SafeText } from './safe-text.tsx'

/** How something is meant: by colour, and never by colour alone. */
export type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'quiet'

/** A word about how something stands. */
export function Chip({ tone, text }: { readonly tone: Tone; readonly text: string }): JSX.Element {
  return (
    <span class={`chip chip-${tone}`}>
      <SafeText text={text} />
    </span>
  )
}

interface SeqLinkProps {
  readonly seq: number
  readonly goTo: (seq: number) => void
}

/** The number of a frame; moves the cursor there. */
export function SeqLink({ seq, goTo }: SeqLinkProps): JSX.Element {
  return (
    <button
      type="button"
      class="seq"
      title={`go to frame ${seq}`}
      aria-label={`go to frame ${seq}`}
      onClick={() => goTo(seq)}
    >
      #{seq}
    </button>
  )
}

/** A link to another run on this page. */
export function RunLink({
  runId,
  at = null,
}: {
  readonly runId: string
  readonly at?: number | null
}): JSX.Element {
  return (
    <a class="run-link" href={formatRoute({ view: 'run', runId, at, panel: null })}>
      <SafeText text={runId} />
    </a>
  )
}

/** Says that there is nothing to show, and why. */
export function Nothing({ text }: { readonly text: string }): JSX.Element {
  return <p class="nothing">{text}</p>
}
