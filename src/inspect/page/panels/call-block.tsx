import type { JSX } from 'preact'

import { callAt } from '../derive/call-at.ts'
import type { CallRecord } from '../derive/call-records.ts'
import { durationText } from '../derive/figures.ts'
import { callTone } from './call-tone.ts'
import { Chip } from './marks.tsx'
import { LongText } from './long-text.tsx'
import { SafeText } from './safe-text.tsx'

interface CallBlockProps {
  readonly call: CallRecord
  readonly at: number
  readonly seq: JSX.Element
}

const ARGUMENTS_CHARS = 200
const OUTPUT_CHARS = 400

/** A call in a conversation: on one line, and what came of it. */
export function CallBlock({ call, at, seq }: CallBlockProps): JSX.Element {
  const view = callAt(call, at)
  const { text, tone } = callTone(view)
  const { end } = view
  return (
    <div class="call">
      <div class="call-head">
        <span class="call-name">
          <SafeText text={call.name} />
        </span>
        <span class="call-arguments">
          <SafeText text={call.arguments.slice(0, ARGUMENTS_CHARS)} />
          {call.arguments.length > ARGUMENTS_CHARS && '…'}
        </span>
        <span class="call-end">
          {end !== null && end.durationMs > 0 && <span class="dim">{durationText(end.durationMs)}</span>}
          <Chip tone={tone} text={text} />
          {seq}
        </span>
      </div>
      {end !== null && end.output !== '' && (
        <div class="call-output">
          <LongText text={end.output} length={end.output.length} first={OUTPUT_CHARS} isCode />
        </div>
      )}
    </div>
  )
}
