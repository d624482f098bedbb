import { codePointLength } from '../protocol/code-point-length.ts'

/** Where the text goes: as it is, or inside a JSON string, where some characters take two or six. */
export type TextPlace = 'plain' | 'json_string'

// Room for the mark with any count in it, its line ends escaped.
const MARK_LENGTH_MAX = 64

const COST_MAX: Readonly<Record<TextPlace, number>> = { plain: 1, json_string: 6 }

/**
 * A text that takes at most `lengthMax` code points where it goes. What is over is taken from the middle, and
 * the cut says how much: the begin of an output tells what ran, its end how that went.
 */
export function cutMiddle(text: string, lengthMax: number, place: TextPlace): string {
  if (lengthIn(text, place, lengthMax) <= lengthMax) return text
  const halfMax = Math.max(0, Math.floor((lengthMax - MARK_LENGTH_MAX) / 2))
  const head = endOfHead(text, halfMax, place)
  const tail = startOfTail(text, halfMax, place)
  const leftOut = codePointLength(text.slice(head, tail))
  return `${text.slice(0, head)}\n[... ${leftOut} characters left out ...]\n${text.slice(tail)}`
}

/**
 * The code points that a text takes where it goes. The count may stop as soon as it is over `enough`.
 */
export function lengthIn(text: string, place: TextPlace, enough = Infinity): number {
  let length = 0
  for (let at = 0; at < text.length && length <= enough; at += widthAt(text, at)) {
    length += costAt(text, at, place)
  }
  return length
}

/** Whether a text of so many units fits, whatever they are. */
export function surelyFits(units: number, lengthMax: number, place: TextPlace): boolean {
  return units * COST_MAX[place] <= lengthMax
}

function endOfHead(text: string, lengthMax: number, place: TextPlace): number {
  let at = 0
  for (let length = 0; at < text.length; at += widthAt(text, at)) {
    length += costAt(text, at, place)
    if (length > lengthMax) break
  }
  return at
}

function startOfTail(text: string, lengthMax: number, place: TextPlace): number {
  let at = text.length
  for (let length = 0; at > 0;) {
    const before = at >= 2 && isPair(text, at - 2) ? at - 2 : at - 1
    length += costAt(text, before, place)
    if (length > lengthMax) break
    at = before
  }
  return at
}

function widthAt(text: string, at: number): number {
  return isPair(text, at) ? 2 : 1
}

function isPair(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc_00) === 0xd8_00 && (text.charCodeAt(at + 1) & 0xfc_00) === 0xdc_00
}

// As JSON.stringify writes it: short escapes, \u00xx for other controls, \udxxx for half a pair.
function costAt(text: string, at: number, place: TextPlace): number {
  if (place === 'plain') return 1
  const code = text.charCodeAt(at)
  if (code === 34 || code === 92) return 2
  if (code < 32) return (code >= 8 && code <= 10) || code === 12 || code === 13 ? 2 : 6
  return (code & 0xf8_00) === 0xd8_00 && !isPair(text, at) ? 6 : 1
}
