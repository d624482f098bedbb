import { expect, test } from 'vitest'

import { columnAfter } from '../../src/cli/cursor-column.ts'

test.for([
  ['ends before the margin', 'abc', 3],
  ['fills the row', '0123456789', 10],
  ['goes on in the next row', '0123456789a', 1],
  ['fills the second row', '01234567890123456789', 10],
  ['ends with a line', 'abc\n', 0],
  ['has a full row and ends with a line', '0123456789\n', 0],
  ['has a tab', 'a\tb', 9],
  ['has a tab that stops at the margin', 'abcdefghi\t', 9],
  ['has wide characters', '漢字', 4],
  ['has a wide character that does not fit', '012345678漢', 2],
  ['has characters without a width', 'e\u0301e\u0301', 2],
  ['has a full row and a mark on its last character', '012345678e\u0301', 10],
  ['has a picture', '😀', 2],
] as const)('the cursor is where a terminal has it after a text that %s', ([, text, column]) => {
  expect(columnAfter(0, text, 10)).toBe(column)
})

test('a text counts the same in one piece and in many', () => {
  const text = 'some 漢字 text\twith\nlines and e\u0301 more of it'
  const whole = columnAfter(0, text, 10)
  expect(Array.from(text).reduce((column, piece) => columnAfter(column, piece, 10), 0)).toBe(whole)
})

test('without a margin a row is never full', () => {
  expect(columnAfter(0, 'x'.repeat(500), Number.POSITIVE_INFINITY)).toBe(500)
})
