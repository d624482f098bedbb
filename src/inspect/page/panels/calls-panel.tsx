import type { JSX } from 'preact'
import { useState } from 'preact/hooks'

import { callAt, type CallView } from '../derive/call-at.ts'
import type { CallRecord } from '../derive/call-records.ts'
import { countOf, durationText } from '../derive/figures.ts'
import { deriveIndex } from '../derive/run-index.ts'
import { countSeen } from '../derive/seen-records.ts'
import type { PanelProps } from '../run-model.ts'
import { VirtualList } from '../virtual-list.tsx'
import { CallDetail } from './call-detail.tsx'
import { callTone } from './call-tone.ts'
import { Chip, Nothing } from './marks.tsx'
import { SafeText } from './safe-text.tsx'

const ROW_PX = 30
const ROWS_MAX = 7
const ARGUMENTS_CHARS = 160
// Calls of one response are looked through for the one that moved last; those before it have ended.
const LATEST = 64

/** The calls of a run: what they were asked, what they wrote, how they ended. */
export function CallsPanel({ run, at, ts, goTo }: PanelProps): JSX.Element {
  const { calls } = deriveIndex(run.frames)
  const [picked, setPicked] = useState<number | null>(null)
  const count = countSeen(calls.all, at)
  const selected = picked !== null && picked < count ? picked : latestMoved(calls.all, count, at)
  const call = calls.all[selected]
  if (count === 0 || call === undefined) {
    return (
      <div class="panel">
        <Nothing text="No call was made by this frame." />
      </div>
    )
  }
  const renderRow = (index: number): JSX.Element => {
    const row = calls.all[index]
    return row === undefined ? <></> : <CallRow view={callAt(row, at)} now={ts} />
  }
  return (
    <div class="panel panel-split">
      <div class="panel-list" style={{ height: `${Math.min(count, ROWS_MAX) * ROW_PX + 2}px` }}>
        <VirtualList
          count={count}
          rowHeight={ROW_PX}
          label={countOf(count, 'call')}
          selected={selected}
          onSelect={setPicked}
          renderRow={renderRow}
        />
      </div>
      <div class="panel-detail" tabIndex={0} role="region" aria-label="The call">
        <CallDetail key={call.index} view={callAt(call, at)} now={ts} goTo={goTo} />
      </div>
    </div>
  )
}

/** The call that something happened to last: what somebody who scrubs looks for. */
function latestMoved(calls: readonly CallRecord[], count: number, at: number): number {
  let [latest, moved] = [count - 1, -1]
  for (let index = Math.max(0, count - LATEST); index < count; index += 1) {
    const call = calls[index]
    if (call === undefined) continue
    const { end, questions, children } = callAt(call, at)
    const seqs = [call.seq, end?.seq ?? -1, questions.at(-1)?.seq ?? -1, children.at(-1)?.seq ?? -1]
    const last = Math.max(...seqs, ...call.starts.filter(({ seq }) => seq <= at).map(({ seq }) => seq))
    if (last > moved) [latest, moved] = [index, last]
  }
  return latest
}

function CallRow({ view, now }: { readonly view: CallView; readonly now: number }): JSX.Element {
  const { call, end, startedTs, state } = view
  const { text, tone } = callTone(view)
  const ms = end?.durationMs ?? (state === 'running' && startedTs !== null ? now - startedTs : 0)
  return (
    <div class="cells">
      <span class="dim turn-number" title={`turn ${call.turn}`}>
        {call.turn}
      </span>
      <span class="call-name">
        <SafeText text={call.name} />
      </span>
      <span class="call-arguments one-line">
        <SafeText text={call.arguments.slice(0, ARGUMENTS_CHARS)} />
      </span>
      {ms > 0 && <span class="dim figures">{durationText(ms)}</span>}
      <Chip tone={tone} text={text} />
    </div>
  )
}
