import { expect, onTestFinished, test } from 'vitest'

import { agent } from '../../src/agent.ts'
import { conversation } from '../../src/conversation/conversation.ts'
import { modelError } from '../../src/testing/script-turns.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { openedStore, tempFolder, tempStore } from '../journal/store-kit.ts'
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

function textIn(value: unknown): string {
  return JSON.stringify(value)
}

test('A turn whose work is more than a run can be told is summarised, and its answer is not forgotten.', async () => {
  const reading = Array.from({ length: 10 }, (_, at) => calls('add', { a: at }))
  const { talk, model } = startTalk([...reading, says('The password is 42.'), says('42')], {
    context: { budgetTokens: 20_000 },
    agentOptions: { tools: [addTool({ execute: ({ a }) => `${Number(a)}${'x'.repeat(40_000)}` })] },
  })
  await talk.send('Read it all and find the password.')
  await talk.send('What was the password again?')
  expect(textIn(inputsOf(model).at(-1))).toContain('The password is 42.')
})

test.each([2048, 4096, 8192])(
  'With a window of %i tokens a conversation is compacted now and then, and always knows something.',
  async (contextWindow) => {
    const { talk, model } = startTalk(
      Array.from({ length: 80 }, (_, at) => says(`Answer ${at}: ${'word '.repeat(40)}`)),
      { modelOptions: { contextWindow } },
    )
    for (let at = 0; at < 80; at += 1) await talk.send(`Message ${at}: ${'text '.repeat(10)}`)
    const compactions = ofType(await loggedFrames(talk), 'history_compacted')
    expect(compactions.length).toBeGreaterThan(0)
    expect(compactions.length).toBeLessThan(40)
    const last = inputsOf(model).at(-1) ?? []
    expect(last.length).toBeGreaterThan(2)
    expect(last.filter(({ role }) => role === 'system')).toHaveLength(1)
  },
)

test('A message that was recorded and never run is told, also where the provider goes on from its own memory.', async () => {
  const store = tempStore()
  const first = startTalk([says('one')], { store, id: 'c1', crossRunCursor: 'use' })
  await first.talk.send('first')
  await first.talk.send('second').run
  await first.talk.close()
  // As a crash would leave it: the message is there, and no run was announced.
  const frames = [...store.read('c1')]
  const cut = frames.findLastIndex((frame) => frame.type === 'conversation_entry')
  const broken = tempStore()
  broken.importRun(frames.slice(0, cut + 1).map((frame) => JSON.stringify(frame)))
  const second = startTalk([says('three')], { store: broken, id: 'c1', crossRunCursor: 'use' })
  await second.talk.send('third')
  expect(second.model.requests[0]).not.toHaveProperty('previous_response_id')
  expect(inputsOf(second.model)[0]?.map(({ content }) => content)).toEqual([
    'first',
    'one',
    'second',
    'third',
  ])
})

test('A run that something else has the name of gets another, and nothing of the other is taken in.', async () => {
  const store = tempStore()
  const other = startTalk([says('other')], { store, id: 'a.0' })
  await other.talk.send('hello')
  const { talk } = startTalk([says('mine')], { store, id: 'a' })
  expect(textOf(await talk.send('hi'))).toBe('mine')
  expect(store.list().map(({ runId }) => runId)).toContain('a.0-2')
})

test('A run whose log cannot be folded can be abandoned.', async () => {
  const store = tempStore()
  const first = startTalk([calls('add', { a: 1 })], {
    store,
    id: 'c1',
    agentOptions: { tools: [addTool({ needsApproval: true })] },
  })
  const turn = first.talk.send('x')
  for await (const frame of turn) if (frame.type === 'approval_requested') break
  await first.talk.close()
  const broken = tempStore()
  broken.importRun([...store.exportRun('c1')])
  // Without what the response decided, nothing that comes after it can be.
  const lines = [...store.read('c1.0')].map((frame) =>
    JSON.stringify(frame.type === 'response_settled' ? { ...frame, decision: {} } : frame),
  )
  broken.importRun(lines)
  const { talk } = startTalk([says('fine')], { store: broken, id: 'c1' })
  expect(talk.openRun).toBe('c1.0')
  expect(await talk.abandon()).toBe(true)
  expect(textOf(await talk.send('go on'))).toBe('fine')
})

test('An answer that was sent back for its format is not part of the answer.', async () => {
  const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] }
  const { talk, model } = startTalk([says('{"a":'), says('{"a":1}'), says('{"a":2}')], {
    agentOptions: { output: { name: 'answer', schema } },
  })
  await talk.send('give me a')
  await talk.send('again')
  expect(
    inputsOf(model)
      .at(-1)
      ?.map(({ content }) => content),
  ).toEqual(['give me a', '{"a":1}', 'again'])
})

test('A store that fails while a conversation is closed keeps nobody from opening it again.', async () => {
  let isFull = false
  const store = tempStore({
    aroundWrite: (_, execute) => {
      if (isFull) throw Object.assign(new Error('disk full'), { errcode: 13, code: 'ERR_SQLITE_ERROR' })
      return execute()
    },
  })
  const { talk } = startTalk([calls('add', { a: 1 })], {
    store,
    id: 'c1',
    agentOptions: { tools: [addTool({ needsApproval: true })] },
  })
  const turn = talk.send('x')
  for await (const frame of turn) if (frame.type === 'approval_requested') break
  isFull = true
  await talk.close().catch(() => undefined)
  isFull = false
  expect(startTalk([], { store, id: 'c1' }).talk.openRun).toBe('c1.0')
})

test('Closing does not wait for a model that summarises old calls and does not answer.', async () => {
  const silent = { ...scriptedModel([]), send: untilAborted }
  const { talk } = startTalk([calls('add', { a: 1, b: 2 }), says('three')], {
    toolHistory: { recentCallsToKeep: 0, toolHistorySummarizationModel: silent },
  })
  await talk.send('1+2?')
  const turn = talk.send('and now?')
  await asked.promise
  await talk.close()
  expect(await turn).toMatchObject({ status: 'ended', state: 'cancelled' })
})

const asked = Promise.withResolvers<void>()

async function untilAborted({ signal }: { signal: AbortSignal }): Promise<null> {
  asked.resolve()
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  return null
}

test('What a provider compacted is not sent to a model that is somewhere else.', async () => {
  const here = scriptedModel([says('one'), says('two'), modelError(503)], {
    compact: true,
    endpoint: 'https://a/v1/responses',
  })
  const there = scriptedModel([says('three')], { endpoint: 'https://b/v1/responses' })
  const talk = conversation(agent({ model: [here, there], retry: { times: 0 } }), {
    compaction: { way: 'provider', keepShare: 0.1 },
  })
  onTestFinished(() => talk.close())
  await talk.send(`first ${'word '.repeat(300)}`)
  await talk.send(`second ${'word '.repeat(300)}`)
  await talk.compact()
  expect(textOf(await talk.send('third'))).toBe('three')
  expect(textIn(inputsOf(there)[0])).not.toContain('"compaction"')
})

test('A refusal in a conversation without calls is not answered by telling calls in another way.', async () => {
  const refusal = modelError(400, {
    code: 'invalid_input',
    param: 'input[0].content[0].image_url',
    message: 'no',
  })
  const { talk, model } = startTalk([refusal], { modelOptions: { nativeToolHistory: true } })
  expect(await talk.send('look')).toMatchObject({ state: 'failed' })
  expect(model.requests).toHaveLength(1)
})

test('A fork knows that the provider refused calls as items.', async () => {
  const refusal = modelError(400, { code: 'invalid_input', param: 'input', message: 'Invalid input' })
  const { talk, model } = startTalk(
    [calls('add', { a: 1, b: 2 }), says('three'), refusal, says('as text'), says('forked')],
    { modelOptions: { nativeToolHistory: true } },
  )
  await talk.send('1+2?')
  await talk.send('thanks')
  const forked = await talk.fork()
  expect(textOf(await forked.send('more'))).toBe('forked')
  expect(textIn(inputsOf(model).at(-1))).not.toContain('"function_call"')
  await forked.close()
})

test('A fork that is asked for before its conversation is closed can be used.', async () => {
  const { talk } = startTalk([says('one'), says('two')], { store: `${tempFolder()}/runs.db` })
  await talk.send('first')
  const [forked] = await Promise.all([talk.fork(), talk.close()])
  expect(textOf(await forked.send('second'))).toBe('two')
  await forked.close()
})

test('A tool can hand its own conversation to another agent.', async () => {
  const specialist = agent({ model: scriptedModel([says('mine now')], { name: 'specialist' }) })
  const { talk } = startTalk([calls('add', {}), says('handed over')], {
    agentOptions: {
      tools: [addTool({ execute: async () => (await talk.handoff(specialist, { id: 'next' })).id })],
    },
  })
  expect(textOf(await talk.send('Give me to somebody else.'))).toBe('handed over')
  expect(ofType(await loggedFrames(talk), 'handed_off')).toMatchObject([{ to: 'next' }])
})

test.each([{ id: '' }, { note: '' }])('A handoff with %j is refused.', async (options) => {
  const { talk, agent: same } = startTalk([])
  await expect(talk.handoff(same, options)).rejects.toMatchObject({ code: 'usage' })
})

test('A run that somebody else has ended meanwhile is taken in when it is resumed.', async () => {
  const store = tempStore()
  const { talk } = startTalk([calls('add', { a: 1 })], {
    store,
    id: 'c1',
    agentOptions: { tools: [addTool({ needsApproval: true })] },
  })
  const turn = talk.send('x')
  for await (const frame of turn) if (frame.type === 'approval_requested') break
  await (await turn.run)?.suspend()
  await turn
  const elsewhere = openedStore(store.path)
  const { run } = await import('../../src/loop/run.ts')
  const other = agent({
    model: scriptedModel([says('done elsewhere')]),
    tools: [addTool({ needsApproval: true })],
  })
  const live = run(other, { resume: 'c1.0' }, { store: elsewhere })
  await live.approve('call_1_0')
  await live.result
  expect(textOf(await talk.resume())).toBe('done elsewhere')
  expect(talk.state).toBe('idle')
})

test('A signal that was aborted before is heard by resume as well.', () => {
  const { talk } = startTalk([])
  expect(() => talk.resume({ signal: AbortSignal.abort() })).toThrow(/abort/u)
})

test('A compaction by the model that closing cuts off is refused, not an error.', async () => {
  const model = { ...scriptedModel([]) }
  const talk = conversation(agent({ model: { ...model, send: untilAborted } }), {})
  onTestFinished(() => talk.close())
  const compacting = talk.compact({ way: 'model' })
  await talk.close()
  expect(await compacting).toMatchObject({ status: 'refused' })
})

function long(at: number) {
  return {
    output: [says(`${at} ${'word '.repeat(100)}`)],
    usage: { input_tokens: 10, output_tokens: 10 },
  }
}

test('The budget is looked at again when a summary has used it up.', async () => {
  const summary = { output: [says('short')], usage: { input_tokens: 5000, output_tokens: 10 } }
  const { talk, model } = startTalk([long(0), long(1), summary, says('never')], {
    budget: { tokens: 1000 },
    compaction: { way: 'model', atMessages: 2 },
  })
  await talk.send('first')
  await talk.send('second')
  expect(await talk.send('third')).toMatchObject({ status: 'refused', reason: 'budget_used_up' })
  expect(model.requests).toHaveLength(3)
})
