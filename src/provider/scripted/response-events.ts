import type { StreamingEvent } from '../../protocol/events.ts'
import type { ReasoningBody } from '../../protocol/generated/openresponses.ts'
import type { OutputItem } from '../../protocol/items.ts'
import type { ResponseResource } from '../../protocol/responses.ts'
import { openResponse, type ResponsePlan } from './open-response.ts'
import type { ScriptItem } from './script.ts'
import { usageOf } from './usage-of.ts'

/** A response as a stream, and as it is at the end. */
export interface BuiltResponse {
  readonly events: readonly StreamingEvent[]
  readonly response: ResponseResource
}

/** Builds the events of a response, each as the protocol wants it, numbered from 0. */
export function responseEvents(plan: ResponsePlan): BuiltResponse {
  const { turn, responseId } = plan
  const status = turn.end?.status ?? 'completed'
  const events = new EventList()
  const response = openResponse(plan)
  events.add((sequence_number) => ({ type: 'response.created', sequence_number, response }))
  events.add((sequence_number) => ({ type: 'response.in_progress', sequence_number, response }))
  const items = turn.output ?? []
  const output = items.map((item, at) => {
    // Open Responses, "Items": only the last item of a response that was cut short is incomplete.
    const isCut = status === 'incomplete' && at === items.length - 1
    return addItem(events, item, at, { tag: responseId.replace(/^resp_/u, ''), isCut })
  })
  const ended = endedResponse(plan, response, output)
  events.add((sequence_number) => ({ type: `response.${status}`, sequence_number, response: ended }))
  return { events: events.all, response: ended }
}

function endedResponse(
  { turn, request }: ResponsePlan,
  response: ResponseResource,
  output: readonly OutputItem[],
): ResponseResource {
  const { end } = turn
  const usage = usageOf(turn, request, output)
  const ended = { ...response, output, usage, status: end?.status ?? 'completed' }
  if (end === undefined) return { ...ended, completed_at: response.created_at }
  if (end.status === 'incomplete')
    return { ...ended, incomplete_details: { reason: end.reason ?? 'max_output_tokens' } }
  const { code = 'server_error', message = 'the script says that this response fails' } = end
  return { ...ended, error: { code, message } }
}

class EventList {
  readonly all: StreamingEvent[] = []

  add(make: (sequenceNumber: number) => StreamingEvent): void {
    this.all.push(make(this.all.length))
  }

  addItem(output_index: number, item: OutputItem): void {
    this.add((sequence_number) => ({
      type: 'response.output_item.added',
      sequence_number,
      output_index,
      item,
    }))
  }

  endItem(output_index: number, item: OutputItem): OutputItem {
    this.add((sequence_number) => ({
      type: 'response.output_item.done',
      sequence_number,
      output_index,
      item,
    }))
    return item
  }
}

interface ItemPlace {
  readonly tag: string
  readonly isCut: boolean
}

function addItem(events: EventList, item: ScriptItem, at: number, place: ItemPlace): OutputItem {
  switch (item.type) {
    case 'message':
      return addMessage(events, item, at, place)
    case 'refusal':
      return addRefusal(events, item, at, place)
    case 'reasoning':
      return addReasoning(events, item, at, place)
    case 'function_call':
      return addCall(events, item, at, place)
  }
}

type ScriptItemOf<Type extends ScriptItem['type']> = Extract<ScriptItem, { type: Type }>

function addMessage(
  events: EventList,
  { text, phase }: ScriptItemOf<'message'>,
  output_index: number,
  { tag, isCut }: ItemPlace,
): OutputItem {
  const pieces = piecesOf(text)
  const whole = pieces.join('')
  const id = `msg_${tag}_${output_index}`
  const at = { item_id: id, output_index, content_index: 0 }
  const item = {
    type: 'message',
    id,
    role: 'assistant',
    ...(phase === undefined ? {} : { phase }),
  } as const
  const part = { type: 'output_text', text: whole, annotations: [], logprobs: [] } as const
  events.addItem(output_index, { ...item, status: 'in_progress', content: [] })
  events.add((sequence_number) => ({
    type: 'response.content_part.added',
    sequence_number,
    ...at,
    part: { ...part, text: '' },
  }))
  for (const delta of pieces) {
    events.add((sequence_number) => ({
      type: 'response.output_text.delta',
      sequence_number,
      ...at,
      delta,
      logprobs: [],
    }))
  }
  events.add((sequence_number) => ({
    type: 'response.output_text.done',
    sequence_number,
    ...at,
    text: whole,
    logprobs: [],
  }))
  events.add((sequence_number) => ({ type: 'response.content_part.done', sequence_number, ...at, part }))
  return events.endItem(output_index, {
    ...item,
    status: isCut ? 'incomplete' : 'completed',
    content: [part],
  })
}

function addRefusal(
  events: EventList,
  { text }: ScriptItemOf<'refusal'>,
  output_index: number,
  { tag, isCut }: ItemPlace,
): OutputItem {
  const pieces = piecesOf(text)
  const refusal = pieces.join('')
  const id = `msg_${tag}_${output_index}`
  const at = { item_id: id, output_index, content_index: 0 }
  const item = { type: 'message', id, role: 'assistant' } as const
  const part = { type: 'refusal', refusal } as const
  events.addItem(output_index, { ...item, status: 'in_progress', content: [] })
  events.add((sequence_number) => ({
    type: 'response.content_part.added',
    sequence_number,
    ...at,
    part: { ...part, refusal: '' },
  }))
  for (const delta of pieces)
    events.add((sequence_number) => ({ type: 'response.refusal.delta', sequence_number, ...at, delta }))
  events.add((sequence_number) => ({ type: 'response.refusal.done', sequence_number, ...at, refusal }))
  events.add((sequence_number) => ({ type: 'response.content_part.done', sequence_number, ...at, part }))
  return events.endItem(output_index, {
    ...item,
    status: isCut ? 'incomplete' : 'completed',
    content: [part],
  })
}

function addReasoning(
  events: EventList,
  { summary, content, encrypted }: ScriptItemOf<'reasoning'>,
  output_index: number,
  { tag }: ItemPlace,
): OutputItem {
  const item_id = `rs_${tag}_${output_index}`
  const at = { item_id, output_index }
  // The schema gives reasoning no status, though the prose wants one on every item.
  events.addItem(output_index, { type: 'reasoning', id: item_id, summary: [] })
  const summaries = summary === undefined ? [] : [addSummary(events, piecesOf(summary), at)]
  const contents = content === undefined ? [] : [addContent(events, piecesOf(content), at)]
  return events.endItem(output_index, {
    type: 'reasoning',
    id: item_id,
    summary: summaries,
    ...(content === undefined ? {} : { content: contents }),
    ...(encrypted === undefined ? {} : { encrypted_content: encrypted }),
  })
}

interface ReasoningPlace {
  readonly item_id: string
  readonly output_index: number
}

function addSummary(
  events: EventList,
  pieces: readonly string[],
  place: ReasoningPlace,
): ReasoningBody['summary'][number] {
  const at = { ...place, summary_index: 0 }
  const part = { type: 'summary_text', text: pieces.join('') } as const
  events.add((sequence_number) => ({
    type: 'response.reasoning_summary_part.added',
    sequence_number,
    ...at,
    part: { ...part, text: '' },
  }))
  for (const delta of pieces) {
    events.add((sequence_number) => ({
      type: 'response.reasoning_summary_text.delta',
      sequence_number,
      ...at,
      delta,
    }))
  }
  events.add((sequence_number) => ({
    type: 'response.reasoning_summary_text.done',
    sequence_number,
    ...at,
    text: part.text,
  }))
  events.add((sequence_number) => ({
    type: 'response.reasoning_summary_part.done',
    sequence_number,
    ...at,
    part,
  }))
  return part
}

function addContent(
  events: EventList,
  pieces: readonly string[],
  place: ReasoningPlace,
): ReasoningBody['summary'][number] {
  const at = { ...place, content_index: 0 }
  const part = { type: 'reasoning_text', text: pieces.join('') } as const
  events.add((sequence_number) => ({
    type: 'response.content_part.added',
    sequence_number,
    ...at,
    part: { ...part, text: '' },
  }))
  for (const delta of pieces)
    events.add((sequence_number) => ({ type: 'response.reasoning.delta', sequence_number, ...at, delta }))
  events.add((sequence_number) => ({
    type: 'response.reasoning.done',
    sequence_number,
    ...at,
    text: part.text,
  }))
  events.add((sequence_number) => ({ type: 'response.content_part.done', sequence_number, ...at, part }))
  return part
}

function addCall(
  events: EventList,
  { name, call_id: callId, arguments: given = {} }: ScriptItemOf<'function_call'>,
  output_index: number,
  { tag, isCut }: ItemPlace,
): OutputItem {
  const id = `fc_${tag}_${output_index}`
  const text = typeof given === 'string' ? given : JSON.stringify(given)
  const at = { item_id: id, output_index }
  const call = { type: 'function_call', id, call_id: callId ?? `call_${tag}_${output_index}`, name } as const
  events.addItem(output_index, { ...call, arguments: '', status: 'in_progress' })
  for (const delta of argumentPieces(text)) {
    events.add((sequence_number) => ({
      type: 'response.function_call_arguments.delta',
      sequence_number,
      ...at,
      delta,
    }))
  }
  events.add((sequence_number) => ({
    type: 'response.function_call_arguments.done',
    sequence_number,
    ...at,
    arguments: text,
  }))
  return events.endItem(output_index, {
    ...call,
    arguments: text,
    status: isCut ? 'incomplete' : 'completed',
  })
}

/** The deltas of a text: those given, or word by word. */
function piecesOf(text: string | readonly string[]): readonly string[] {
  return typeof text === 'string' ? (text.match(/\S+\s*|\s+/gu) ?? []) : text
}

// Whole characters, so that no half of a pair is sent alone.
function argumentPieces(text: string): readonly string[] {
  return text.match(/.{1,12}/gsu) ?? []
}
