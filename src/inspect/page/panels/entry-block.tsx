import type { JSX } from 'preact'

import { countOf } from '../derive/figures.ts'
import { itemParts } from '../derive/item-parts.ts'
import { fieldsOf, listIn, numberIn, textIn } from '../derive/json-fields.ts'
import { jsonText } from '../derive/json-text.ts'
import type { Json, JsonObject } from '../../../protocol/json.ts'
import { LongText } from './long-text.tsx'
import { RunLink } from './marks.tsx'
import { SafeText } from './safe-text.tsx'
import { Said } from './said.tsx'

interface EntryProps {
  readonly entry: JsonObject
  readonly seq: JSX.Element
}

/** One entry of the log of a conversation, as a chat shows it. */
export function EntryBlock({ entry, seq }: EntryProps): JSX.Element {
  const text = textIn(entry, 'text') ?? ''
  const runId = textIn(entry, 'run_id')
  const link = runId === null ? null : <RunLink runId={runId} />
  switch (textIn(entry, 'type')) {
    case 'message':
      return (
        <Said who={textIn(entry, 'role') ?? 'message'} tone="user" seq={seq} after={<Sender entry={entry} />}>
          <LongText text={text} length={text.length} />
        </Said>
      )
    case 'answer':
      return (
        <Said who="model" tone="model" seq={seq} after={link}>
          <LongText text={text} length={text.length} />
        </Said>
      )
    case 'tool_work':
      return <ToolWork entry={entry} seq={seq} link={link} />
    case 'checkpoint':
      return (
        <Said
          who="summary"
          tone="other"
          seq={seq}
          after={
            <span class="dim">
              stands for entries {numberIn(entry, 'from_seq')} to {numberIn(entry, 'to_seq')}
            </span>
          }
        >
          <LongText text={text} length={text.length} />
        </Said>
      )
    case null:
    default: {
      const all = jsonText(entry, 2)
      return (
        <Said who="entry" tone="other" seq={seq} after={link}>
          <LongText text={all} length={all.length} isCode />
        </Said>
      )
    }
  }
}

function Sender({ entry }: { readonly entry: JsonObject }): JSX.Element {
  const parts = listIn(entry, 'parts').length
  return (
    <span class="dim">
      <SafeText
        text={[textIn(entry, 'actor_id'), textIn(entry, 'origin')].filter((one) => one !== null).join(' · ')}
      />
      {parts > 0 && `, ${countOf(parts, 'part')}`}
    </span>
  )
}

const ITEMS_MAX = 200

function ToolWork({ entry, seq, link }: EntryProps & { readonly link: JSX.Element | null }): JSX.Element {
  const items = listIn(entry, 'groups').flatMap((group) => (Array.isArray(group) ? group : []))
  return (
    <Said who="tools" tone="other" seq={seq} after={link}>
      {items.slice(0, ITEMS_MAX).map((item, index) => (
        <ToolItem key={index} item={item} />
      ))}
      {items.length > ITEMS_MAX && <p class="dim">and {countOf(items.length - ITEMS_MAX, 'more item')}</p>}
    </Said>
  )
}

const OUTPUT_CHARS = 400

function ToolItem({ item }: { readonly item: Json }): JSX.Element {
  const fields = fieldsOf(item)
  switch (textIn(fields, 'type')) {
    case 'function_call':
      return (
        <div class="call-head">
          <span class="call-name">
            <SafeText text={textIn(fields, 'name') ?? ''} />
          </span>
          <span class="call-arguments">
            <SafeText text={(textIn(fields, 'arguments') ?? '').slice(0, OUTPUT_CHARS)} />
          </span>
        </div>
      )
    case 'function_call_output': {
      const output = textIn(fields, 'output') ?? jsonText(fields['output'])
      return (
        <div class="call-output">
          <LongText text={output} length={output.length} first={OUTPUT_CHARS} isCode />
        </div>
      )
    }
    case null:
    default: {
      const text = itemParts(item)
        .map((part) => part.text)
        .join('\n')
      return <LongText text={text} length={text.length} />
    }
  }
}
