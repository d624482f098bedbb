import { Buffer } from 'node:buffer'

import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import { readProviderError, type ProviderError } from '../protocol/provider-error.ts'
import type { NoteAnomaly } from './anomaly.ts'
import { assembleOutput, type AssembledResponse } from './assemble-response.ts'
import { itemText } from './compare-sources.ts'
import { matchTerminal, type TerminalMatch } from './match-terminal.ts'
import { readText, type PartType } from './open-item.ts'
import { OutputBuilder, placeOf, readItem } from './output-builder.ts'
import { streamError, type StreamError } from './stream-error.ts'
import type { StreamLimits } from './stream-limits.ts'

const RESPONSE_EVENTS: ReadonlySet<string> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.done',
])

type Terminal = Omit<AssembledResponse, 'responseId' | 'error'>

/** The reducer from a response's events, or its one body, to the response. */
export class ResponseCollector {
  readonly #limits: StreamLimits
  readonly #note: NoteAnomaly
  readonly #output: OutputBuilder
  #isFirst = true
  #hasPassedLimit = false
  #responseId: string | null = null
  #error: StreamError | null = null
  #terminal: Terminal | null = null

  constructor(limits: StreamLimits, note: NoteAnomaly) {
    this.#limits = limits
    this.#note = note
    this.#output = new OutputBuilder({ limits, note, fail: (error) => this.fail(error) })
  }

  /** A terminal event came: what follows is late. */
  get hasEnded(): boolean {
    return this.#terminal !== null
  }

  /** A limit was passed: the reading ends. After any other failure it goes on, so that all is on record. */
  get hasPassedLimit(): boolean {
    return this.#hasPassedLimit
  }

  /** The response cannot be used; the first reason is the one that counts. */
  fail(error: StreamError): void {
    this.#error ??= error
    this.#hasPassedLimit ||= error.code === 'response_too_large'
  }

  push(type: string, event: JsonObject): void {
    if (this.#isFirst && type !== 'response.created')
      this.#note('created_not_first', `first event is ${type}`)
    this.#isFirst = false
    const output = this.#output
    switch (type) {
      case 'response.output_text.delta':
        return output.delta(event, 'output_text')
      case 'response.function_call_arguments.delta':
        return output.argumentsDelta(event)
      case 'response.reasoning.delta':
      case 'response.reasoning_text.delta':
        return output.delta(event, 'reasoning_text')
      case 'response.reasoning_summary_text.delta':
        return output.delta(event, 'summary_text')
      case 'response.refusal.delta':
        return output.delta(event, 'refusal')
      case 'response.output_text.done':
        return output.textDone(event, 'output_text', event['text'])
      case 'response.refusal.done':
        return output.textDone(event, 'refusal', event['refusal'])
      case 'response.reasoning.done':
      case 'response.reasoning_text.done':
        return output.textDone(event, 'reasoning_text', event['text'])
      case 'response.reasoning_summary_text.done':
        return output.textDone(event, 'summary_text', event['text'])
      case 'response.function_call_arguments.done':
        return output.argumentsDone(event)
      case 'response.content_part.added':
      case 'response.reasoning_part.added':
        return output.partAdded(event, partType(event['part']))
      case 'response.reasoning_summary_part.added':
        return output.partAdded(event, 'summary_text')
      case 'response.content_part.done':
      case 'response.reasoning_part.done':
        return output.partDone(event, partType(event['part']))
      case 'response.reasoning_summary_part.done':
        return output.partDone(event, 'summary_text')
      case 'response.output_text.annotation.added':
        return output.annotation(event)
      case 'response.output_item.added':
        return output.itemAdded(event)
      case 'response.output_item.done':
        return output.itemDone(event)
      default:
        return this.#pushResponseEvent(type, event)
    }
  }

  /** Whether a delta of so many characters would be taken like the one that was taken last. */
  hasRoomFor(type: string, event: JsonObject, chars: number): boolean {
    // Asking finds the item of the event, and what is found last is what an event without an index means: only to be
    // asked where taking the event has found it already. Only arguments have a limit.
    return type !== 'response.function_call_arguments.delta' || this.#output.hasRoomFor(event, chars)
  }

  /** A response that was not streamed, whole. */
  pushBody(body: JsonObject): void {
    const provider = Array.isArray(body['output']) ? null : readProviderError(body)
    if (provider !== null) this.fail(failure(provider))
    else if (!Array.isArray(body['output'])) {
      this.fail(streamError('protocol_violation', 'the response body has no output'))
    }
    this.#readResponseId(body, 'body')
    this.#finish(null, body)
  }

  settle(): AssembledResponse {
    const error = this.#error ?? (this.#terminal === null ? truncated() : null)
    const told = this.#terminal ?? this.#unfinished()
    const rest = { responseId: this.#responseId, usage: told.usage, items: told.items, error }
    if (error === null) {
      return { ...rest, status: told.status, incompleteReason: told.incompleteReason, calls: told.calls }
    }
    const calls = told.calls.map((call) => ({ ...call, disposition: 'truncated' as const }))
    return { ...rest, status: 'failed', incompleteReason: null, calls }
  }

  #pushResponseEvent(type: string, event: JsonObject): void {
    // Open Responses, "Extending": an event of unknown type changes nothing.
    if (type === 'error') return this.fail(failure(readProviderError(event)))
    if (!RESPONSE_EVENTS.has(type)) return
    this.#readResponseId(event['response'], type)
    switch (type) {
      case 'response.completed':
        return this.#finish('completed', event['response'])
      case 'response.incomplete':
        return this.#finish('incomplete', event['response'])
      case 'response.failed':
        return this.#finish('failed', event['response'])
      case 'response.done':
        return this.#finish(null, event['response'])
      default:
    }
  }

  #finish(announced: Terminal['status'] | null, value: Json | undefined): void {
    const response = isJsonObject(value) ? value : null
    if (response === null) this.#note('terminal_without_response', 'no response in the terminal event')
    const status = this.#endStatus(announced, readText(response, 'status'))
    const error = response?.['error']
    if (status === 'failed' || isJsonObject(error) || typeof error === 'string') {
      this.fail(failure(readProviderError(error)))
    }
    const output = response?.['output']
    const told: readonly Json[] = Array.isArray(output) ? output : []
    if (told.length > this.#limits.itemsMax) {
      this.fail(
        streamError('response_too_large', `the response has more than ${this.#limits.itemsMax} items`),
      )
    }
    const details = response?.['incomplete_details']
    const usage = response?.['usage']
    this.#terminal = {
      ...this.#assemble(status, told.slice(0, this.#limits.itemsMax)),
      status,
      incompleteReason: isJsonObject(details) ? readText(details, 'reason') : null,
      usage: isJsonObject(usage) ? usage : null,
    }
  }

  #assemble(status: Terminal['status'], told: readonly Json[]): Pick<Terminal, 'items' | 'calls'> {
    const match = matchTerminal(this.#output.items, told.map(readItem))
    this.#noteMatch(match, told.length > 0)
    const output = assembleOutput(this.#output.items, match, status, this.#output.comparer, this.#note)
    if (output.calls.some((call) => Buffer.byteLength(call.arguments) > this.#limits.argumentsBytesMax)) {
      const message = `one call's arguments are larger than ${this.#limits.argumentsBytesMax} bytes`
      this.fail(streamError('response_too_large', message))
    }
    if (status === 'completed' && output.calls.some((call) => call.callId === '')) {
      this.#note('call_without_id', 'a function_call has no call_id')
      this.fail(streamError('protocol_violation', 'a function_call has no call_id, so it cannot be answered'))
    }
    return output
  }

  #noteMatch(match: TerminalMatch, hasOutput: boolean): void {
    this.#output.items.forEach((item, at) => {
      const terminal = match.terminals[at] ?? null
      if (!item.isClosed) this.#note('item_not_done', placeOf(item))
      if (hasOutput && terminal === null) this.#note('item_not_in_terminal', placeOf(item))
      if (terminal !== null && item.done !== null && itemText(item.done) !== itemText(terminal)) {
        this.#note('delta_done_differ', `stream and terminal response: ${placeOf(item)}`)
      }
    })
    for (const { item, outputIndex } of match.recovered) {
      // A body has no stream it could be missing from.
      if (!this.#isFirst) this.#note('item_recovered', `${item.type} at output_index ${outputIndex}`)
    }
    for (const detail of match.contradictions) {
      this.#note('item_contradicted', detail)
      this.fail(streamError('protocol_violation', `the terminal response contradicts the stream: ${detail}`))
    }
  }

  #endStatus(announced: Terminal['status'] | null, declared: string | null): Terminal['status'] {
    if (declared !== null && announced !== null && declared !== announced) {
      this.#note('status_differs', `${announced} event with status ${declared}`)
    }
    switch (declared) {
      case 'failed':
      case 'cancelled':
        return 'failed'
      case 'incomplete':
        return announced === 'failed' ? 'failed' : 'incomplete'
      case 'completed':
      case null:
        return announced ?? 'completed'
      default:
        if (announced !== null) return announced
        this.fail(streamError('protocol_violation', `the response ended with status ${declared}`))
        return 'failed'
    }
  }

  #readResponseId(response: Json | undefined, type: string): void {
    const id = isJsonObject(response) ? readText(response, 'id') : null
    if (id === null || id === this.#responseId) return
    if (this.#responseId !== null) {
      const detail = `${this.#responseId} then ${id}`
      this.#note('response_id_changed', detail)
      if (type === 'response.created') {
        this.fail(streamError('protocol_violation', `a second response began in the stream: ${detail}`))
      }
    }
    this.#responseId = id
  }

  #unfinished(): Terminal {
    const match = matchTerminal(this.#output.items, [])
    // What is odd about a response that just stopped was noted as it came.
    const output = assembleOutput(this.#output.items, match, 'failed', this.#output.comparer, () => undefined)
    return { ...output, status: 'failed', incompleteReason: null, usage: null }
  }
}

function failure(provider: ProviderError | null): StreamError {
  const said = provider?.message ?? provider?.code ?? 'no reason given'
  return streamError('response_failed', `the provider reported a failure: ${said}`, provider)
}

function truncated(): StreamError {
  return streamError('stream_truncated', 'the stream ended without a terminal event')
}

function partType(part: Json | undefined): PartType | null {
  switch (isJsonObject(part) ? part['type'] : null) {
    case 'output_text':
      return 'output_text'
    case 'refusal':
      return 'refusal'
    case 'reasoning_text':
    case 'text':
      return 'reasoning_text'
    case 'summary_text':
      return 'summary_text'
    default:
      return null
  }
}
