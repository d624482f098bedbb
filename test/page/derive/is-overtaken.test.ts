import { expect, test } from 'vitest'

import { isOvertaken } from '../../../src/inspect/page/derive/is-overtaken.ts'

const STEPS = [
  { seq: 0, state: 'responding' },
  { seq: 9, state: 'awaiting' },
  { seq: 12, state: 'running' },
]

test('an answer that names where the run is holds, whether it was there before or came there since', () => {
  expect(isOvertaken(STEPS, 10, 'running')).toBe(false)
  expect(isOvertaken(STEPS, 14, 'running')).toBe(false)
})

test('an answer that names where the run was is overtaken', () => {
  const later = [...STEPS, { seq: 20, state: 'done' }]
  expect(isOvertaken(later, 10, 'running')).toBe(true)
  expect(isOvertaken(later, 14, 'running')).toBe(true)
  expect(isOvertaken([...later, { seq: 25, state: 'running' }], 10, 'running')).toBe(false)
})

test('an answer that is ahead of what was read of the log is not overtaken', () => {
  expect(isOvertaken(STEPS.slice(0, 2), 10, 'running')).toBe(false)
  expect(isOvertaken([{ seq: 0, state: 'running' }, ...STEPS.slice(1, 2)], 10, 'running')).toBe(false)
  expect(isOvertaken([], -1, 'running')).toBe(false)
})
