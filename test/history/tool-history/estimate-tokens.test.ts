import { expect, test } from 'vitest'

import { estimateTokens } from '../../../src/history/index.ts'

test.each([
  ['', 0],
  ['a', 1],
  ['abcd', 1],
  ['abcde', 2],
  ['a'.repeat(400), 100],
])('T20: ASCII has a token for each four characters, rounded up: %j', (text, tokens) => {
  expect(estimateTokens(text)).toBe(tokens)
})

test('eight Japanese characters are eight tokens and not two', () => {
  expect(estimateTokens('日本語の文章です')).toBe(8)
})

test('a character of two bytes is half a token', () => {
  expect(estimateTokens('привет')).toBe(3)
})

test('an emoji is counted once, as two tokens, and not by its two surrogates', () => {
  expect(estimateTokens('😀')).toBe(2)
  expect(estimateTokens('😀😀😀')).toBe(6)
})

test('half of a surrogate pair is counted as a character of three bytes', () => {
  expect(estimateTokens('\ud83d')).toBe(1)
  expect(estimateTokens('\ude00\ud83d')).toBe(2)
})

test('mixed text is added up before it is rounded', () => {
  expect(estimateTokens('ab語')).toBe(2)
  expect(estimateTokens('abcd語é')).toBe(3)
})
