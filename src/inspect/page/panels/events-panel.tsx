import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'

import type { Frame } from '../../../frames/generated/frame.ts'
import { countUpTo } from '../binary-search.ts'
import { EventFilter } from '../derive/event-filter.ts'
import { eventFindings, rawEvent } from '../derive/event-rows.ts'
import { countOf } from '../derive/figures.ts'
import { fieldsOf, numberIn, textIn } from '../derive/json-fields.ts'
import { deriveIndex } from '../derive/run-index.ts'
import type { PanelProps } from '../run-model.ts'
import { VirtualList } from '../virtual-list.tsx'
import { JsonTextView } from './json-text-view.tsx'
import { Chip, Nothing, SeqLink } from './marks.tsx'
import { SafeText } from './safe-text.tsx'

const ROW_PX = 26
const RAW_CHARS = 160

/** The provider's own events, as they came; what is odd about one is marked. */
export function EventsPanel({ run, at, goTo }: PanelProps): JSX.Element {
  const { events } = deriveIndex(run.frames)
  const [text, setText] = useState('')
  const [isMarkedOnly, setMarkedOnly] = useState(false)
  const filter = useMemo(
    () => new EventFilter(run.frames, events, { text, isMarkedOnly }),
    [run.frames, events, text, isMarkedOnly],
  )
  const seqs = filter.seqs()
  const selected = countUpTo(seqs, at) - 1
  const frame = run.frames[seqs[selected] ?? -1]
  return (
    <div class="panel panel-split">
      <div class="filter">
        <input
          type="search"
          placeholder="Name or text"
          aria-label="Show events with this name or text"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <label>
          <input
            type="checkbox"
            checked={isMarkedOnly}
            onChange={({ currentTarget }) => setMarkedOnly(currentTarget.checked)}
          />{' '}
          odd ones only ({events.marked})
        </label>
        <span class="dim figures">{countOf(seqs.length, 'event')}</span>
      </div>
      {seqs.length === 0 ? (
        <Nothing
          text={events.seqs.length === 0 ? 'No event has come from the provider.' : 'No event fits.'}
        />
      ) : (
        <div class="panel-list panel-list-tall">
          <VirtualList
            count={seqs.length}
            rowHeight={ROW_PX}
            label="Events of the provider"
            selected={selected}
            onSelect={(index) => goTo(seqs[index] ?? at)}
            renderRow={(index) => <EventRow frame={run.frames[seqs[index] ?? -1]} at={at} />}
          />
        </div>
      )}
      {frame !== undefined && (
        <div class="panel-detail" tabIndex={0} role="region" aria-label="The event">
          <EventDetail frame={frame} goTo={goTo} />
        </div>
      )}
    </div>
  )
}

function EventRow({ frame, at }: { readonly frame: Frame | undefined; readonly at: number }): JSX.Element {
  const fields = fieldsOf(frame)
  const findings = eventFindings(frame)
  const seq = numberIn(fields, 'seq') ?? 0
  return (
    <div class={`cells cells-event${seq > at ? ' is-later' : ''}`}>
      <span class="seq-text">#{seq}</span>
      <span class="wire-name">
        <SafeText text={nameOf(frame)} />
      </span>
      {findings.length > 0 && <Chip tone={isBroken(frame) ? 'bad' : 'warn'} text={findings[0] ?? ''} />}
      <span class="event-raw one-line">
        <SafeText text={rawEvent(frame).text.slice(0, RAW_CHARS)} />
      </span>
    </div>
  )
}

function nameOf(frame: Frame | undefined): string {
  const fields = fieldsOf(frame)
  return textIn(fields, 'event_name') ?? (fields['status'] === 'done' ? 'end mark' : 'without a name')
}

function isBroken(frame: Frame | undefined): boolean {
  const fields = fieldsOf(frame)
  const errors = fields['errors']
  return fields['status'] === 'invalid_json' || (Array.isArray(errors) && errors.length > 0)
}

function EventDetail({
  frame,
  goTo,
}: {
  readonly frame: Frame
  readonly goTo: (seq: number) => void
}): JSX.Element {
  const fields = fieldsOf(frame)
  const { text, isBase64 } = rawEvent(frame)
  return (
    <>
      <h3 class="detail-title">
        <span class="wire-name">
          <SafeText text={nameOf(frame)} />
        </span>
        <span class="dim">
          turn {numberIn(fields, 'turn')}, attempt {(numberIn(fields, 'attempt') ?? 0) + 1}
        </span>
        <SeqLink seq={numberIn(fields, 'seq') ?? 0} goTo={goTo} />
      </h3>
      {eventFindings(frame).map((finding, index) => (
        <p key={index} class={isBroken(frame) ? 'note note-bad' : 'note note-warn'}>
          <SafeText text={finding} />
        </p>
      ))}
      {isBase64 && <p class="note note-warn">Its bytes are not UTF-8; this is base64.</p>}
      <JsonTextView text={text} />
    </>
  )
}
