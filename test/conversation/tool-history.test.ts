import { expect, test } from 'vitest'

import type { ToolHistorySettings } from '../../src/conversation/conversation-api.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { modelError } from '../../src/testing/script-turns.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import {
  addTool,
  calls,
  inputsOf,
  loggedFrames,
  ofType,
  says,
  startTalk,
  textOf,
} from './conversation-kit.ts'

/** What the run after some others is told, when each of those made one call. */
async function told(
  toolHistory: ToolHistorySettings,
  count: number,
  modelOptions: Parameters<typeof startTalk>[1] = {},
): Promise<readonly JsonObject[]> {
  const turns = Array.from({ length: count }, (_, at) => [
    calls('add', { a: at, b: 0 }),
    says(`answer ${at}`),
  ])
  const { talk, model } = startTalk([...turns.flat(), says('last')], { toolHistory, ...modelOptions })
  for (let at = 0; at < count; at += 1) await talk.send(`message ${at}`)
  await talk.send('the last one')
  return inputsOf(model).at(-1) ?? []
}

function count(items: readonly JsonObject[], type: string): number {
  return items.filter((item) => item['type'] === type).length
}

function textIn(items: readonly JsonObject[]): string {
  return JSON.stringify(items)
}

test('Earlier calls are told as text where the provider is not known to take them, and never as calls.', async () => {
  const items = await told({}, 1)
  expect(count(items, 'function_call')).toBe(0)
  expect(textIn(items)).toContain('Context (tool result):')
})

test('Earlier calls are told as items where the model is known to take them.', async () => {
  const items = await told({}, 1, { modelOptions: { nativeToolHistory: true } })
  expect(items.map(({ type }) => type)).toEqual([
    'message',
    'function_call',
    'function_call_output',
    'message',
    'message',
  ])
})

test('What is set outranks what is known.', async () => {
  const items = await told({ strategy: 'text-embed' }, 1, { modelOptions: { nativeToolHistory: true } })
  expect(count(items, 'function_call')).toBe(0)
})

test('Six calls are kept unless somebody says otherwise, and older ones are summarised where they were.', async () => {
  const items = await told({ strategy: 'native' }, 8)
  expect(count(items, 'function_call')).toBe(6)
  expect(textIn(items)).toContain('[Earlier in this session:]')
  expect(items[0]).toMatchObject({ content: 'message 0' })
  expect(items[1]).toMatchObject({ role: 'user' })
})

test('recentCallsToKeep says how many calls are kept, also none.', async () => {
  expect(count(await told({ strategy: 'native', recentCallsToKeep: 2 }, 4), 'function_call')).toBe(2)
  expect(count(await told({ strategy: 'native', recentCallsToKeep: 0 }, 2), 'function_call')).toBe(0)
})

test('maxToolHistoryLength is the same setting under another name.', async () => {
  expect(count(await told({ strategy: 'native', maxToolHistoryLength: 1 }, 3), 'function_call')).toBe(1)
})

test('The trigger threshold keeps all calls until they have more tokens than the threshold.', async () => {
  const settings = { strategy: 'native', recentCallsToKeep: 1, trigger: 'threshold' } as const
  expect(count(await told({ ...settings, truncationThreshold: 10_000 }, 3), 'function_call')).toBe(3)
  expect(count(await told({ ...settings, truncationThreshold: 10 }, 3), 'function_call')).toBe(1)
})

test('maxHistorySummaryTokens bounds the summary, down to none.', async () => {
  const items = await told({ strategy: 'native', recentCallsToKeep: 0, maxHistorySummaryTokens: 0 }, 2)
  expect(textIn(items)).not.toContain('[Earlier in this session:]')
})

test('kinds say what a tool does, for the summary.', async () => {
  const settings = { strategy: 'native', recentCallsToKeep: 0 } as const
  const other = textIn(await told(settings, 2))
  const search = textIn(await told({ ...settings, kinds: { add: 'search' } }, 2))
  expect(other).not.toBe(search)
})

test('A tool that says that it changes nothing counts as one that reads.', async () => {
  const settings = { strategy: 'native', recentCallsToKeep: 0 } as const
  const reading = textIn(await told(settings, 1))
  const writing = textIn(await told(settings, 1, { agentOptions: { tools: [addTool({ readOnly: false })] } }))
  expect(reading).not.toBe(writing)
  expect(reading).toBe(textIn(await told({ ...settings, kinds: { add: 'read' } }, 1)))
})

const FAILING = {
  agentOptions: { tools: [addTool({ execute: () => Promise.reject(new Error(`no: ${'x'.repeat(300)}`)) })] },
}

test('preserveErrorsVerbatim and errorCharactersMax say how much of an error a summary quotes.', async () => {
  const settings = { strategy: 'native', recentCallsToKeep: 0 } as const
  const quoted = textIn(await told(settings, 1, FAILING))
  const short = textIn(await told({ ...settings, errorCharactersMax: 20 }, 1, FAILING))
  const counted = textIn(await told({ ...settings, preserveErrorsVerbatim: false }, 1, FAILING))
  expect(quoted).toContain('xxxx')
  expect(short).not.toContain('xxxx')
  expect(counted).not.toContain('xxxx')
})

const REFUSAL = modelError(400, { code: 'invalid_input', param: 'input', message: 'Invalid input' })

test('A provider that refuses earlier calls gets them as text, once and from then on, and the log says so.', async () => {
  const { talk, model } = startTalk(
    [calls('add', { a: 1, b: 2 }), says('three'), REFUSAL, says('told as text'), says('again')],
    { modelOptions: { nativeToolHistory: true } },
  )
  await talk.send('1+2?')
  const turn = talk.send('thanks')
  expect(textOf(await turn)).toBe('told as text')
  await talk.send('bye')
  const inputs = inputsOf(model)
  expect(inputs.map((items) => count(items, 'function_call'))).toEqual([0, 0, 1, 0, 0])
  let runs = 0
  for await (const _ of turn.runs()) runs += 1
  expect(runs).toBe(2)
  const frames = await loggedFrames(talk)
  expect(ofType(frames, 'tool_history_switched')).toMatchObject([
    { figures: { from: 'native', to: 'text-embed' } },
  ])
  expect(ofType(frames, 'context_compiled').map(({ tool_history: history }) => history['reason'])).toEqual([
    'supported',
    'supported',
    'fell_back',
    'fell_back',
  ])
})

test('A refusal that is about something else is not answered by telling calls in another way.', async () => {
  const other = modelError(400, { code: 'context_length_exceeded', param: 'input', message: 'too long' })
  const { talk, model } = startTalk([calls('add', { a: 1, b: 2 }), says('three'), other], {
    modelOptions: { nativeToolHistory: true },
  })
  await talk.send('1+2?')
  expect(await talk.send('thanks')).toMatchObject({ state: 'failed' })
  expect(model.requests).toHaveLength(3)
})

test('A way that was set is not given up over a refusal.', async () => {
  const { talk, model } = startTalk([calls('add', { a: 1, b: 2 }), says('three'), REFUSAL], {
    toolHistory: { strategy: 'native' },
  })
  await talk.send('1+2?')
  expect(await talk.send('thanks')).toMatchObject({ state: 'failed' })
  expect(model.requests).toHaveLength(3)
})

test('A model can summarise old calls: it is asked once for the same calls, and who did it is recorded.', async () => {
  const summarizer = scriptedModel([says('It added numbers.'), says('It added more numbers.')], {
    name: 'small',
  })
  const settings = {
    strategy: 'native',
    recentCallsToKeep: 0,
    toolHistorySummarizationModel: summarizer,
  } as const
  const { talk, model } = startTalk([calls('add', { a: 1, b: 2 }), says('three'), says('one'), says('two')], {
    toolHistory: settings,
  })
  for (const message of ['1+2?', 'first', 'second']) await talk.send(message)
  expect(textIn(inputsOf(model)[2] ?? [])).toContain('It added numbers.')
  expect(textIn(inputsOf(model)[3] ?? [])).toContain('It added numbers.')
  expect(summarizer.requests).toHaveLength(1)
  const total = talk.usage.total_tokens
  const [frame, ...more] = ofType(await loggedFrames(talk), 'history_summarized')
  expect(more).toEqual([])
  expect(frame).toMatchObject({ cause: 'model_answered', figures: { by: 'model', call_count: 1 } })
  const runs = [
    ...ofType(await loggedFrames(talk), 'conversation_run_ended'),
    { usage: frame?.figures['usage'] },
  ]
  expect(runs.reduce((sum, { usage }) => sum + Number((usage as JsonObject)['total_tokens']), 0)).toBe(total)
})

test('A summarising model that fails gives way to the rules, and that is recorded.', async () => {
  const summarizer = scriptedModel([modelError(400, { code: 'bad', message: 'no' })], { name: 'small' })
  const { talk, model } = startTalk([calls('add', { a: 1, b: 2 }), says('three'), says('one')], {
    toolHistory: { strategy: 'native', recentCallsToKeep: 0, toolHistorySummarizationModel: summarizer },
  })
  await talk.send('1+2?')
  expect(textOf(await talk.send('thanks'))).toBe('one')
  expect(textIn(inputsOf(model)[2] ?? [])).toContain('[Earlier in this session:]')
  expect(ofType(await loggedFrames(talk), 'history_summarized')).toMatchObject([
    { cause: 'model_failed', figures: { by: 'rules' } },
  ])
})
