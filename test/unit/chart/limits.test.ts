import { expect, test } from 'vitest'

import { initialContext, reachedLimit, takeResponse } from '../../../machines/loop.rules.ts'
import type { LoopContext, LoopLimits } from '../../../machines/loop.types.ts'
import { LOOP_SCENARIOS } from '../../../src/chart/loop-scenarios.ts'
import { ASKED, asks, type CallCase } from '../../../src/chart/response-cases.ts'

const { input } = LOOP_SCENARIOS[0]

test.for<[string, Partial<LoopLimits>, readonly CallCase[]]>([
  ['are duplicates', { toolCalls: 1 }, [{ disposition: 'duplicate' }, {}]],
  [
    'are too many for one response',
    { toolCalls: 1, callsPerResponse: 2 },
    [{ disposition: 'duplicate' }, {}, {}],
  ],
  ['are too many for their tool', { toolCalls: 1 }, [{ maxCalls: 1 }, { maxCalls: 1 }]],
])('calls that will not run since they %s do not use up the limit of calls', ([, limits, calls]) => {
  expect(reachedLimit(asked(limits, calls))).toBeNull()
})

test('a call that needs a yes counts before anybody says it', () => {
  const reached = { limit: 'tool_calls', used: 2, allowed: 1 }
  expect(reachedLimit(asked({ toolCalls: 1 }, [{}, { approval: ASKED }]))).toEqual(reached)
})

function asked(limits: Partial<LoopLimits>, calls: readonly CallCase[]): LoopContext {
  const settings = { ...input.settings, limits: { ...input.settings.limits, ...limits } }
  const context = initialContext({ ...input, settings })
  return { ...context, ...takeResponse(context, asks(...calls)(context)) }
}
