import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { createParser } from 'eventsource-parser'

import type { Frame } from '../../src/frames/generated/frame.ts'
import { eventText } from '../../src/frames/event-data.ts'
import { decodeChunks, decodeFixture, fixtureNames, logText, readBody, readStream } from '../decode.ts'

const streams = fixtureNames('streams').map((name) => ({ name, bytes: readStream(name) }))

/** Cuts bytes at the given places, in any order, empty chunks included. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  return ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end))
}

test('frames are identical for any chunking of any stream', () => {
  const expected = new Map(streams.map(({ name, bytes }) => [name, snapshot(decodeChunks([bytes]))]))
  fc.assert(
    fc.property(
      fc.constantFrom(...streams),
      fc.array(fc.nat({ max: 200_000 }), { maxLength: 40 }),
      ({ name, bytes }, places) => {
        expect(snapshot(decodeChunks(cut(bytes, places)))).toBe(expected.get(name))
      },
    ),
    { numRuns: 2000 },
  )
})

test.for(fixtureNames('streams'))('stream %s fed byte by byte gives the same frames', (name) => {
  const bytes = readStream(name)
  const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))
  expect(snapshot(decodeChunks(single))).toBe(snapshot(decodeFixture(name)))
})

test.for(fixtureNames('bodies'))('body %s fed byte by byte gives the same frames', (name) => {
  const bytes = readBody(name)
  const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))
  const options = { shape: 'body' } as const
  expect(snapshot(decodeChunks(single, options))).toBe(snapshot(decodeChunks([bytes], options)))
})

test.for(fixtureNames('streams'))(
  'dropping derived frames of stream %s gives back exactly the data texts that were sent',
  (name) => {
    const { frames } = decodeFixture(name)
    expect(frames.flatMap(sentText)).toEqual(dataTexts(readStream(name)))
  },
)

test('generated streams give back exactly the data texts that were sent', () => {
  const text = fc.string({ unit: 'binary', maxLength: 30 }).map((value) => value.replaceAll(/[\r\n]/gu, ' '))
  const data = fc.oneof(text, fc.json(), fc.constant('[DONE]'))
  fc.assert(
    fc.property(
      fc.array(data, { maxLength: 12 }),
      fc.array(fc.nat({ max: 5000 }), { maxLength: 12 }),
      fc.constantFrom('\n', '\r\n', '\r'),
      (texts, places, newline) => {
        const stream = texts.map((value) => `data: ${value}${newline}${newline}`).join('')
        const { frames } = decodeChunks(cut(Buffer.from(stream), places))
        expect(frames.flatMap(sentText)).toEqual(texts.map((value) => Buffer.from(value).toString('utf8')))
      },
    ),
    { numRuns: 1000 },
  )
})

function snapshot({ frames, response }: ReturnType<typeof decodeChunks>): string {
  return logText(frames) + JSON.stringify(response)
}

function sentText(frame: Frame): string[] {
  return frame.type === 'provider_event' ? [eventText(frame)] : []
}

/** What a plain SSE reader sees, told by other means: whole text, decoded once, a blank line put at its end. */
function dataTexts(bytes: Buffer): string[] {
  const texts: string[] = []
  const parser = createParser({ onEvent: ({ data }) => texts.push(data) })
  parser.feed(`${bytes.toString('utf8')}\n\n`)
  return texts
}
