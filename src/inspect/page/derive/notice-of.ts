import type { JsonObject } from '../../../protocol/json.ts'
import { countText, shortTime } from './figures.ts'
import { fieldsOf, numberIn, objectIn, textIn } from './json-fields.ts'
import { jsonText } from './json-text.ts'

/** How a notice is meant. */
type NoticeTone = 'quiet' | 'warning' | 'bad'

/** Something that happened to a run and was neither said nor called. */
export interface Notice {
  readonly title: string
  readonly detail: string
  readonly tone: NoticeTone
}

/** What a frame tells beside the conversation; null for a frame that is shown in another way, or not there. */
export function noticeOf(type: string, fields: JsonObject): Notice | null {
  const cause = textIn(fields, 'cause') ?? 'no cause given'
  const figures = fieldsOf(fields['figures'])
  switch (type) {
    case 'retry_scheduled':
      return {
        title: 'the request is sent again',
        detail: `${cause}; attempt ${(numberIn(figures, 'attempt') ?? 0) + 1}${atTime(figures)}`,
        tone: 'warning',
      }
    case 'provider_switched':
      return { title: 'another model is asked', detail: `${cause}; ${fromTo(figures)}`, tone: 'warning' }
    case 'continuity_switched':
      return {
        title: 'the conversation is sent in another way',
        detail: `${cause}; ${fromTo(figures)}`,
        tone: 'warning',
      }
    case 'history_compacted':
      return { title: 'the conversation was made shorter', detail: compaction(cause, figures), tone: 'quiet' }
    case 'limit_reached':
      return { title: 'a limit was reached', detail: limit(cause, figures), tone: 'bad' }
    case 'warning':
      return { title: `warning: ${cause}`, detail: rest(figures), tone: 'warning' }
    case 'cursor_updated':
    case 'history_summarized':
    case 'tool_history_switched':
      return { title: type.replaceAll('_', ' '), detail: `${cause}; ${rest(figures)}`, tone: 'quiet' }
    case 'handed_off':
      return {
        title: 'another agent goes on',
        detail: `${textIn(fields, 'to') ?? ''} with ${textIn(fields, 'model') ?? ''}`,
        tone: 'quiet',
      }
    default:
      return interruption(type, fields)
  }
}

function interruption(type: string, fields: JsonObject): Notice | null {
  switch (type) {
    case 'run_resumed':
      return {
        title: 'the run was taken up again',
        detail: `for the ${ordinal(numberIn(fields, 'epoch') ?? 0)} time`,
        tone: 'quiet',
      }
    case 'log_repaired':
      return {
        title: 'a torn end was cut from the log',
        detail: `${countText(numberIn(fields, 'bytes_dropped') ?? 0)} bytes`,
        tone: 'warning',
      }
    case 'effect_settled': {
      const id = textIn(fields, 'id') ?? 'an effect'
      const error = objectIn(fields, 'error')
      if (error !== null) {
        return { title: `${id} broke`, detail: textIn(error, 'message') ?? '', tone: 'bad' }
      }
      return fields['in_doubt'] === true
        ? { title: `${id} was cut off`, detail: 'nobody knows how it ended', tone: 'warning' }
        : null
    }
    default:
      return null
  }
}

function ordinal(count: number): string {
  return ['zeroth', 'first', 'second', 'third'][count] ?? `${count}th`
}

function atTime(figures: JsonObject): string {
  const at = numberIn(figures, 'retry_at')
  return at === null ? '' : `, not before ${shortTime(at)}`
}

function fromTo(figures: JsonObject): string {
  const [from, to] = [textIn(figures, 'from'), textIn(figures, 'to')]
  return from === null ? `now ${to ?? 'unknown'}` : `${from} → ${to ?? 'unknown'}`
}

function compaction(cause: string, figures: JsonObject): string {
  const pair = (name: string): string => {
    const [before, after] = [numberIn(figures, `${name}_before`), numberIn(figures, `${name}_after`)]
    return before === null || after === null ? '' : `; ${name} ${countText(before)} → ${countText(after)}`
  }
  const way = textIn(figures, 'way')
  return `too many ${cause}${way === null ? '' : `, by ${way}`}${pair('items')}${pair('tokens')}`
}

function limit(cause: string, figures: JsonObject): string {
  const [used, allowed] = [numberIn(figures, 'used'), numberIn(figures, 'allowed')]
  return `${cause.replaceAll('_', ' ')}${used === null ? '' : `: ${countText(used)} of ${countText(allowed ?? 0)}`}`
}

function rest(figures: JsonObject): string {
  return Object.entries(figures)
    .map(([key, value]) => `${key} ${typeof value === 'string' ? value : jsonText(value)}`)
    .join(', ')
}
