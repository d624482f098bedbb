import { expect, test } from 'vitest'

import { pairedRatio } from '../../bench/measure.ts'
import { growthExponent, growthVerdict, ratioVerdict } from '../../bench/compare/verdict.ts'

const target = { measure: 'loop', figure: 'loop', client: 'loopchart', ratio: 1 }

test('a figure is the least of a client to the least of the floor', () => {
  const samples = { loop: { floor: [10, 8, 40], loopchart: [30, 9, 12] } }
  expect(ratioVerdict(samples, target, 1.25)).toMatchObject({ value: 9 / 8, limit: 1.25, isOver: false })
})

test('the gate fails as soon as a ratio is over its target with slack', () => {
  const verdicts = [10, 10.1].map((cost) =>
    ratioVerdict({ loop: { floor: [8], loopchart: [cost] } }, target, 1.25),
  )
  expect(verdicts.map(({ isOver }) => isOver)).toEqual([false, true])
})

test('where a target is not met yet, the gate holds what is reached, and still shows the target', () => {
  const known = { ...target, reached: 2 }
  const verdicts = [19.9, 20.1].map((cost) =>
    ratioVerdict({ loop: { floor: [8], loopchart: [cost] } }, known, 1.25),
  )
  expect(verdicts.map(({ isOver }) => isOver)).toEqual([false, true])
  expect(verdicts[0]?.target).toBe(1)
})

test('what was not measured does not pass', () => {
  expect(ratioVerdict({}, target, 1.25).isOver).toBe(true)
  expect(ratioVerdict({ loop: { loopchart: [1] } }, target, 1.25).isOver).toBe(true)
})

test('the exponent is 1 for cost in step with size and 2 for its square', () => {
  expect(growthExponent([40, 3], [160, 12])).toBeCloseTo(1)
  expect(growthExponent([40, 3], [160, 48])).toBeCloseTo(2)
})

test('the slack of an exponent is given to the ratio of the costs', () => {
  const growth = {
    measure: 'growth',
    client: 'loopchart',
    from: ['short', 40],
    to: ['long', 160],
    exponent: 1,
  } as const
  const at = (cost: number): boolean =>
    growthVerdict({ short: { loopchart: [10] }, long: { loopchart: [cost] } }, growth, 1.25).isOver
  expect([at(49.9), at(50.1)]).toEqual([false, true])
})

test('the ratio of a client is the median of the ratios to the floor of the same round', () => {
  // A round in which the machine was slow counts as any other, since it was slow for both.
  expect(pairedRatio([20, 200, 33], [10, 100, 11])).toBe(2)
})
