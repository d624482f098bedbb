import { expect, test } from 'vitest'

import { describeCost, describeTokens, usageSince } from '../../src/cli/describe-usage.ts'

const BEFORE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cached: 4, reasoning: 1 }
const AFTER = { prompt_tokens: 1010, completion_tokens: 55, total_tokens: 1065, cached: 804, reasoning: 21 }

test('cached and reasoning tokens are shown where there are any', () => {
  expect(describeTokens(usageSince(BEFORE, AFTER))).toBe(
    '1,050 tokens (1000 in with 800 cached, 50 out with 20 reasoning)',
  )
  expect(describeTokens({ ...BEFORE, cached: 0, reasoning: 0 })).toBe('15 tokens (10 in, 5 out)')
})

test('a cost that is small keeps the digits that count', () => {
  expect([0, 0.00042631, 1234.5].map(describeCost)).toEqual(['cost 0', 'cost 0.0004263', 'cost 1,235'])
})
