import type { ComponentChildren, JSX } from 'preact'

import { SafeText } from './safe-text.tsx'

interface SaidProps {
  readonly who: string
  readonly tone: 'user' | 'model' | 'other'
  /** It came to nothing: said, and not kept. */
  readonly isDiscarded?: boolean
  readonly after?: ComponentChildren
  readonly seq: JSX.Element | null
  readonly children: ComponentChildren
}

/** What somebody said, with who it was. */
export function Said({
  who,
  tone,
  isDiscarded = false,
  after = null,
  seq,
  children,
}: SaidProps): JSX.Element {
  return (
    <article class={`said said-${tone}${isDiscarded ? ' is-discarded' : ''}`}>
      <header class="said-head">
        <span class="who">
          <SafeText text={who} />
        </span>
        {after}
        {seq}
      </header>
      {children}
    </article>
  )
}
