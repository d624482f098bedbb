import { chartLayout } from '../../chart/generated/chart-layout.ts'
import { withParents } from './state-visits.ts'

/** The colour in which a state is shown, by what it means for whoever watches. */
export type StateTone = 'model' | 'call' | 'wait' | 'step' | 'good' | 'bad' | 'stop'

const TONE_OF_TAG: Readonly<Record<string, StateTone>> = { network: 'model', tools: 'call', waiting: 'wait' }
const TONE_OF_END: Readonly<Record<string, StateTone>> = { done: 'good', failed: 'bad', limitExceeded: 'bad' }

const TONES: ReadonlyMap<string, StateTone> = new Map(chartLayout.states.map(({ id }) => [id, findTone(id)]))

/** The tone of a state, given as a dotted path. */
export function stateTone(state: string): StateTone {
  return TONES.get(state) ?? 'step'
}

/** Tags of a state go before those of the states that it is in. */
function findTone(id: string): StateTone {
  const states = withParents(id)
    .toReversed()
    .map((path) => chartLayout.states.find((state) => state.id === path))
  if (states[0]?.kind === 'final') return TONE_OF_END[id] ?? 'stop'
  const tag = states.flatMap((state) => state?.tags ?? []).find((name) => Object.hasOwn(TONE_OF_TAG, name))
  return TONE_OF_TAG[tag ?? ''] ?? 'step'
}
