import { hash } from 'node:crypto'

import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { sha256 } from '../../src/inspect/sha256.ts'

test('the hash without Node is that of Node, for texts of every length around a block', () => {
  for (let length = 0; length < 200; length += 1) {
    const text = 'ä'.repeat(length % 7) + 'x'.repeat(length)
    expect(sha256(text), `${length} characters`).toBe(hash('sha256', text, 'base64url'))
  }
})

test('the hash without Node is that of Node, for any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
      expect(sha256(text)).toBe(hash('sha256', text, 'base64url'))
    }),
  )
})
