import type { JSX } from 'preact'
import { useState } from 'preact/hooks'

import { countText } from '../derive/figures.ts'
import { SafeText } from './safe-text.tsx'

interface LongTextProps {
  /** Any text that parts can be read of. */
  readonly text: { slice(from: number, to: number): string }
  /** How much of it there is. */
  readonly length: number
  /** Set in a fixed width, as output of programs is. */
  readonly isCode?: boolean
  /** The end is what is looked at, and its beginning is left out first. */
  readonly isTail?: boolean
  /** Characters that are shown at first. */
  readonly first?: number
}

const FIRST_CHARS = 4000
const MORE_TIMES = 4

/** Text of any length, of which as much is shown as somebody asks for. */
export function LongText({
  text,
  length,
  isCode = false,
  isTail = false,
  first = FIRST_CHARS,
}: LongTextProps): JSX.Element {
  const [most, setMost] = useState(first)
  const left = Math.max(0, length - most)
  const [from, to] = isTail ? [left, length] : [0, length - left]
  const more =
    left === 0 ? null : (
      <button type="button" class="link more" onClick={() => setMost(most * MORE_TIMES)}>
        {isTail ? '↑ ' : '… '}
        {countText(left)} more characters
      </button>
    )
  return (
    <div class={isCode ? 'text text-code' : 'text'}>
      {isTail && more}
      <SafeText text={text.slice(from, to)} />
      {!isTail && more}
    </div>
  )
}
