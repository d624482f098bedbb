import { expect, test, vi } from 'vitest'

import type { Agent } from '../../src/loop/agent.ts'
import { faultMatrix } from '../../src/testing/fault-matrix.ts'
import { PROVIDER_FAULTS } from '../../src/testing/provider-faults.ts'
import { kitAgent } from './kit-agent.ts'

vi.setConfig({ testTimeout: 60_000 })

test('every fault in every situation ends in a named state, and nothing is broken', async () => {
  const { agent } = kitAgent()
  const { cells, violations } = await faultMatrix(agent)
  expect(violations).toEqual([])
  const situations = [...new Set(cells.map(({ situation }) => situation))]
  expect(situations).toEqual([
    'the first request',
    'the first request, while somebody speaks',
    'the first request, cancelled before it is tried again',
    'the answer to look_up',
    'the answer to pay, approved',
    'the answer to pay, denied',
    'the second attempt',
  ])
  expect(cells).toHaveLength(situations.length * PROVIDER_FAULTS.length)
  expect(new Set(cells.map(({ state }) => state))).toEqual(
    new Set(['working.responding.requesting', 'working.responding.streaming']),
  )
  expect(new Set(cells.map(({ end }) => end))).toEqual(new Set(['done', 'failed', 'cancelled']))
})

test('the matrix of an ordinary agent is the one that is written down', async () => {
  const { cells } = await faultMatrix(kitAgent().agent)
  const rows = cells.map(
    ({ situation, state, fault, end, reason, requests, toolCalls }) =>
      `${situation} | ${state.split('.').at(-1)} | ${fault} | ${end}: ${reason} | ${requests} requests, ${toolCalls} calls`,
  )
  await expect(`${rows.join('\n')}\n`).toMatchFileSnapshot('./fault-matrix.snapshot.txt')
})

test('an agent with a limit of time is ended by it when a provider falls silent', async () => {
  const { cells, violations } = await faultMatrix(kitAgent({ limits: { ms: 60_000 } }).agent)
  expect(violations).toEqual([])
  const silent = cells.filter(({ fault }) => fault === 'silence before the head')
  expect(new Set(silent.map(({ end, reason }) => `${end} ${reason}`))).toEqual(
    new Set(['limitExceeded wall_time']),
  )
})

test('an agent that has a last word and shortens its conversation has situations of its own', async () => {
  const { agent } = kitAgent({
    limits: { tokens: 5000 },
    onLimit: 'wrap_up',
    continuity: 'stateless',
    compaction: {
      atTokens: 2000,
      compact: async ([first]) => ({ ok: true, items: first ? [first] : [], usage: null }),
    },
  })
  const { cells, violations } = await faultMatrix(agent)
  expect(violations).toEqual([])
  const names = new Set(cells.map(({ situation }) => situation))
  expect(names).toContain('the last word')
  expect(names).toContain('the request after a compaction')
  const lastWords = cells.filter(({ situation }) => situation === 'the last word')
  expect(new Set(lastWords.map(({ end }) => end))).toEqual(new Set(['limitExceeded', 'cancelled']))
})

test('a loop that does not answer a call is found out', async () => {
  const { agent } = kitAgent()
  const forgetful: Agent = {
    ...agent,
    buildRequest: (input) => agent.buildRequest({ ...input, items: input.items.slice(1) }),
  }
  const { violations } = await faultMatrix(forgetful)
  expect(violations.some(({ rule }) => rule === 'answered_in_order')).toBe(true)
})

test('a run that does not end in time is stopped and named', async () => {
  const { agent } = kitAgent()
  const never = new Promise<never>(() => undefined)
  const hanging: Agent = {
    ...agent,
    tools: { ...agent.tools, appraise: agent.tools.appraise, run: () => never },
  }
  const { violations } = await faultMatrix(hanging, { patienceMs: 5 })
  expect(violations.map(({ rule }) => rule)).toContain('in_time')
  expect(new Set(violations.map(({ rule }) => rule))).toEqual(new Set(['in_time']))
})
