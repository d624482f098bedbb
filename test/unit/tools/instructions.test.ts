import { expect, test } from 'vitest'

import { instructions } from '../../../src/tools/instructions.ts'

test('instructions without parts say when to use tools and when the work is done', () => {
  const text = instructions()
  expect(text.match(/^# .*$/gm)).toEqual(['# Role', '# Tools', '# When you are done', '# Answer', '# Safety'])
  expect(text).toContain('The task is finished when')
  expect(text).toContain('never repeat the same call unchanged')
})

test('a part replaces its default, an empty one leaves it out', () => {
  const text = instructions({ role: ' You sort mail. ', safety: '', answerFormat: 'One word.' })
  expect(text).toMatch(/^# Role\nYou sort mail\.\n\n# Tools\n/)
  expect(text).toMatch(/\n\n# Answer\nOne word\.$/)
})

test('equal parts give equal bytes, whatever their order', () => {
  expect(instructions({ role: 'a', safety: 'b' })).toBe(instructions({ safety: 'b', role: 'a' }))
})
