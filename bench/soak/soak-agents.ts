import { setTimeout as sleep } from 'node:timers/promises'

import { z } from 'zod'

import { agent, type AgentOptions } from '../../src/agent.ts'
import type { ConversationOptions } from '../../src/conversation/conversation-api.ts'
import type { Agent } from '../../src/loop/agent.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { openResponses, type OpenResponsesModel } from '../../src/provider/open-responses.ts'
import { tool, type Tool } from '../../src/tools/tool.ts'

/** One way of having conversations: they all differ in how the conversation is carried, told and made shorter. */
export interface SoakWay {
  readonly agent: () => Agent
  readonly options: Omit<ConversationOptions, 'id' | 'store'>
  /** Whether each conversation opens the store by its path, for itself. */
  readonly isByPath: boolean
}

// Small enough for compaction within the life of a conversation.
const CONTEXT = { budgetTokens: 2_000 }

/** The ways, which the conversations take in turn. */
export function soakWays(baseUrl: string): readonly SoakWay[] {
  const model = openResponses({
    baseUrl,
    model: 'soak-1',
    compact: true,
    // Silence within a stream is injected; that the provider has no core for some seconds is not.
    timeouts: { connectMs: 9_000, headersMs: 20_000, idleMs: 3_000 },
  })
  const byId = agentOf(model, { continuity: 'previous_response_id' })
  const whole = agentOf(model, { continuity: 'stateless', toolExecution: 'parallel' })
  const cursor = agentOf(model, { continuity: 'auto', toolExecution: 'parallel' })
  return [
    { agent: () => byId, options: { context: CONTEXT, compaction: { way: 'rules' } }, isByPath: false },
    {
      agent: () => whole,
      options: {
        context: CONTEXT,
        compaction: { way: 'model' },
        toolHistory: { strategy: 'native', recentCallsToKeep: 2 },
      },
      isByPath: false,
    },
    {
      agent: () => cursor,
      options: { context: CONTEXT, compaction: { way: 'provider' }, crossRunCursor: 'use' },
      isByPath: false,
    },
    {
      // Made anew for each conversation, as by a service whose users have instructions of their own.
      agent: () => agentOf(model, { continuity: 'stateless', compaction: { atItems: 6, keepTokens: 200 } }),
      options: { context: CONTEXT, toolHistory: { strategy: 'text-embed' } },
      isByPath: true,
    },
  ]
}

function agentOf(model: OpenResponsesModel, options: Partial<AgentOptions>): Agent {
  const common = {
    model,
    instructions: 'Do the sums that you are asked for.',
    retry: { times: 2, waitMs: 20, waitMaxMs: 100 },
  }
  const helper = agent({ ...common, tools: [addTool()] })
  const ask = helper.asTool({ name: 'ask', description: 'Ask somebody who is good with numbers.' })
  return agent({ ...common, tools: [...soakTools(), ask], ...options })
}

// By raw JSON Schema, which is compiled; the others are by zod, which is not.
const SUM: JsonObject = {
  type: 'object',
  properties: { a: { type: 'number' }, b: { type: 'number' } },
  required: ['a', 'b'],
  additionalProperties: false,
}

function addTool(): Tool {
  return tool({
    name: 'add',
    description: 'Add two numbers and return the sum.',
    inputSchema: structuredClone(SUM),
    readOnly: true,
    execute: ({ a, b }) => Number(a) + Number(b),
  })
}

function soakTools(): readonly Tool[] {
  return [
    addTool(),
    tool({
      name: 'wait',
      description: 'Wait for some milliseconds.',
      inputSchema: z.object({ ms: z.number() }),
      idempotent: true,
      conflicts: [],
      execute: async ({ ms }, { signal, onOutput }) => {
        onOutput('stdout', 'waiting\n')
        await sleep(ms, null, { signal })
        return `waited ${ms}`
      },
    }),
    tool({
      name: 'fail',
      description: 'Fail, always.',
      inputSchema: z.object({ a: z.number() }),
      execute: ({ a }) => {
        throw new Error(`it cannot be done with ${a}`)
      },
    }),
    tool({
      name: 'stick',
      description: 'Wait until told to stop.',
      inputSchema: z.object({ a: z.number() }),
      timeoutMs: 200,
      execute: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true })
        }),
    }),
    tool({
      name: 'linger',
      description: 'Wait, whoever says to stop.',
      inputSchema: z.object({ ms: z.number() }),
      timeoutMs: 200,
      execute: async ({ ms }) => {
        await sleep(ms)
        return 'too late'
      },
    }),
    tool({
      name: 'pay',
      description: 'Pay an amount.',
      inputSchema: z.object({ amount: z.number() }),
      needsApproval: true,
      execute: ({ amount }) => `paid ${amount}`,
    }),
  ]
}
