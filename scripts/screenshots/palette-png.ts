import { crc32, deflateSync } from 'node:zlib'

import type { Pixels } from './read-png.ts'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const COLOURS_MAX = 256
const INDEXED = 3
const SHADES = 0xf8

/**
 * Writes a PNG with at most 256 colours: a third of the size, and a picture of a page of text and lines needs no more.
 * The colours that are used most are kept as they are; any other becomes the nearest of them.
 */
export function palettePng({ width, height, rgba }: Pixels): Buffer {
  const counts = new Map<number, number>()
  for (let at = 0; at < rgba.length; at += 4) {
    const colour = colourAt(rgba, at)
    counts.set(colour, (counts.get(colour) ?? 0) + 1)
  }
  const palette = paletteOf(counts)
  const indexes = new Map<number, number>()
  for (const colour of counts.keys()) indexes.set(colour, nearest(palette, colour))
  const lines = Buffer.alloc((width + 1) * height)
  for (let line = 0; line < height; line += 1) {
    for (let x = 0; x < width; x += 1) {
      const index = indexes.get(colourAt(rgba, (line * width + x) * 4)) ?? 0
      lines[line * (width + 1) + 1 + x] = index
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, INDEXED, 0, 0, 0], 8)
  const colours = Buffer.from(
    palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 0xff, colour & 0xff]),
  )
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function colourAt(rgba: Uint8Array, at: number): number {
  return ((rgba[at] ?? 0) << 16) | ((rgba[at + 1] ?? 0) << 8) | (rgba[at + 2] ?? 0)
}

/** The most used colour of each group of like ones, for the groups that are used most. */
function paletteOf(counts: ReadonlyMap<number, number>): readonly number[] {
  const groups = new Map<number, { colour: number; most: number; total: number }>()
  for (const [colour, count] of counts) {
    const group = ((colour >> 16) & SHADES) * 65_536 + ((colour >> 8) & SHADES) * 256 + (colour & SHADES)
    const { most = 0, total = 0, colour: kept = colour } = groups.get(group) ?? {}
    groups.set(group, {
      colour: count > most ? colour : kept,
      most: Math.max(most, count),
      total: total + count,
    })
  }
  return [...groups.values()]
    .sort((a, b) => b.total - a.total)
    .slice(0, COLOURS_MAX)
    .map(({ colour }) => colour)
}

function nearest(palette: readonly number[], colour: number): number {
  let [best, bestDistance] = [0, Number.POSITIVE_INFINITY]
  for (const [index, candidate] of palette.entries()) {
    const red = (candidate >> 16) - (colour >> 16)
    const green = ((candidate >> 8) & 0xff) - ((colour >> 8) & 0xff)
    const blue = (candidate & 0xff) - (colour & 0xff)
    const distance = red * red + green * green + blue * blue
    if (distance < bestDistance) [best, bestDistance] = [index, distance]
  }
  return best
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, check])
}
