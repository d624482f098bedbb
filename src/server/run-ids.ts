import { hash, randomBytes } from 'node:crypto'

/** What a run or a conversation may be called. Ids are never part of a path, and what is not one is not looked up. */
export const RUN_ID = /^[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9_-])){0,254}$/u

/** A new UUID of version 7 (RFC 9562): later ones sort behind. */
export function newRunId(nowMs: number): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(Math.max(0, Math.floor(nowMs)), 0, 6)
  return uuid(bytes, 7)
}

/** The same UUID, of version 8, for the same key of the same token. */
export function keyedRunId(tokenId: string, key: string): string {
  return uuid(hash('sha256', `loopchart run\n${tokenId}\n${key}`, 'buffer'), 8)
}

function uuid(bytes: Buffer, version: number): string {
  bytes.writeUInt8((version << 4) | (bytes.readUInt8(6) & 0x0f), 6)
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8)
  const hex = bytes.toString('hex', 0, 16)
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
