import { Buffer } from 'node:buffer'

import type { ProviderEventFrame } from '../frames/generated/frame.ts'

/** The data of an event, byte for byte as the provider sent it. */
export function dataBytes({ raw, raw_base64: base64 }: ProviderEventFrame): Buffer {
  return raw === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(raw)
}

const [LF, CR] = [0x0a, 0x0d]
const DATA = Buffer.from('data: ')
const END_OF_LINE = Buffer.from('\n')

/** An event as text/event-stream, without the blank line that ends it: the shortest framing that gives it again. */
export function eventBytes(frame: ProviderEventFrame): Buffer {
  const { event_name: name, raw } = frame
  const head = name === null ? '' : `event: ${name}\n`
  if (raw !== undefined) return Buffer.from(`${head}data: ${raw.replaceAll(/\r\n|\r|\n/gu, '\ndata: ')}\n`)
  const parts: Buffer[] = [Buffer.from(head)]
  const bytes = dataBytes(frame)
  let from = 0
  for (let at = 0; at <= bytes.length; at += 1) {
    if (at < bytes.length && bytes[at] !== LF && bytes[at] !== CR) continue
    parts.push(DATA, bytes.subarray(from, at), END_OF_LINE)
    from = at + 1
  }
  return Buffer.concat(parts)
}
