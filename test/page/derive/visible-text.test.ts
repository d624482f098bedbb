import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { visibleText } from '../../../src/inspect/page/derive/visible-text.ts'

const shown = (text: string): string =>
  visibleText(text)
    .map((run) => (run.hidden === null ? run.text : `<${run.text}>`))
    .join('')

test('control characters and what turns text around are named in their place', () => {
  expect(shown('a\u001b[31mb\u0007\r\nc\u007f')).toBe('a<␛>[31mb<␇><␍>\nc<␡>')
  expect(shown('safe\u202Etxt.exe\u2066')).toBe('safe<U+202E>txt.exe<U+2066>')
  expect(shown('a\u200Bb\uFEFF\u{E0041}\u009b')).toBe('a<U+200B>b<U+FEFF><U+E0041><U+009B>')
  expect(shown('\uD800')).toBe('<U+D800>')
})

test('lines, tabs, emoji and scripts that join their letters are left as they are', () => {
  const text = 'one\n\ttwo 👩‍💻 ❤️ می‌خواهم'
  expect(visibleText(text)).toEqual([{ text, hidden: null }])
})

test('nothing of a text is lost or added, whatever is in it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const back = visibleText(text).map(({ text, hidden }) =>
        hidden === null ? text : String.fromCodePoint(Number.parseInt(hidden.slice(2), 16)),
      )
      expect(back.join('')).toBe(text)
    }),
  )
})
