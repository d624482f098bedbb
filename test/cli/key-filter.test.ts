import { array, assert, constantFrom, nat, pre, property, string } from 'fast-check'
import { expect, test } from 'vitest'

import { fromEditable, toEditable } from '../../src/cli/editable-text.ts'
import { KeyFilter } from '../../src/cli/key-filter.ts'

const START = '\u001b[200~'
const END = '\u001b[201~'

/** What a filter gives for input that comes in pieces, with a bar after each line. */
function filtered(...pieces: readonly string[]): string {
  const filter = new KeyFilter()
  let given = ''
  for (const piece of pieces) {
    filter.push(piece)
    for (let keys = filter.take(); keys !== null; keys = filter.take()) given += keys
  }
  return given
}

test('a pasted text of many lines is one piece without the end of a line', () => {
  expect(filtered(`${START}one\r\n\ttwo\nthree${END}`)).toBe('one⏎⇥two⏎three')
  expect(fromEditable('one⏎⇥two⏎three')).toBe('one\n\ttwo\nthree')
})

test('what a terminal would obey is taken out of a pasted text, and left in what is typed', () => {
  expect(filtered(`a\u001b[D${START}b\u001b[31m\u0007\u0003c${END}`)).toBe('a\u001b[Db[31mc')
})

test('what follows the end of a line waits for the next one', () => {
  const filter = new KeyFilter()
  filter.push('one\r\ntwo\nthr')
  expect([filter.take(), filter.take(), filter.take(), filter.take()]).toEqual([
    'one\r',
    'two\r',
    'thr',
    null,
  ])
})

test('the end of a line behind a paste is not the end of a line in it', () => {
  const filter = new KeyFilter()
  filter.push(`say ${START}a\nb${END}\rnext`)
  expect([filter.take(), filter.take(), filter.take()]).toEqual(['say a⏎b', '\r', 'next'])
})

test('escape alone is a key at once', () => {
  expect(filtered('\u001b')).toBe('\u001b')
})

test('a paste is the same in whatever pieces it comes', () => {
  const part = constantFrom('word', ' ', '\n', '\t', `${START}a\nb\tc${END}`, `${START}${END}`, 'é')
  assert(
    property(array(part), array(nat(60)), (parts, cuts) => {
      const text = parts.join('')
      const at = [...new Set([0, ...cuts.filter((cut) => cut < text.length), text.length])].toSorted(
        (a, b) => a - b,
      )
      // Escape alone is a key, so no piece ends behind one.
      const places = at.filter((place) => text[place - 1] !== '\u001b')
      const pieces = places.map((place, index) => text.slice(place, places[index + 1] ?? text.length))
      expect(filtered(...pieces)).toBe(filtered(text))
    }),
  )
})

test('a text comes back from the editor as it was, but for what a terminal would obey', () => {
  assert(
    property(string({ unit: 'binary' }), (text) => {
      pre(!/[⏎⇥]/u.test(text))
      expect(toEditable(text)).not.toMatch(OBEYED)
      const kept = text.replaceAll(/\r\n?/gu, '\n')
      const lines = kept.split('\n').map((line) => line.split('\t').map(withoutObeyed).join('\t'))
      expect(fromEditable(toEditable(text))).toBe(lines.join('\n'))
    }),
  )
})

// oxlint-disable-next-line no-control-regex -- the characters that a terminal obeys
const OBEYED = /[\u0000-\u001f\u007f-\u009f]/u

function withoutObeyed(text: string): string {
  return Array.from(text)
    .filter((character) => !OBEYED.test(character))
    .join('')
}
