import type { JSX } from 'preact'

import {
  attemptStateAt,
  partsAt,
  type Attempt,
  type AttemptState,
  type PartView,
} from '../derive/attempts.ts'
import { LongText } from './long-text.tsx'
import { Chip, type Tone } from './marks.tsx'
import { SafeText } from './safe-text.tsx'
import { Said } from './said.tsx'

interface AttemptProps {
  readonly attempt: Attempt
  readonly at: number
  readonly seq: JSX.Element
}

const STATES: Readonly<Record<AttemptState, readonly [string, Tone]>> = {
  sent: ['sent', 'busy'],
  streaming: ['streaming', 'busy'],
  completed: ['completed', 'good'],
  incomplete: ['cut short', 'warn'],
  failed: ['failed', 'bad'],
  cut_off: ['cut off', 'bad'],
}

/** One request and what came back for it by the cursor. */
export function AttemptBlock({ attempt, at, seq }: AttemptProps): JSX.Element {
  const state = attemptStateAt(attempt, at)
  const parts = partsAt(attempt, at).filter(({ length }) => length > 0)
  const isDiscarded = state === 'failed' || state === 'cut_off'
  return (
    <Said
      who={attempt.kind === 'compact' ? 'compaction' : 'model'}
      tone="model"
      isDiscarded={isDiscarded}
      seq={seq}
      after={<AttemptFacts attempt={attempt} at={at} state={state} />}
    >
      {parts.map((part, index) => (
        <PartBlock key={index} part={part} />
      ))}
      {isDiscarded && <Failure attempt={attempt} at={at} hasText={parts.length > 0} />}
    </Said>
  )
}

function AttemptFacts({
  attempt,
  at,
  state,
}: Omit<AttemptProps, 'seq'> & { readonly state: AttemptState }): JSX.Element {
  const { headers, model, kind } = attempt
  const [text, tone] = STATES[state]
  const isRefused = headers !== null && headers.seq <= at && headers.status >= 400
  return (
    <>
      <span class="dim">
        <SafeText text={model} />
      </span>
      {attempt.attempt > 0 && <Chip tone="warn" text={`attempt ${attempt.attempt + 1}`} />}
      {kind === 'wrap_up' && <Chip tone="quiet" text="last word" />}
      {isRefused && <Chip tone="bad" text={`HTTP ${headers.status}`} />}
      {state !== 'completed' && <Chip tone={tone} text={text} />}
    </>
  )
}

function Failure({
  attempt,
  at,
  hasText,
}: Omit<AttemptProps, 'seq'> & { readonly hasText: boolean }): JSX.Element {
  const { settled } = attempt
  const error = settled !== null && settled.seq <= at ? settled.error : null
  return (
    <>
      <p class="failure">
        {error === null ? (
          'It was at work when the process ended.'
        ) : (
          <>
            <code>
              <SafeText text={error.code} />
            </code>{' '}
            <SafeText text={error.message} />
          </>
        )}
      </p>
      {hasText && <p class="aside">What had come of it is not part of the conversation.</p>}
    </>
  )
}

const NAMES: Readonly<Partial<Record<PartView['kind'], string>>> = {
  reasoning: 'reasoning',
  summary: 'reasoning, in short',
  refusal: 'refusal',
  other: 'item',
}

function PartBlock({ part: { kind, text, length } }: { readonly part: PartView }): JSX.Element {
  const name = NAMES[kind]
  if (name === undefined) return <LongText text={text} length={length} />
  return (
    <div class={`part part-${kind}`}>
      <span class="part-name">{name}</span>
      <LongText text={text} length={length} isCode={kind === 'other'} />
    </div>
  )
}
