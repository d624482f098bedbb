import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { agent } from '../../src/agent.ts'
import type { Agent } from '../../src/loop/agent.ts'
import { openResponses } from '../../src/provider/open-responses.ts'
import { tool } from '../../src/tools/tool.ts'

/** An agent with tools that touch files of a folder, for a provider that a test serves. */
export function pathAgent(baseUrl: string, folder: string): Agent {
  const look = tool({
    name: 'look_up',
    description: 'Look up what an article costs.',
    inputSchema: { type: 'object', properties: { article: { type: 'string' } }, required: ['article'] },
    readOnly: true,
    execute: () => readFileSync(join(folder, 'price.txt'), 'utf8'),
  })
  const pay = tool({
    name: 'pay',
    description: 'Pay an amount of money to the supplier.',
    inputSchema: {
      type: 'object',
      properties: { amount: { type: 'number', minimum: 1 } },
      required: ['amount'],
    },
    execute: ({ amount }) => {
      appendFileSync(join(folder, 'paid.txt'), `${JSON.stringify(amount)}\n`)
      return 'paid'
    },
  })
  return agent({
    model: openResponses({ model: 'scripted-1', baseUrl, apiKey: '' }),
    tools: [look, pay],
    limits: { turns: 3, toolCalls: 3, noProgress: 2 },
    retry: { times: 1, waitMs: 1, waitMaxMs: 1 },
    random: () => 0,
  })
}

/** The same in a process of its own: what to use is in its environment. */
export const fromEnvironment = pathAgent(
  process.env['PATH_AGENT_URL'] ?? 'http://127.0.0.1/v1',
  process.env['PATH_AGENT_FOLDER'] ?? '.',
)
