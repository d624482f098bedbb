import { Buffer } from 'node:buffer'
import { deflateRawSync, inflateRawSync } from 'node:zlib'

// Shorter ones, as those of a response that comes in, would gain little and wait for it.
const PACKED_FROM = 32 * 1024
// No text begins with it.
const MARK = Buffer.from([0, 0x70, 0x6b, 1])
const UNPACKED_MAX = 1024 * 1024 * 1024

/**
 * The bytes of a text as they are stored: packed, when they are many. A run of a conversation begins with all that it is
 * told, so a long conversation is stored many times over.
 */
export function packBytes(bytes: Buffer): Buffer {
  if (bytes.length < PACKED_FROM) return bytes
  return Buffer.concat([MARK, deflateRawSync(bytes, { level: 1 })])
}

/** What `packBytes` was given. Throws when it was not given anything. */
export function unpackBytes(bytes: Uint8Array): Buffer {
  const stored = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!stored.subarray(0, MARK.length).equals(MARK)) return stored
  return inflateRawSync(stored.subarray(MARK.length), { maxOutputLength: UNPACKED_MAX })
}
