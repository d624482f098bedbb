import { expect, test } from 'vitest'

import { agent, type AgentOptions } from '../../../src/agent.ts'
import { run } from '../../../src/loop/run.ts'
import { textAgent } from '../../../src/loop/text-agent.ts'
import { replay } from '../../../src/replay-run.ts'
import { framesUntilEnd } from '../../loop/subagent-kit.ts'
import { ADD, callsAnswer, scriptedModel, textAnswer, watchedTool } from '../../scripted-model.ts'

function wholeAgent(answers: readonly string[], options: Partial<AgentOptions> = {}) {
  const model = scriptedModel(answers)
  const { tool, ran } = watchedTool('add')
  const made = agent({
    model,
    tools: [tool],
    instructions: 'You add.',
    output: { name: 'sum', schema: { type: 'object' } },
    compaction: { atTokens: 10 },
    onLimit: 'wrap_up',
    request: { toolChoice: 'required', reasoning: { effort: 'low' }, verbosity: 'low', promptCacheKey: 'k' },
    ...options,
  })
  return { model, made, ran }
}

test('a text agent sends no tools, no format and its own instructions, and keeps the rest of the options', async () => {
  const { model, made } = wholeAgent([textAnswer(1, 'in short')])
  const result = await run(textAgent(made, { instructions: 'Summarise.' }), 'what happened').result
  expect(result).toMatchObject({ state: 'done', text: 'in short', output: null })
  const [request] = model.requests
  expect(request).toMatchObject({
    reasoning: { effort: 'low' },
    text: { verbosity: 'low' },
    input: [{ role: 'system', content: 'Summarise.' }, { role: 'user' }],
  })
  for (const field of ['tools', 'tool_choice', 'max_tool_calls', 'prompt_cache_key'])
    expect(request).not.toHaveProperty(field)
  expect(request?.['text']).not.toHaveProperty('format')
})

test('a text agent has one turn and runs nothing', async () => {
  const { made, ran } = wholeAgent([callsAnswer(1, [ADD])])
  const result = await run(textAgent(made, { instructions: 'Summarise.' }), 'go').result
  expect(result).toMatchObject({ state: 'limitExceeded', reason: 'turns', turns: 1 })
  expect(ran).toEqual([])
})

test('a text agent can ask another model, with what that one takes', async () => {
  const { model, made } = wholeAgent([])
  const other = scriptedModel([textAnswer(1, 'said')], { name: 'other', unsupported: ['reasoning'] })
  const writer = textAgent(made, { instructions: 'Summarise.', model: other })
  expect(await run(writer, 'go').result).toMatchObject({ text: 'said' })
  expect(model.requests).toEqual([])
  expect(other.requests[0]).toMatchObject({ model: 'other' })
  expect(other.requests[0]).not.toHaveProperty('reasoning')
})

test('the run of a text agent replays', async () => {
  const { made } = wholeAgent([textAnswer(1, 'in short')])
  const frames = await framesUntilEnd(run(textAgent(made, { instructions: 'Summarise.' }), 'go'))
  expect(replay(frames)).toMatchObject({ ok: true, frames: frames.length })
})
