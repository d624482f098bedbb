import { Buffer } from 'node:buffer'
import { createHmac } from 'node:crypto'

import { isJsonObject, parseJson } from '../../protocol/json.ts'
import type { CreateResponseBody } from '../../protocol/requests.ts'
import { badRequest, type Refusal } from './refusal.ts'

/** What a compaction item stands for, as far as it matters for what may come after it. */
export interface Compacted {
  /** How many turns its conversation has had. */
  readonly turns: number
  /** The calls in it: each has its output, so that neither may come again. */
  readonly callIds: readonly string[]
}

/**
 * Writes it down as text that only the same place takes back, as providers do who encrypt it. It depends on nothing
 * that was stored: whoever is at that place later can read it.
 */
export function sealCompaction(place: string, compacted: Compacted): string {
  const text = Buffer.from(JSON.stringify(compacted)).toString('base64url')
  return `${text}.${sealOf(place, text)}`
}

/** Reads it back; null for what was altered, comes from another place, or never was a compaction. */
export function openCompaction(place: string, sealed: string): Compacted | null {
  const [text = '', seal = '', ...more] = sealed.split('.')
  if (more.length > 0 || seal !== sealOf(place, text)) return null
  const value = parseJson(Buffer.from(text, 'base64url').toString('utf8'))
  if (!isJsonObject(value)) return null
  const { turns, callIds } = value
  if (typeof turns !== 'number' || !Array.isArray(callIds)) return null
  return { turns, callIds: callIds.filter((id) => typeof id === 'string') }
}

/** Why the compaction items of a request cannot be taken. Null: they can. */
export function checkCompactions(
  place: string,
  { input }: Pick<CreateResponseBody, 'input'>,
): Refusal | null {
  if (typeof input === 'string') return null
  for (const item of input ?? []) {
    if (item.type !== 'compaction' || openCompaction(place, item.encrypted_content) !== null) continue
    const name = item.id?.slice(0, 100) ?? ''
    return badRequest(
      `The encrypted content for item ${name} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
      { code: 'invalid_encrypted_content', param: 'input' },
    )
  }
  return null
}

function sealOf(place: string, text: string): string {
  return createHmac('sha256', place).update(text).digest('base64url')
}
