import { expect, test } from 'vitest'

import { indexAfterKey, rowsInView, scrollToShow } from '../../src/inspect/page/row-window.ts'

test('of a hundred thousand rows only those in view and a few around them are drawn', () => {
  const { first, end } = rowsInView(50_000 * 20, 400, 20, 100_000)
  expect(first).toBe(50_000 - 4)
  expect(end).toBe(50_020 + 4)
})

test('a list that has become shorter than its scroll draws no row that is not there', () => {
  const { first, end } = rowsInView(10_000, 400, 20, 3)
  expect(end).toBe(3)
  expect(first).toBeLessThanOrEqual(end)
  expect(rowsInView(0, 400, 20, 0)).toEqual({ first: 0, end: 0 })
})

test('a row that is seen moves nothing', () => {
  expect(scrollToShow(10, 20, 150, 400)).toBe(150)
  expect(scrollToShow(7, 20, 140, 400)).toBe(140)
})

test('the next row moves the list by just as much as is needed', () => {
  expect(scrollToShow(20, 20, 0, 400)).toBe(20)
  expect(scrollToShow(4, 20, 100, 400)).toBe(80)
})

test('a row far away comes to the middle', () => {
  const top = scrollToShow(500, 20, 0, 400)
  expect(top).toBe(500 * 20 - 190)
  expect(scrollToShow(2, 20, 5000, 400)).toBe(0)
})

test.each([
  ['ArrowDown', 5, 6],
  ['ArrowUp', 5, 4],
  ['ArrowUp', 0, 0],
  ['ArrowDown', 99, 99],
  ['PageDown', 5, 14],
  ['PageUp', 50, 41],
  ['Home', 50, 0],
  ['End', 50, 99],
])('%s leads from row %i to row %i of a hundred', (key, from, to) => {
  expect(indexAfterKey(key, from, 100, 10)).toBe(to)
})

test('a list without rows has no key', () => {
  expect(indexAfterKey('End', -1, 0, 10)).toBeNull()
  expect(indexAfterKey('a', 0, 10, 10)).toBeNull()
})
