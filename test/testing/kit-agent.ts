import { agent, type AgentOptions } from '../../src/agent.ts'
import type { Agent } from '../../src/loop/agent.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { tool } from '../../src/tools/tool.ts'

/** An agent that looks things up and pays for them, and what its tools were called with. */
export interface KitAgent {
  readonly agent: Agent
  readonly looked: unknown[]
  readonly paid: unknown[]
}

export function kitAgent(options: Partial<AgentOptions> = {}): KitAgent {
  const looked: unknown[] = []
  const paid: unknown[] = []
  const look = tool({
    name: 'look_up',
    description: 'Look up what an article costs.',
    inputSchema: { type: 'object', properties: { article: { type: 'string' } }, required: ['article'] },
    readOnly: true,
    execute: (args) => {
      looked.push(args)
      return 7
    },
  })
  const pay = tool({
    name: 'pay',
    description: 'Pay an amount of money to the supplier.',
    inputSchema: {
      type: 'object',
      properties: { amount: { type: 'number', minimum: 1 } },
      required: ['amount'],
    },
    needsApproval: true,
    execute: (args) => {
      paid.push(args)
      return 'paid'
    },
  })
  return { agent: agent({ model: scriptedModel([]), tools: [look, pay], ...options }), looked, paid }
}
