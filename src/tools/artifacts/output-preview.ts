import { isUtf8 } from 'node:buffer'

import { ARTIFACT_BYTES_MAX } from './artifact-writer.ts'
import { firstWhole, lastWhole } from './utf8-boundary.ts'

/** How much of an output a model is shown. */
export const PREVIEW_BYTES_MAX = 512 * 1024

const SIDE_BYTES_MAX = PREVIEW_BYTES_MAX / 2
// A line longer than this is cut: half a line is worth more than a preview without its last 100 KiB.
const LINE_BYTES_MAX = 8 * 1024
const NEWLINE = 0x0a

/** An output of which perhaps only the ends are at hand. */
export interface OutputEnds {
  /** Its first bytes. */
  readonly head: Uint8Array
  /** Its last bytes, none of which are in `head`. */
  readonly tail: Uint8Array
  /** How many it had in all. */
  readonly bytesTotal: number
  /** Where the whole is; null when it is nowhere. */
  readonly artifactId: string | null
}

/**
 * The text that a model is shown of an output: all of it up to 512 KiB, else its begin and its end, cut between lines
 * where there are any, with a note that says what is left out and how to get it. What is not UTF-8 becomes U+FFFD,
 * and a last line says so.
 */
export function previewText({ head, tail, bytesTotal, artifactId }: OutputEnds): string {
  const isWhole = head.length + tail.length >= bytesTotal
  if (isWhole && bytesTotal <= PREVIEW_BYTES_MAX) return readable([Buffer.concat([head, tail])])
  const all = isWhole ? Buffer.concat([head, tail]) : null
  const first = endAtLine((all ?? head).subarray(0, SIDE_BYTES_MAX))
  const last = startAtLine(lastOf(all ?? tail, SIDE_BYTES_MAX))
  const leftOut = bytesTotal - first.length - last.length
  const note = `[... ${leftOut} bytes left out${whereabouts(first.length, bytesTotal, artifactId)} ...]\n`
  return readable([first, Buffer.from(first.at(-1) === NEWLINE ? note : `\n${note}`), last])
}

function whereabouts(offset: number, bytesTotal: number, artifactId: string | null): string {
  if (artifactId === null) return ', they could not be stored'
  const held =
    bytesTotal > ARTIFACT_BYTES_MAX ? `, of ${bytesTotal} it has the first ${ARTIFACT_BYTES_MAX}` : ''
  return `: artifact_fetch with id ${artifactId} and offset_bytes ${offset} gives them${held}`
}

function lastOf(bytes: Uint8Array, length: number): Uint8Array {
  return bytes.subarray(Math.max(0, bytes.length - length))
}

function endAtLine(bytes: Uint8Array): Uint8Array {
  const newline = bytes.lastIndexOf(NEWLINE)
  const isNear = newline >= 0 && bytes.length - newline <= LINE_BYTES_MAX
  return bytes.subarray(0, isNear ? newline + 1 : lastWhole(bytes))
}

function startAtLine(bytes: Uint8Array): Uint8Array {
  const newline = bytes.indexOf(NEWLINE)
  const isNear = newline >= 0 && newline < LINE_BYTES_MAX
  return bytes.subarray(isNear ? newline + 1 : firstWhole(bytes))
}

function readable(parts: readonly Uint8Array[]): string {
  const text = parts.map((part) => Buffer.from(part).toString()).join('')
  if (parts.every((part) => isUtf8(part))) return text
  return `${text}${text.endsWith('\n') ? '' : '\n'}[what is not UTF-8 is shown as U+FFFD]\n`
}
