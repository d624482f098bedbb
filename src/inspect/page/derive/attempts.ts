import type { TokenUsage } from '../../../../machines/loop.types.ts'
import type { JsonObject } from '../../../protocol/json.ts'
import { itemParts, type PartKind } from './item-parts.ts'
import { JoinedText } from './joined-text.ts'
import { fieldsOf, listIn, numberIn, objectIn, textIn } from './json-fields.ts'
import { usageIn } from './usage-in.ts'

/** A piece of a response, as it came or as it settled. */
interface ResponsePart {
  readonly seq: number
  readonly kind: PartKind
  readonly text: JoinedText
}

/** How a response ended. */
interface SettledResponse {
  readonly seq: number
  readonly status: string
  readonly error: { readonly code: string; readonly message: string } | null
  readonly usage: TokenUsage | null
  readonly parts: readonly ResponsePart[]
}

/** One request, and what came back for it. */
export interface Attempt {
  readonly seq: number
  readonly turn: number
  /** From 0. */
  readonly attempt: number
  readonly kind: string
  readonly model: string
  readonly headers: { readonly seq: number; readonly status: number } | null
  /** The frame of the first event of its response. */
  readonly openedSeq: number | null
  readonly streamed: readonly ResponsePart[]
  readonly settled: SettledResponse | null
  /** The frame that says that nobody knows how it ended. */
  readonly cutOffSeq: number | null
}

type Open<T> = { -readonly [Key in keyof T]: T[Key] }
type OpenAttempt = Open<Omit<Attempt, 'streamed'>> & { readonly streamed: ResponsePart[] }

/** The requests of a run in order, each with its response. */
export class Attempts {
  readonly #all: OpenAttempt[] = []
  /** Pieces of the latest response by kind and place. */
  #parts = new Map<string, ResponsePart>()

  get all(): readonly Attempt[] {
    return this.#all
  }

  /** Takes a frame in; gives the request that began with it, if one did. */
  add(seq: number, type: string, fields: JsonObject): Attempt | null {
    const before = this.#all.length
    switch (type) {
      case 'request_sent':
        this.#begin(seq, fields)
        break
      case 'response_headers':
        this.#latest(seq).headers ??= { seq, status: numberIn(fields, 'status') ?? 0 }
        break
      case 'provider_event':
        this.#latest(seq).openedSeq ??= seq
        break
      case 'output_text_delta':
        this.#join(seq, 'text', fields)
        break
      case 'refusal_delta':
        this.#join(seq, 'refusal', fields)
        break
      case 'reasoning_delta':
        this.#join(seq, fields['part'] === 'summary' ? 'summary' : 'reasoning', fields)
        break
      case 'response_settled':
        this.#settle(seq, fields)
        break
      case 'run_resumed':
        this.#supersede(seq, objectIn(fields, 'superseded'))
        break
      default:
    }
    return this.#all[before] ?? null
  }

  #begin(seq: number, fields: JsonObject): OpenAttempt {
    const attempt: OpenAttempt = {
      seq,
      turn: numberIn(fields, 'turn') ?? this.#all.at(-1)?.turn ?? 0,
      attempt: numberIn(fields, 'attempt') ?? 0,
      kind: textIn(fields, 'kind') ?? 'unknown',
      model: textIn(fields, 'model') ?? '',
      headers: null,
      openedSeq: null,
      streamed: [],
      settled: null,
      cutOffSeq: null,
    }
    this.#all.push(attempt)
    this.#parts = new Map()
    return attempt
  }

  /** What comes belongs to the latest request: a run has one at a time. */
  #latest(seq: number): OpenAttempt {
    return this.#all.at(-1) ?? this.#begin(seq, {})
  }

  // Some providers give an item another id with every event, so its place counts first.
  #join(seq: number, kind: PartKind, fields: JsonObject): void {
    const attempt = this.#latest(seq)
    const key = `${kind} ${numberIn(fields, 'output_index') ?? textIn(fields, 'item_id') ?? ''}`
    let part = this.#parts.get(key)
    if (part === undefined) {
      part = { seq, kind, text: new JoinedText() }
      this.#parts.set(key, part)
      attempt.streamed.push(part)
    }
    part.text.add(seq, textIn(fields, 'delta') ?? '')
  }

  #settle(seq: number, fields: JsonObject): void {
    const attempt = this.#latest(seq)
    const error = objectIn(fields, 'error')
    attempt.settled ??= {
      seq,
      status: textIn(fields, 'status') ?? 'unknown',
      error:
        error === null
          ? null
          : { code: textIn(error, 'code') ?? '', message: textIn(error, 'message') ?? '' },
      usage: settledUsage(fields),
      parts: listIn(fields, 'items')
        .flatMap(itemParts)
        .map(({ kind, text }) => ({ seq, kind, text: JoinedText.of(seq, text) })),
    }
  }

  #supersede(seq: number, superseded: JsonObject | null): void {
    const attempt = this.#all.at(-1)
    if (superseded === null || attempt === undefined || attempt.settled !== null) return
    attempt.cutOffSeq ??= seq
  }
}

/** What the chart was told that a response used; where a log does not say, what the provider said. */
export function settledUsage(fields: JsonObject): TokenUsage | null {
  const decision = fieldsOf(fields['decision'])
  const told = usageIn(fieldsOf(decision['response'])['usage']) ?? usageIn(decision['usage'])
  return told ?? usageIn(fields['usage'])
}

/** How a request stands. */
export type AttemptState = 'sent' | 'streaming' | 'completed' | 'incomplete' | 'failed' | 'cut_off'

/** How a request stood at a frame. */
export function attemptStateAt(attempt: Attempt, at: number): AttemptState {
  const { settled, cutOffSeq, openedSeq } = attempt
  if (settled !== null && settled.seq <= at) return settledState(settled)
  if (cutOffSeq !== null && cutOffSeq <= at) return 'cut_off'
  return openedSeq !== null && openedSeq <= at ? 'streaming' : 'sent'
}

function settledState({ status, error }: SettledResponse): AttemptState {
  if (status === 'incomplete') return 'incomplete'
  return status === 'completed' && error === null ? 'completed' : 'failed'
}

/** A piece of a response as it stood at a frame. */
export interface PartView {
  readonly kind: PartKind
  readonly text: JoinedText
  /** How much of the text had come. */
  readonly length: number
}

/**
 * What a response had said by a frame: what came piece by piece, and from its end on its items. One that failed keeps
 * what came, which is all that anybody saw of it.
 */
export function partsAt(attempt: Attempt, at: number): readonly PartView[] {
  const { settled, streamed } = attempt
  const isSettled = settled !== null && settled.seq <= at
  const isWhole = isSettled && settledState(settled) !== 'failed'
  const parts =
    isSettled && settled.parts.length > 0 && (isWhole || streamed.length === 0) ? settled.parts : streamed
  return parts
    .filter(({ seq }) => seq <= at)
    .map(({ kind, text }) => ({ kind, text, length: text.lengthAt(at) }))
}
