import { isUtf8, type Buffer } from 'node:buffer'

import { EVENT_TYPES } from '../protocol/generated/event-types.ts'
import { isJsonObject, parseJson, type Json, type JsonObject } from '../protocol/json.ts'
import type { EventErrors, ValidationProfile } from '../protocol/validation-profile.ts'
import type { Anomaly, AnomalyCode } from './anomaly.ts'
import type { AssembledResponse } from './assemble-response.ts'
import type { DeltaForm, Filling } from './delta-form.ts'
import { DeltaTemplate } from './delta-template.ts'
import { isDeeperThan } from './json-depth.ts'
import { ResponseCollector } from './response-collector.ts'
import { SequenceCheck } from './sequence-check.ts'
import type { SseSink } from './sse-decoder.ts'
import { shorten, streamError } from './stream-error.ts'
import { STREAM_LIMITS, type StreamLimits } from './stream-limits.ts'

/**
 * One event of a response, with everything that was found odd or wrong about it; nothing about it is changed.
 * What a frame says of an event has the frame's spelling here already, so that it is copied once, not twice.
 */
export interface StreamEvent {
  readonly status: 'event' | 'done' | 'invalid_json'
  readonly event_name: string | null
  /** The event's own `type`, empty when it has none. */
  readonly type: string
  /**
   * The exact data text; where its bytes were no text, U+FFFD stands for what could not be read. It may be a part of the
   * chunk that it came in, which whoever keeps it for long does not want to keep.
   */
  readonly raw: string
  /** The data's bytes, only when they were no text. */
  readonly raw_base64: string | null
  /** It came after the response's end, and counts for nothing. */
  readonly isLate: boolean
  /** What the text parses to; undefined for `[DONE]` and for what is not JSON. */
  readonly data: Json | undefined
  readonly errors: readonly string[]
  readonly response_errors: readonly string[]
  readonly anomalies: readonly Anomaly[]
}

export interface ReaderOptions {
  readonly profile: ValidationProfile
  readonly limits?: Partial<StreamLimits>
  /** Called for each event as soon as its last byte is in. */
  readonly onEvent: (event: StreamEvent) => void
  /**
   * Called instead for events with nothing to say about them that are like the one before but for their deltas: one of
   * them, the form that they have in common, what stood in its holes, event after event, and how many there are. The event
   * and the list are good during the call only.
   */
  readonly onDeltas?: OnDeltas | undefined
}

export type OnDeltas = (event: JsonObject, form: DeltaForm, fillings: Filling, count: number) => void

const NONE: readonly never[] = []
const NO_TYPE: EventErrors = { errors: ['type must be string'], responseErrors: NONE }

// Details hold ids and types of the provider's; a log must not grow faster than what is logged.
const DETAIL_MAX = 200
const NOTED_MAX = 100
const TEMPLATES_FREE = 8

// Events whose parts outlive them; the others are read and let go, however deep they are.
const KEPT_TYPES: ReadonlySet<string> = new Set([
  'response.output_item.added',
  'response.output_item.done',
  'response.output_text.annotation.added',
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.done',
])

const NOTHING = {
  event_name: null,
  type: '',
  isLate: false,
  data: undefined,
  errors: NONE,
  response_errors: NONE,
  anomalies: NONE,
}
const KNOWN_TYPES: ReadonlyMap<string, string> = new Map(EVENT_TYPES.map((type) => [type, type]))

/** What every way of reading a response shares: parse, check, collect, report. */
export class EventPipeline implements SseSink {
  readonly limits: StreamLimits
  readonly collector: ResponseCollector
  /** The body has ended; what still comes is what was left of it. */
  isEnding = false
  readonly #profile: ValidationProfile
  readonly #onEvent: (event: StreamEvent) => void
  readonly #onDeltas: OnDeltas | null
  readonly #sequence = new SequenceCheck()
  #noted: Anomaly[] = []
  #eventCount = 0
  #latestType = ''
  #template: DeltaTemplate | null = null
  #lesson: { readonly event: JsonObject; readonly raw: string } | null = null
  #templatesLearned = 0
  #templateHits = 0
  /** The event before was read by the template, and there was nothing to say about it. */
  #isInRun = false
  #isDone = false
  #isBody = false

  constructor({ profile, limits, onEvent, onDeltas }: ReaderOptions) {
    this.limits = { ...STREAM_LIMITS, ...limits }
    this.#profile = profile
    this.#onEvent = onEvent
    this.#onDeltas = onDeltas ?? null
    this.collector = new ResponseCollector(this.limits, this.note)
  }

  readonly note = (code: AnomalyCode, detail: string): void => {
    if (this.#noted.length < NOTED_MAX) this.#noted.push({ code, detail: shorten(detail, DETAIL_MAX) })
  }

  message(eventName: string | null, raw: string, base64: string | null): void {
    if (this.collector.hasPassedLimit) return
    this.#isInRun = false
    this.#eventCount += 1
    if (this.#eventCount > this.limits.eventsMax) {
      const reason = `the response has more than ${this.limits.eventsMax} events`
      return this.collector.fail(streamError('response_too_large', reason))
    }
    if (base64 !== null) this.note('invalid_utf8', 'the data is not UTF-8')
    if (isDoneMark(raw)) return this.#doneMark(eventName, raw, base64)
    const isLate = this.#isDone || this.collector.hasEnded
    const template = this.#matching(raw)
    const isPlain = template !== null && template.form.type === eventName && base64 === null && !isLate
    if (isPlain && this.#onDeltas !== null) return this.#delta(raw, template, this.#onDeltas)
    this.#event(eventName, raw, base64, isLate, template)
  }

  /**
   * Reads the events at a place of the stream, where one begins, that go on like the one before; gives where it stops.
   * That one was held to everything that any event is held to. What holds for it holds for these: they differ in their
   * texts, which are taken as they are, and in their numbers, which follow each other.
   */
  run(stream: string, from: number): number {
    const template = this.#template
    const onDeltas = this.#onDeltas
    const { collector } = this
    if (!this.#isInRun || template === null || onDeltas === null) return from
    if (!collector.hasRoomFor(template.form.type, template.event, stream.length - from)) return from
    const run = template.readRun(stream, from, this.#sequence.last, this.limits.eventsMax - this.#eventCount)
    if (run === null) return from
    const { count, fillings, end } = run
    this.#eventCount += count
    this.#templateHits += count
    this.#sequence.advance(count)
    collector.push(template.form.type, template.event)
    onDeltas(template.event, template.form, fillings, count)
    return end
  }

  /** An event that is like the one before, held to everything that any other is held to. */
  #delta(raw: string, template: DeltaTemplate, onDeltas: OnDeltas): void {
    const wrong = this.#read(this.#typeOf(template.event), template.event, raw, false)
    this.#templateHits += 1
    if (wrong === null && this.#noted.length === 0) {
      this.#isInRun = !this.collector.hasPassedLimit
      return onDeltas(template.event, template.form, template.filling, 1)
    }
    this.#report({
      ...NOTHING,
      status: 'event',
      event_name: template.form.type,
      type: template.form.type,
      raw,
      raw_base64: null,
      data: { ...template.event },
      errors: wrong === null ? NONE : wrong.errors,
      response_errors: wrong === null ? NONE : wrong.responseErrors,
    })
  }

  #event(
    eventName: string | null,
    raw: string,
    base64: string | null,
    isLate: boolean,
    template: DeltaTemplate | null,
  ): void {
    const data = template === null ? parseJson(raw) : { ...template.event }
    if (data === undefined) return this.#invalid(eventName, raw, base64, isLate)
    const type = this.#typeOf(data)
    if (eventName !== null && eventName !== type) {
      this.note('event_name_differs', `event ${shorten(eventName, 80)} with type ${shorten(type, 80)}`)
    }
    const wrong = this.#read(type, data, raw, isLate)
    if (template !== null) this.#templateHits += 1
    else if (wrong === null && isJsonObject(data)) this.#learn(type, data, raw)
    this.#report({
      status: 'event',
      // Of two texts that are the same, the one that is not a part of the chunk.
      event_name: eventName === type ? type : eventName,
      type,
      raw,
      raw_base64: base64,
      isLate,
      data,
      errors: wrong === null ? NONE : wrong.errors,
      response_errors: wrong === null ? NONE : wrong.responseErrors,
      anomalies: NONE,
    })
  }

  /** All is read. Strictly, a stream ends with `[DONE]`. */
  end(): AssembledResponse {
    if (this.#profile.name === 'strict' && !this.#isDone && !this.#isBody) {
      this.collector.fail(
        streamError(
          this.collector.hasEnded ? 'protocol_violation' : 'stream_truncated',
          'the stream ended without [DONE]',
        ),
      )
    }
    return this.collector.settle()
  }

  body(bytes: Buffer): void {
    this.#isBody = true
    const base64 = isUtf8(bytes) ? null : bytes.toString('base64')
    if (base64 !== null) this.note('invalid_utf8', 'the body is not UTF-8')
    const raw = bytes.toString('utf8')
    const data = parseJson(raw.replace(/^\uFEFF/u, ''))
    const fault = this.#bodyFault(data, raw)
    const told = { ...NOTHING, raw, raw_base64: base64, data }
    if (fault === null && isJsonObject(data)) {
      this.collector.pushBody(data)
      return this.#report({ ...told, status: 'event', response_errors: this.#profile.checkResponse(data) })
    }
    this.collector.fail(streamError('malformed_event', `the response body ${fault}`))
    this.#report({ ...told, status: data === undefined ? 'invalid_json' : 'event' })
  }

  #doneMark(eventName: string | null, raw: string, base64: string | null): void {
    const isLate = this.#isDone
    if (isLate) this.note('late_event', '[DONE] again')
    this.#isDone = true
    this.#report({ ...NOTHING, status: 'done', event_name: eventName, raw, raw_base64: base64, isLate })
  }

  #invalid(eventName: string | null, raw: string, base64: string | null, isLate: boolean): void {
    if (isLate) this.note('late_event', 'text after the end')
    // Half an event at the end is the connection's doing; that nothing terminal came says so.
    else if (!this.isEnding)
      this.collector.fail(streamError('malformed_event', `event ${this.#eventCount} is not JSON`))
    this.#report({
      ...NOTHING,
      status: 'invalid_json',
      event_name: eventName,
      raw,
      raw_base64: base64,
      isLate,
    })
  }

  #bodyFault(data: Json | undefined, text: string): string | null {
    if (data === undefined) return 'is not JSON'
    if (!isJsonObject(data)) return 'is not an object'
    return isDeeperThan(this.limits.depthMax, text) ? 'is nested too deeply' : null
  }

  #read(type: string, data: Json, text: string, isLate: boolean): EventErrors | null {
    if (isLate) this.note('late_event', `${shorten(type, 80) || 'event'} after the end`)
    if (!isJsonObject(data) || type === '') return NO_TYPE
    if (!isLate) {
      this.#sequence.check(type, data, this.note)
      // A short text cannot be deep, and most are short: the look-up is for the few others.
      const isLong = text.length > 2 * this.limits.depthMax
      if (isLong && KEPT_TYPES.has(type) && isDeeperThan(this.limits.depthMax, text)) this.#tooDeep()
      else this.collector.push(type, data)
    }
    return this.#profile.checkEvent(type, data)
  }

  /**
   * The event's type, as one string object for a run of events of the same type: every comparison and look-up
   * after this one is then by identity.
   */
  #typeOf(data: Json): string {
    const type = isJsonObject(data) ? data['type'] : undefined
    if (typeof type !== 'string') return ''
    if (type !== this.#latestType) this.#latestType = KNOWN_TYPES.get(type) ?? type
    return this.#latestType
  }

  /** Deltas come in long runs; where they do not, as when two calls alternate, learning would cost more than it gives. */
  #learn(type: string, event: JsonObject, raw: string): void {
    const isWorthwhile =
      this.#templatesLearned < TEMPLATES_FREE || this.#templateHits >= 8 * this.#templatesLearned
    if (!isWorthwhile || !type.endsWith('.delta')) return
    this.#templatesLearned += 1
    this.#lesson = { event, raw }
  }

  /** The template, where a text is of its form. What was to be learned is learned now: the first delta waits for nothing. */
  #matching(raw: string): DeltaTemplate | null {
    if (this.#lesson !== null) {
      this.#template = DeltaTemplate.learn(this.#lesson.event, this.#lesson.raw)
      this.#lesson = null
    }
    return this.#template?.match(raw) === true ? this.#template : null
  }

  #tooDeep(): void {
    this.note('too_deep', `nested deeper than ${this.limits.depthMax}`)
    this.collector.fail(streamError('malformed_event', `event ${this.#eventCount} is nested too deeply`))
  }

  #report(told: StreamEvent): void {
    let event = told
    if (this.#noted.length > 0) {
      event = { ...told, anomalies: this.#noted }
      this.#noted = []
    }
    if (this.#profile.name === 'strict') this.#insist(event)
    this.#onEvent(event)
  }

  /** In the strict profile a response that is not as the specification has it is not used. */
  #insist({ status, event_name: name, errors, response_errors, anomalies }: StreamEvent): void {
    if (status === 'event' && name === null && !this.#isBody) {
      this.collector.fail(streamError('protocol_violation', `event ${this.#eventCount} has no event name`))
    }
    const [first] = [
      ...errors,
      ...response_errors,
      ...anomalies.map(({ code, detail }) => `${code}: ${detail}`),
    ]
    if (first !== undefined) {
      this.collector.fail(streamError('protocol_violation', `event ${this.#eventCount}: ${first}`))
    }
  }
}

function isDoneMark(text: string): boolean {
  return text.length < 16 && text.trim() === '[DONE]'
}
