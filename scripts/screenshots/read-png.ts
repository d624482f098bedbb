import { inflateSync } from 'node:zlib'

/** A picture: four bytes a pixel, line by line. */
export interface Pixels {
  readonly width: number
  readonly height: number
  readonly rgba: Uint8Array
}

const SIGNATURE_BYTES = 8
const CHUNK_EXTRA_BYTES = 12
const CHANNELS: Readonly<Record<number, number>> = { 2: 3, 6: 4 }

/** Reads a PNG as browsers write it: 8 bits a channel, colours with or without transparency, not interlaced. */
export function readPng(png: Buffer): Pixels {
  const parts: Buffer[] = []
  let at = SIGNATURE_BYTES
  while (at < png.length) {
    const length = png.readUInt32BE(at)
    const type = png.toString('latin1', at + 4, at + 8)
    if (type === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length))
    at += length + CHUNK_EXTRA_BYTES
  }
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)]
  const channels = CHANNELS[png[25] ?? 0]
  if (channels === undefined || png[24] !== 8 || png[28] !== 0)
    throw new Error('this kind of PNG is not read')
  const lines = unfiltered(inflateSync(Buffer.concat(parts)), width * channels, height, channels)
  const rgba = new Uint8Array(width * height * 4).fill(255)
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    for (let channel = 0; channel < channels; channel += 1) {
      rgba[pixel * 4 + channel] = lines[pixel * channels + channel] ?? 0
    }
  }
  return { width, height, rgba }
}

/** Takes back what makes lines compress better. PNG, "Filtering". */
function unfiltered(data: Buffer, lineBytes: number, height: number, step: number): Uint8Array {
  const out = new Uint8Array(lineBytes * height)
  for (let line = 0; line < height; line += 1) {
    const filter = data[line * (lineBytes + 1)] ?? 0
    for (let x = 0; x < lineBytes; x += 1) {
      const at = line * lineBytes + x
      const left = x < step ? 0 : (out[at - step] ?? 0)
      const up = line === 0 ? 0 : (out[at - lineBytes] ?? 0)
      const corner = x < step || line === 0 ? 0 : (out[at - lineBytes - step] ?? 0)
      const byte = data[line * (lineBytes + 1) + 1 + x] ?? 0
      out[at] = byte + predicted(filter, left, up, corner)
    }
  }
  return out
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left
  if (filter === 2) return up
  if (filter === 3) return (left + up) >> 1
  if (filter !== 4) return 0
  const [byLeft, byUp, byCorner] = [left, up, corner].map((one) => Math.abs(left + up - corner - one))
  if (byLeft === undefined || byUp === undefined || byCorner === undefined) return 0
  if (byLeft <= byUp && byLeft <= byCorner) return left
  return byUp <= byCorner ? up : corner
}
