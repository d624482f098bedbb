import { expect, test } from 'vitest'
import * as z from 'zod'

import { agent } from '../../src/agent.ts'
import { run } from '../../src/loop/run.ts'
import { tool } from '../../src/tools/tool.ts'
import { sseText, StreamBuilder } from '../../scripts/fixtures/stream-builder.ts'
import { scriptedModel, textAnswer } from '../scripted-model.ts'

const searched = { type: 'file_search_call', id: 'fs_1', status: 'completed', queries: ['x'] }
const custom = {
  type: 'custom_tool_call',
  id: 'ct_1',
  call_id: 'call_c',
  name: 'shout',
  input: 'hi',
  status: 'completed',
}
const asked = sseText(
  new StreamBuilder('resp_1').start().doneItem(0, searched).doneItem(1, custom).end().events,
)

function shout(claims: boolean): { tool: ReturnType<typeof tool>; ran: unknown[] } {
  const ran: unknown[] = []
  const made = tool({
    name: 'shout',
    description: 'Return a text in capitals.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    execute: (args: Readonly<Record<string, unknown>>) => {
      ran.push(args)
      return String(args['text']).toUpperCase()
    },
    ...(claims
      ? { claims: ['custom_tool_call'], claimArguments: (item) => ({ text: item['input'] ?? '' }) }
      : {}),
  })
  return { tool: made, ran }
}

test('a call item of another type is the business of the provider until a tool claims it', async () => {
  const { tool: unclaiming, ran } = shout(false)
  const result = await run(agent({ model: scriptedModel([asked]), tools: [unclaiming] }), 'go').result
  expect(result).toMatchObject({ state: 'done', calls: [] })
  expect(ran).toEqual([])
})

test.for(['previous_response_id', 'stateless'] as const)(
  'a claimed item runs as a call and its output goes back by its call id, %s',
  async (continuity) => {
    const { tool: claiming, ran } = shout(true)
    const model = scriptedModel([asked, textAnswer(2, 'HI')])
    const result = await run(agent({ model, tools: [claiming], continuity }), 'go').result
    expect(result).toMatchObject({ state: 'done', text: 'HI', unansweredCalls: [] })
    expect(ran).toEqual([{ text: 'hi' }])
    const input = model.requests[1]?.['input'] as readonly { type: string; call_id?: string }[]
    const outputs = input.filter(({ type }) => type === 'function_call_output')
    expect(outputs).toMatchObject([{ call_id: 'call_c' }])
  },
)

test('an answer in a format comes back parsed, by the schema of a library too', async () => {
  const schema = z.object({ sum: z.number() })
  const model = scriptedModel([textAnswer(1, 'five'), textAnswer(2, '{"sum":5}')])
  const result = await run(agent({ model, output: { name: 'sum', schema } }), 'go').result
  expect(result).toMatchObject({ state: 'done', output: { sum: 5 }, turns: 2 })
  expect(model.requests[0]).toMatchObject({ text: { format: { type: 'json_schema', name: 'sum' } } })
  expect(JSON.stringify(model.requests[1]?.['input'])).toContain('not JSON')
})

test('an answer that has the wrong format twice fails the run', async () => {
  const schema = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] }
  const model = scriptedModel([textAnswer(1, '{}'), textAnswer(2, '{"sum":"5"}')])
  const result = await run(agent({ model, output: { name: 'sum', schema } }), 'go').result
  expect(result).toMatchObject({ state: 'failed', reason: 'output_invalid', turns: 2 })
})
