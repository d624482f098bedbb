import type { Frame, ProviderEventFrame } from '../frames/generated/frame.ts'
import { eventData } from '../frames/event-data.ts'
import { isJsonObject } from '../protocol/json.ts'
import type { AssembledResponse } from '../stream/assemble-response.ts'
import { safeJson } from './safe-text.ts'

const TEXT_MAX = 72

/** One line about a frame, for people. */
export function describeFrame(frame: Frame): string {
  return `${String(frame.seq).padStart(4)}  ${frame.type.padEnd(19)}  ${detail(frame)}`.trimEnd()
}

/** What the response came to: status, items, calls. */
export function describeResponse(response: AssembledResponse): string {
  const { status, responseId, items, calls, error, incompleteReason, usage } = response
  const tokens = typeof usage?.['total_tokens'] === 'number' ? `, ${usage['total_tokens']} tokens` : ''
  const lines = [
    `${status}  ${show(responseId ?? 'no id')}  ${count(items.length, 'item')}, ${count(calls.length, 'call')}${tokens}`,
  ]
  if (error !== null) lines.push(`  ${error.code}: ${plain(error.message)}`)
  if (incompleteReason !== null) lines.push(`  reason: ${plain(incompleteReason)}`)
  for (const call of calls) {
    lines.push(`  ${call.disposition.padEnd(13)}  ${plain(call.name)} ${plain(call.arguments)}`)
  }
  return lines.join('\n')
}

function detail(frame: Frame): string {
  switch (frame.type) {
    case 'provider_event':
      return [eventName(frame), ...remarks(frame)].join('  ')
    case 'output_text_delta':
    case 'refusal_delta':
    case 'reasoning_delta':
      return show(frame.delta)
    default:
      return ''
  }
}

function eventName(frame: ProviderEventFrame): string {
  if (frame.status === 'done') return '[DONE]'
  if (frame.status === 'invalid_json') return `not JSON: ${show(frame.raw ?? frame.raw_base64 ?? '')}`
  const data = eventData(frame)
  const type = isJsonObject(data) ? data['type'] : undefined
  if (typeof type === 'string') return plain(type)
  if (frame.event_name !== null) return plain(frame.event_name)
  return isJsonObject(data) && data['object'] === 'response' ? 'response body' : 'no type'
}

function remarks(frame: ProviderEventFrame): readonly string[] {
  const { anomalies, errors, response_errors: responseErrors } = frame
  return [
    ...anomalies.map(({ code, detail }) => `! ${code}: ${plain(detail)}`),
    ...[...errors, ...responseErrors].map((error) => `! ${plain(error)}`),
  ]
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`
}

function show(text: string): string {
  return safeJson(JSON.stringify(shorten(text)))
}

function plain(text: string): string {
  return show(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
}

function shorten(text: string): string {
  return text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX)}…`
}
