import { expect, test } from 'vitest'

import { oneLine, readableText, safeJson, safeText } from '../../src/cli/safe-text.ts'
import { ESCAPE_PAYLOADS, RAW } from './escape-payloads.ts'

test('there are one hundred payloads, and each of them is one', () => {
  expect(new Set(ESCAPE_PAYLOADS).size).toBe(100)
  expect(ESCAPE_PAYLOADS.filter((payload) => !RAW.test(payload))).toEqual([])
})

test('fault T20: nothing that a terminal obeys or hides is left of any payload', () => {
  for (const payload of ESCAPE_PAYLOADS) {
    for (const safe of [safeText, oneLine]) expect(safe(`a${payload}b`)).not.toMatch(RAW)
    expect(readableText(`a${payload}b`).replaceAll(/[\u200c\u200d]/gu, '')).not.toMatch(RAW)
    const json = safeJson(JSON.stringify({ text: `a${payload}b` }))
    expect(json).not.toMatch(RAW)
    expect(JSON.parse(json)).toEqual({ text: `a${payload}b` })
  }
})

test('what was there is shown: controls as escapes, marks by their numbers', () => {
  expect(safeText('\u001b[2J\u009b')).toBe(String.raw`\u001b[2J\u009b`)
  expect(safeText('a\u202eb\u200bc\u{e0041}d\ud800e')).toBe('a⟦U+202E⟧b⟦U+200B⟧c⟦U+E0041⟧d⟦U+D800⟧e')
})

test('an answer has the joiners that scripts and emoji are written with, and nothing else that is hidden', () => {
  const text = 'می\u200cخواهم 👩\u200d💻 क्\u200dष'
  expect(readableText(text)).toBe(text)
  expect(readableText('a\u200d\u202eb\u200b\u001b[2J\r\n')).toBe('a\u200d⟦U+202E⟧b⟦U+200B⟧\\u001b[2J\n')
  expect(safeText('a\u200db')).toBe('a⟦U+200D⟧b')
})

test('what is nothing special stays: lines, tabs, letters of all scripts, emoji', () => {
  const text = 'a\tb\nc é ß 漢字 עברית العربية 👍 ❤️'
  expect(safeText(text)).toBe(text)
  expect(safeText('a\r\nb')).toBe('a\nb')
  expect(oneLine(' a\r\n\tb ')).toBe('a b')
})
