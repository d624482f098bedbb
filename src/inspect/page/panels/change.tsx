import type { JSX } from 'preact'

import type { Json } from '../../../protocol/json.ts'
import type { JsonChange } from '../derive/diff-json.ts'
import { jsonText } from '../derive/json-text.ts'
import { LongText } from './long-text.tsx'
import { SafeText } from './safe-text.tsx'

const SIGNS = { added: '+', removed: '−', changed: '±' } as const
const VALUE_CHARS = 1200

/** One place that differs, from requests or from frames. */
export function Change({ change }: { readonly change: JsonChange }): JSX.Element {
  return (
    <div class={`change change-${change.kind}`}>
      <div class="change-path">
        <span class="change-sign" title={change.kind}>
          {SIGNS[change.kind]}
        </span>
        <code>
          <SafeText text={change.path === '' ? '(the whole)' : change.path} />
        </code>
        <span class="dim">{change.kind}</span>
      </div>
      {change.kind !== 'added' && <Value text={valueText(change.before)} side="before" />}
      {change.kind !== 'removed' && <Value text={valueText(change.after)} side="after" />}
    </div>
  )
}

function Value({ text, side }: { readonly text: string; readonly side: 'before' | 'after' }): JSX.Element {
  return (
    <div class={`value value-${side}`}>
      <LongText text={text} length={text.length} first={VALUE_CHARS} isCode />
    </div>
  )
}

/** A value with a line for each part; text stands without its quotes. */
function valueText(value: Json): string {
  return typeof value === 'string' ? value : jsonText(value, 2)
}
