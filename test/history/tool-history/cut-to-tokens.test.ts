import { expect, test } from 'vitest'

import { cutToTokens } from '../../../src/history/tool-history/cut-to-tokens.ts'

const characters = (text: string): number => text.length

test('a text that fits is not touched', () => {
  expect(cutToTokens('abcdef', 6, characters)).toBe('abcdef')
})

test('of a longer text as much is kept as fits with the mark', () => {
  expect(cutToTokens('abcdefgh', 7, characters)).toBe('abcd...')
})

test('a mark without anything before it is nothing', () => {
  expect(cutToTokens('😀😀😀', 4, characters)).toBe('')
  expect(cutToTokens('abcdef', 3, characters)).toBe('')
})

test('no character is split', () => {
  expect(cutToTokens('a😀b😀c', 5, characters)).toBe('a...')
  expect(cutToTokens('a😀b😀c', 6, characters)).toBe('a😀...')
})

test('what a counter never finds small enough is nothing', () => {
  expect(cutToTokens('abcdef', 100, () => Number.NaN)).toBe('')
})
