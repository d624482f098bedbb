import { Buffer } from 'node:buffer'

import { expect, test } from 'vitest'

import { packBytes, unpackBytes } from '../../../src/journal/packed-bytes.ts'

const LONG = Buffer.from(
  JSON.stringify(Array.from({ length: 4000 }, (_, at) => ({ at, said: 'the same words' }))),
)

test('many bytes are stored as few, and come back as they were', () => {
  const packed = packBytes(LONG)
  expect(packed.length).toBeLessThan(LONG.length / 4)
  expect(unpackBytes(packed).equals(LONG)).toBe(true)
})

test('few bytes are stored as they are', () => {
  const short = Buffer.from('{"a":1}')
  expect(packBytes(short)).toBe(short)
  expect(unpackBytes(short).equals(short)).toBe(true)
})

test('bytes that look packed before they are packed come back as they were', () => {
  const odd = Buffer.concat([packBytes(LONG), LONG])
  expect(unpackBytes(packBytes(odd)).equals(odd)).toBe(true)
})
