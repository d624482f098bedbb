import { expect, test } from 'vitest'

import { placeInOrder } from '../../src/inspect/page/place-in-order.ts'

test('what has the room that it asks for stays where it was', () => {
  const rules = [
    { from: 0, to: 1, length: 10 },
    { from: 1, to: 2, length: 5 },
  ]
  expect(placeInOrder([0, 40, 90, 100], rules)).toEqual([0, 40, 90, 100])
})

test('what asks for more room takes it on both sides alike', () => {
  expect(placeInOrder([0, 40, 60, 100], [{ from: 1, to: 2, length: 50 }])).toEqual([0, 25, 75, 100])
})

test('what is in the way is moved on, and nothing leaves the axis', () => {
  const rules = [
    { from: 0, to: 1, length: 5 },
    { from: 1, to: 2, length: 60 },
    { from: 2, to: 3, length: 10 },
    { from: 3, to: 4, length: 20 },
  ]
  const places = placeInOrder([0, 30, 50, 65, 100], rules)
  for (const { from, to, length } of rules) {
    expect((places[to] ?? 0) - (places[from] ?? 0)).toBeGreaterThanOrEqual(length)
  }
  expect([places[0], places.at(-1)]).toEqual([0, 100])
})

test('where more is asked for than there is, everything gets less', () => {
  const rules = [
    { from: 0, to: 1, length: 150 },
    { from: 1, to: 2, length: 50 },
  ]
  expect(placeInOrder([0, 50, 100], rules)).toEqual([0, 75, 100])
})
