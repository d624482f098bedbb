import { expect, test } from 'vitest'

import { agent, type AgentOptions } from '../../src/agent.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { run } from '../../src/loop/run.ts'
import { loadStrict } from '../../src/protocol/load-strict.ts'
import { openResponses } from '../../src/provider/open-responses.ts'
import type { ScriptTurn } from '../../src/provider/scripted/script.ts'
import { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { framesOf, watchedTool } from '../scripted-model.ts'
import { ADD, FIVE, provide } from './scripted-kit.ts'

const strict = await loadStrict()

async function converse(
  turns: readonly ScriptTurn[],
  options: Partial<AgentOptions> = {},
  isStreamed = true,
) {
  const provider = await provide(turns)
  const clock = new SimulatedClock()
  const model = openResponses({
    model: 'any-model',
    baseUrl: provider.url,
    apiKey: 'none',
    stream: isStreamed,
  })
  const { tool: add, ran } = watchedTool('add', ({ a, b }) => Number(a) + Number(b))
  const live = run(agent({ model, tools: [add], profile: strict, clock, ...options }), 'what is 2+3?')
  const frames: Frame[] = []
  for await (const frame of live) {
    frames.push(frame)
    if (frame.type !== 'retry_scheduled') continue
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(60_000)
  }
  return { provider, ran, frames, result: await live.result }
}

function oddities(frames: readonly Frame[]): readonly unknown[] {
  return framesOf(frames, 'provider_event').flatMap((event) => [
    ...event.errors,
    ...event.response_errors,
    ...event.anomalies,
  ])
}

test.for([
  ['previous_response_id', true],
  ['stateless', true],
  ['previous_response_id', false],
  ['stateless', false],
] as const)(
  'a loop over HTTP, %s, streamed %s, has no error and no anomaly',
  async ([continuity, isStreamed]) => {
    const { result, ran, frames, provider } = await converse([ADD, FIVE], { continuity }, isStreamed)
    expect(result).toMatchObject({ state: 'done', text: 'It is 5.', turns: 2 })
    expect(ran).toEqual([{ a: 2, b: 3 }])
    expect(oddities(frames)).toEqual([])
    expect(provider.requests).toHaveLength(2)
  },
)

test('a loop over HTTP gets on after a status, a reset, a cut and a failure', async () => {
  const { result, frames } = await converse([
    { fault: { type: 'status', status: 503 } },
    ADD,
    { ...FIVE, fault: { type: 'reset', at_byte: 400 } },
    { ...FIVE, fault: { type: 'truncate', at_byte: 400 } },
    { end: { status: 'failed', code: 'server_error' } },
    FIVE,
  ])
  expect(result).toMatchObject({ state: 'done', text: 'It is 5.', turns: 2 })
  expect(framesOf(frames, 'retry_scheduled')).toHaveLength(4)
})
