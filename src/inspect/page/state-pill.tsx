import type { JSX } from 'preact'

import { stateName } from './state-name.ts'
import { stateTone } from './state-tone.ts'

/** A state by its name, in its colour; the whole path is its title. */
export function StatePill({ state }: { readonly state: string }): JSX.Element {
  return (
    <span class={`state-pill tone-${stateTone(state)}`} title={state}>
      {stateName(state)}
    </span>
  )
}
