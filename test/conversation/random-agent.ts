import { setImmediate as nextTick } from 'node:timers/promises'

import { agent, type AgentOptions } from '../../src/agent.ts'
import type { ConversationOptions } from '../../src/conversation/conversation-api.ts'
import type { Agent } from '../../src/loop/agent.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { openResponses, type OpenResponsesModel } from '../../src/provider/open-responses.ts'
import { tool, type Tool } from '../../src/tools/tool.ts'
import { Random } from '../simulation/random.ts'
import type { RandomProvider } from './random-provider.ts'

/** How a conversation reaches its provider. */
export interface RandomCase {
  readonly continuity: 'stateful' | 'cursor' | 'stateless'
  readonly strategy: 'native' | 'text-embed'
  readonly seed: number
}

/** Every way of carrying a conversation with every way of telling earlier calls. */
export const RANDOM_CASES: readonly Omit<RandomCase, 'seed'>[] = (
  ['stateful', 'cursor', 'stateless'] as const
).flatMap((continuity) => (['native', 'text-embed'] as const).map((strategy) => ({ continuity, strategy })))

export interface RandomSettings {
  /** Nothing is stored: reasoning goes there and back sealed. */
  readonly isUnstored: boolean
  readonly agent: (provider: RandomProvider) => Agent
  readonly conversation: (provider: RandomProvider) => Omit<ConversationOptions, 'id' | 'store'>
}

/** Settings that are the seed's: the same each time that the conversation is opened. */
export function randomSettings({ continuity, strategy, seed }: RandomCase): RandomSettings {
  const random = new Random(seed * 7 + 1)
  const isUnstored = continuity === 'stateless' && random.chance(0.5)
  const options: Omit<AgentOptions, 'model'> = {
    instructions: 'Be brief.',
    tools: TOOLS,
    continuity: continuity === 'stateless' ? 'stateless' : random.pick(['auto', 'previous_response_id']),
    ...(isUnstored && { request: { store: false, encryptedReasoning: true } }),
    toolExecution: 'parallel',
    maxConcurrency: random.between(2, 4),
    limits: { turns: random.between(4, 8), toolCalls: random.between(6, 20) },
    onLimit: random.pick(['stop', 'wrap_up']),
    onIncomplete: random.pick(['stop', 'continue']),
    // A millisecond at most: there is nobody to be patient with.
    retry: { times: random.between(0, 2), waitMs: 1, waitMaxMs: 1 },
    compaction: {
      way: random.pick(['rules', 'model', 'provider']),
      // What a cursor stands for is not sent again, and counts all the same.
      atItems: continuity === 'cursor' ? random.between(50, 120) : random.between(20, 60),
      keepTokens: random.between(100, 2000),
    },
  }
  const compaction = {
    way: random.pick(['rules', 'model', 'provider'] as const),
    atMessages: random.between(12, 40),
  }
  const hasSummarizer = random.chance(0.3)
  return {
    isUnstored,
    agent: (provider) => agent({ ...options, model: modelAt(provider) }),
    conversation: (provider) => ({
      toolHistory: {
        strategy,
        ...(hasSummarizer && { toolHistorySummarizationModel: modelAt(provider) }),
      },
      crossRunCursor: continuity === 'cursor' ? 'use' : 'omit',
      compaction,
    }),
  }
}

function modelAt({ url, fetch }: RandomProvider): OpenResponsesModel {
  return openResponses({ baseUrl: url, model: 'random-1', compact: true, fetch })
}

type Execute = (args: JsonObject) => unknown

function make(name: string, execute: Execute, settings: Partial<Parameters<typeof tool>[0]> = {}): Tool {
  return tool({
    description: `Does what ${name} does and says so.`,
    inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    ...settings,
    name,
    execute,
  } as Parameters<typeof tool>[0])
}

// Each output has a mark that nothing else has.
const TOOLS = [
  make('look', ({ n }) => `[t${Number(n)}] seen`, { readOnly: true }),
  make('post', ({ n }) => ({ posted: `[t${Number(n)}]` })),
  make('ask', ({ n }) => `[t${Number(n)}] asked`, { needsApproval: true }),
  make('slow', async ({ n }) => {
    for (let turn = 0; turn < 5; turn += 1) await nextTick()
    return `[t${Number(n)}] at last`
  }),
  make('fail', ({ n }) => {
    throw new Error(`[t${Number(n)}] it broke`)
  }),
]
