import type { JSX } from 'preact'

interface LimitBarProps {
  readonly name: string
  readonly used: number
  /** Null: as much as it likes. */
  readonly allowed: number | null
  readonly format: (figure: number) => string
}

const NEAR = 0.8
const WHOLE = 100

/** How much of a limit is used up; nothing where nothing is, and no limit. */
export function LimitBar({ name, used, allowed, format }: LimitBarProps): JSX.Element | null {
  // The log of a conversation has neither turns nor calls of its own.
  if (used === 0 && allowed === null) return null
  const share = allowed === null ? 0 : allowed <= 0 ? 1 : Math.min(1, used / allowed)
  const tone = share >= 1 ? 'full' : share >= NEAR ? 'near' : 'free'
  const text = allowed === null ? `${format(used)}, no limit` : `${format(used)} of ${format(allowed)}`
  return (
    <div class="bar">
      <span class="bar-name">{name}</span>
      <span class="bar-text figures">
        <b>{format(used)}</b>{' '}
        <span class="dim">{allowed === null ? 'no limit' : `of ${format(allowed)}`}</span>
      </span>
      {allowed !== null && (
        <div
          class="bar-track"
          role="meter"
          aria-label={name}
          aria-valuemin={0}
          aria-valuemax={WHOLE}
          aria-valuenow={Math.round(share * WHOLE)}
          aria-valuetext={text}
        >
          <div class={`bar-fill bar-${tone}`} style={{ width: `${share * WHOLE}%` }} />
        </div>
      )}
    </div>
  )
}
