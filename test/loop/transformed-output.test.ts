import { expect, test } from 'vitest'
import { z } from 'zod'

import { agent, type OutputFormat } from '../../src/agent.ts'
import { run } from '../../src/loop/run.ts'
import { framesOf, scriptedModel, textAnswer } from '../scripted-model.ts'
import { makeStore } from './subagent-kit.ts'

const CENTS = '{"cents":"1200"}'

function format(transform: (cents: string) => unknown): OutputFormat {
  return { name: 'price', schema: z.object({ cents: z.string().transform(transform) }) }
}

test('an output that JSON cannot hold goes back once and then ends the run, with a store as without', async () => {
  const output = format((cents) => BigInt(cents))
  const store = makeStore()
  for (const options of [{ runId: 'run_1' }, { runId: 'run_1', store }]) {
    const model = scriptedModel([textAnswer(1, CENTS), textAnswer(2, CENTS)])
    const result = await run(agent({ model, output }), 'go', options).result
    expect(result).toMatchObject({ state: 'failed', reason: 'output_invalid', output: null })
    expect(JSON.stringify(model.requests[1]?.['input'])).toMatch(
      /not of the format that was asked for.*BigInt/u,
    )
  }
  expect([...store.read('run_1')].at(-1)).toMatchObject({ type: 'run_ended', reason: 'output_invalid' })
})

test('the output of a run is the one that its log has, also when a schema makes a date of it', async () => {
  const store = makeStore()
  const model = scriptedModel([textAnswer(1, CENTS)])
  const made = agent({ model, output: format((cents) => new Date(Number(cents))) })
  const result = await run(made, 'go', { store, runId: 'run_1' }).result
  expect(result).toMatchObject({ state: 'done', output: { cents: '1970-01-01T00:00:01.200Z' } })
  const [ended] = framesOf([...store.read('run_1')], 'run_ended')
  expect(ended?.output).toStrictEqual('output' in result ? result.output : undefined)
})
