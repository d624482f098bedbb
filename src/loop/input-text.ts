import { Buffer } from 'node:buffer'

import type { AnyItem } from '../protocol/items.ts'
import { parseRequest } from '../protocol/parse-request.ts'
import { ownText } from '../stream/own-text.ts'
import { inputItems, type InputItemsOptions } from './input-items.ts'
import type { TextPiece } from './model.ts'
import { CallIds, closedParts } from './pair-calls.ts'
import { outputsText, promptText } from './plain-items.ts'

/** The items of a request as JSON, without the brackets around them. */
export interface InputText {
  readonly text: string
  /** The first of the text, in pieces that are sent as they are. */
  readonly pieces: readonly TextPiece[]
  /** What of the text is behind the pieces, without the comma between. */
  readonly rest: string
  /** What could not be sent as it was, each thing once. */
  readonly warnings: readonly string[]
}

/** Items that were written before: what is appended to them changes nothing of their text. */
interface Written {
  readonly items: AnyItem[]
  readonly warnings: Set<string>
  readonly ids: CallIds
  /** Of the first of them, in large pieces; and these together. */
  readonly pieces: TextPiece[]
  settled: string
  /** Of the others. */
  text: string
}

// A text that was put together is in pieces until it is made one, which for a megabyte takes longer than sending it does.
// So most of it is sent piece by piece.
const PIECE_CHARS = 32 * 1024

/**
 * Writes the conversations of one agent. A request that carries the whole of one is the one before with some items more:
 * those are checked and written, and the text of the others is taken as it is, whatever its length.
 */
export class InputWriter {
  readonly #options: InputItemsOptions
  /** By the first item, which is in every request of a run. */
  readonly #written = new WeakMap<AnyItem, Written>()

  constructor(options: InputItemsOptions) {
    this.#options = options
  }

  /** The same items give the same text, whatever was written before. */
  write(items: readonly AnyItem[]): InputText {
    const isNew = this.#options.mode === 'previous_response_id'
    const plain = isNew ? outputsText(items) : promptText(items)
    if (plain !== null) return { text: plain, pieces: [], rest: plain, warnings: [] }
    // Of what goes on from a response, only what is new is sent: there is nothing to keep.
    if (isNew) return this.#textOf(items, new CallIds())
    const written = this.#writtenOf(items)
    for (const end of closedParts(items, written.items.length)) {
      const part = items.slice(written.items.length, end)
      const { text, warnings } = this.#textOf(part, written.ids)
      written.items.push(...part)
      written.text = joined(written.text, text)
      settle(written)
      for (const warning of warnings) written.warnings.add(warning)
    }
    // What is open may be sent in another way once more is known.
    const open = this.#textOf(items.slice(written.items.length), new CallIds(written.ids))
    const rest = joined(written.text, open.text)
    const { settled, pieces, warnings: before } = written
    const warnings = before.size === 0 ? open.warnings : [...new Set([...before, ...open.warnings])]
    return { text: joined(settled, rest), pieces: [...pieces], rest, warnings }
  }

  #writtenOf(items: readonly AnyItem[]): Written {
    const [first] = items
    const known = first === undefined ? undefined : this.#written.get(first)
    if (known !== undefined && isPrefix(known.items, items)) return known
    const none: Written = {
      items: [],
      warnings: new Set(),
      ids: new CallIds(),
      pieces: [],
      settled: '',
      text: '',
    }
    if (first !== undefined) this.#written.set(first, none)
    return none
  }

  #textOf(part: readonly AnyItem[], ids: CallIds): InputText {
    const { items, warnings } = inputItems(part, this.#options, ids)
    const text = itemsText(items)
    return { text, pieces: [], rest: text, warnings }
  }
}

function settle(written: Written): void {
  if (written.text.length < PIECE_CHARS) return
  const text = ownText(written.settled === '' ? written.text : `,${written.text}`)
  written.pieces.push(textPiece(text))
  written.settled += text
  written.text = ''
}

export function textPiece(text: string): TextPiece {
  return { text, byteLength: Buffer.byteLength(text) }
}

/** Items that are checked, as JSON without the brackets around them. */
export function itemsText(items: readonly unknown[]): string {
  if (items.length === 0) return ''
  const { input } = parseRequest({ input: items })
  return JSON.stringify(input).slice(1, -1)
}

export function joined(one: string, other: string): string {
  return one === '' || other === '' ? one + other : `${one},${other}`
}

function isPrefix(short: readonly AnyItem[], long: readonly AnyItem[]): boolean {
  return short.length <= long.length && short.every((item, at) => item === long[at])
}
