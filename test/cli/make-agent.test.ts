import { expect, test } from 'vitest'

import { makeAgent } from '../../src/cli/make-agent.ts'
import type { Model } from '../../src/loop/model.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'

const NO_TOOLS = { tools: [], policy: [], isUntrusted: false, workspace: {}, notes: [] }

function made(model: Model, config: Parameters<typeof makeAgent>[1]) {
  return makeAgent({ model, close: () => Promise.resolve() }, config, NO_TOOLS)
}

test('A run of the command line is made shorter from 80 % of the window on, where that is known.', () => {
  expect(made(scriptedModel([], { contextWindow: 1000 }), {}).settings.compactAtTokens).toBe(800)
  expect(made(scriptedModel([]), {}).settings.compactAtTokens).toBeNull()
})

test('The rules make it shorter where the provider has no way of its own.', () => {
  const config = { compact_way: 'provider' } as const
  expect(made(scriptedModel([], { contextWindow: 1000 }), config).compaction?.way).toBe('rules')
  const compacting = scriptedModel([], { contextWindow: 1000, compact: true })
  expect(made(compacting, config).compaction?.way).toBe('provider')
})
