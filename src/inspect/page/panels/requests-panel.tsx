import type { JSX } from 'preact'

import { countOf } from '../derive/figures.ts'
import type { RequestChanges, RequestRecord } from '../derive/request-records.ts'
import { deriveIndex } from '../derive/run-index.ts'
import { lastSeen } from '../derive/seen-records.ts'
import type { PanelProps } from '../run-model.ts'
import { Change } from './change.tsx'
import { JsonTextView } from './json-text-view.tsx'
import { Chip, Nothing, SeqLink } from './marks.tsx'
import { SafeText } from './safe-text.tsx'

/** The request that was last sent by the cursor: what changed since the one before, and its body. */
export function RequestsPanel({ run, at, goTo }: PanelProps): JSX.Element {
  const { requests } = deriveIndex(run.frames)
  const request = lastSeen(requests.all, at)
  if (request === null) {
    return (
      <div class="panel">
        <Nothing text="No request was sent by this frame." />
      </div>
    )
  }
  const changes = requests.changesOf(request)
  return (
    <div class="panel panel-scroll" tabIndex={0} role="region" aria-label="Requests">
      <RequestHead request={request} all={requests.all} goTo={goTo} />
      <section class="detail-part">
        <h4>Since the request before</h4>
        <Changes changes={changes} />
      </section>
      <details class="detail-part" open={changes.kind === 'first'} key={request.index}>
        <summary>Body, as it was sent ({countOf(request.body.length, 'character')})</summary>
        <JsonTextView text={request.body} />
      </details>
    </div>
  )
}

interface HeadProps {
  readonly request: RequestRecord
  readonly all: readonly RequestRecord[]
  readonly goTo: (seq: number) => void
}

function RequestHead({ request, all, goTo }: HeadProps): JSX.Element {
  const { index, turn, attempt, kind, continuity, endpoint, model, seq } = request
  const [before, after] = [all[index - 1], all[index + 1]]
  return (
    <>
      <h3 class="detail-title">
        <button
          type="button"
          class="small"
          disabled={before === undefined}
          onClick={() => before !== undefined && goTo(before.seq)}
          aria-label="the request before"
        >
          ‹
        </button>
        <span>
          Request {index + 1} of {all.length}
        </span>
        <button
          type="button"
          class="small"
          disabled={after === undefined}
          onClick={() => after !== undefined && goTo(after.seq)}
          aria-label="the next request"
        >
          ›
        </button>
        <Chip tone="quiet" text={kind.replaceAll('_', ' ')} />
        {attempt > 0 && <Chip tone="warn" text={`attempt ${attempt + 1}`} />}
        <SeqLink seq={seq} goTo={goTo} />
      </h3>
      <dl class="facts">
        <dt>turn</dt>
        <dd>{turn}</dd>
        <dt>model</dt>
        <dd>
          <SafeText text={model} />
        </dd>
        <dt>endpoint</dt>
        <dd>
          <SafeText text={endpoint} />
        </dd>
        <dt>continuity</dt>
        <dd>
          <SafeText text={continuity.replaceAll('_', ' ')} />
        </dd>
      </dl>
    </>
  )
}

function Changes({ changes }: { readonly changes: RequestChanges }): JSX.Element {
  switch (changes.kind) {
    case 'first':
      return <p class="dim">It is the first one.</p>
    case 'same':
      return <p class="dim">The same request was sent again.</p>
    case 'not_json':
      return <p class="dim">One of the two bodies is not JSON, so they cannot be compared.</p>
    case 'changed':
      return (
        <div class="changes">
          {changes.changes.map((change, index) => (
            <Change key={index} change={change} />
          ))}
          {changes.isCut && <p class="dim">There is more.</p>}
        </div>
      )
  }
}
