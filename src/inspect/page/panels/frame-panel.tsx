import type { JSX } from 'preact'

import { shortTime } from '../derive/figures.ts'
import { fieldsOf, numberIn, textIn } from '../derive/json-fields.ts'
import { jsonText } from '../derive/json-text.ts'
import { prettyJson } from '../derive/pretty-json.ts'
import type { PanelProps } from '../run-model.ts'
import { JsonTextView } from './json-text-view.tsx'
import { Nothing } from './marks.tsx'
import { SafeText } from './safe-text.tsx'

/** The frame at the cursor as JSON, and what its texts hold where those are JSON too. */
export function FramePanel({ run, at }: PanelProps): JSX.Element {
  const fields = fieldsOf(run.frames[at])
  if (run.frames[at] === undefined) {
    return (
      <div class="panel">
        <Nothing text="There is no frame yet." />
      </div>
    )
  }
  const inner = ['raw', 'body', 'arguments', 'output'].flatMap((key) => {
    const text = textIn(fields, key)
    return text !== null && isObject(text) ? [{ key, text }] : []
  })
  return (
    <div class="panel panel-scroll" tabIndex={0} role="region" aria-label="Frame">
      <h3 class="detail-title">
        <code class="state">
          <SafeText text={textIn(fields, 'type') ?? 'a frame without a type'} />
        </code>
        <span class="dim figures">
          #{at} · {shortTime(numberIn(fields, 'ts') ?? Number.NaN)}
        </span>
      </h3>
      <JsonTextView key={at} text={jsonText(fields)} />
      {inner.map(({ key, text }) => (
        <section class="detail-part" key={`${at} ${key}`}>
          <h4>{key}, read as JSON</h4>
          <JsonTextView text={text} />
        </section>
      ))}
    </div>
  )
}

function isObject(text: string): boolean {
  return /^\s*[[{]/.test(text) && prettyJson(text) !== null
}
