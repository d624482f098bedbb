import { Buffer } from 'node:buffer'

import { parseJson, type Json } from '../protocol/json.ts'
import type { ProviderEventFrame } from './generated/frame.ts'

/** The data text of a provider event; where its bytes were not UTF-8, U+FFFD stands for what could not be read. */
export function eventText(frame: ProviderEventFrame): string {
  return frame.raw ?? Buffer.from(frame.raw_base64 ?? '', 'base64').toString('utf8')
}

/** What a provider event's text parses to; undefined for `[DONE]` and for what is not JSON. */
export function eventData(frame: ProviderEventFrame): Json | undefined {
  return frame.status === 'event' ? parseJson(eventText(frame)) : undefined
}
