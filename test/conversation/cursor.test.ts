import { expect, onTestFinished, test } from 'vitest'

import { agent, type AgentOptions } from '../../src/agent.ts'
import { conversation } from '../../src/conversation/conversation.ts'
import type { Conversation, ConversationOptions } from '../../src/conversation/conversation-api.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { openResponses } from '../../src/provider/open-responses.ts'
import type { ScriptTurn } from '../../src/provider/scripted/script.ts'
import {
  startScriptedProvider,
  type ScriptedProvider,
} from '../../src/provider/scripted/start-scripted-provider.ts'
import { replay } from '../../src/replay-run.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { collect, tempStore } from '../journal/store-kit.ts'
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

const USE = { crossRunCursor: 'use' } as const

/** What the log of a conversation says of its cursor. */
async function cursorFrames(talk: Conversation): Promise<readonly unknown[]> {
  return ofType(await loggedFrames(talk), 'cursor_updated').map(({ cause, figures }) => [
    cause,
    figures['previous_response_id'],
    figures['reason'],
  ])
}

function previousIds(requests: readonly Readonly<Record<string, unknown>>[]): readonly unknown[] {
  return requests.map((request) => request['previous_response_id'] ?? null)
}

async function untilAsked(frames: AsyncIterable<Frame>): Promise<void> {
  for await (const frame of frames) if (frame.type === 'approval_requested') return
}

interface HttpTalk {
  readonly provider: ScriptedProvider
  readonly talk: Conversation
}

/** A conversation with a provider over HTTP that gives these turns, one after the other. */
async function overHttp(
  turns: readonly ScriptTurn[],
  options: ConversationOptions & Pick<AgentOptions, 'continuity' | 'request'>,
): Promise<HttpTalk> {
  const left = [...turns]
  const provider = await startScriptedProvider(() => left.shift() ?? { output: [says('no more')] })
  onTestFinished(() => provider.close())
  const { continuity = 'previous_response_id', request = {}, ...rest } = options
  const model = openResponses({ baseUrl: provider.url, model: 'm' })
  const answering = agent({ model, tools: [addTool()], continuity, request, retry: { times: 0 } })
  const talk = conversation(answering, { toolHistory: { strategy: 'native' }, ...rest })
  onTestFinished(() => talk.close())
  return { provider, talk }
}

/** The requests that were sent: the id that each goes on from, and what each holds. */
function sentTo({ requests }: ScriptedProvider): readonly (readonly [unknown, unknown])[] {
  return requests.map(({ body }) => [body['previous_response_id'] ?? null, body['input']])
}

test('By default fresh runs leave the cursor out, and the log has it all the same.', async () => {
  const { talk, model } = startTalk([says('one'), calls('add', { a: 1, b: 2 }), says('three')])
  await talk.send('first')
  await talk.send('second')
  // Within a run the chain is used as ever.
  expect(previousIds(model.requests)).toEqual([null, null, 'resp_2'])
  expect(await cursorFrames(talk)).toEqual([
    ['set', 'resp_1', 'run_done'],
    ['rotated', 'resp_3', 'run_done'],
  ])
})

test('Where it may be used, a run goes on from the last response of the run before and sends its message only.', async () => {
  const { talk, model } = startTalk(
    [says('one'), calls('add', { a: 1, b: 2 }), says('three'), says('four')],
    USE,
  )
  for (const message of ['first', 'second', 'third']) await talk.send(message)
  expect(previousIds(model.requests)).toEqual([null, 'resp_1', 'resp_2', 'resp_3'])
  expect(inputsOf(model)[1]).toEqual([{ type: 'message', role: 'user', content: 'second' }])
  expect(inputsOf(model)[3]).toEqual([{ type: 'message', role: 'user', content: 'third' }])
  const compiled = ofType(await loggedFrames(talk), 'context_compiled')
  expect(compiled.map(({ previous_response_id: id }) => id)).toEqual([null, 'resp_1', 'resp_3'])
})

test.each(['previous_response_id', 'auto'] as const)(
  'A provider that has forgotten everything between two runs is told all of it again (%s).',
  async (continuity) => {
    const turns = [
      { output: [calls('add', { a: 1, b: 2 })] },
      { output: [says('It is 3.')] },
      { output: [says('You asked for 1 + 2.')] },
      { output: [says('Yes.')] },
    ]
    const { talk, provider } = await overHttp(turns, { ...USE, continuity })
    await talk.send('1 + 2?')
    provider.forget()
    const turn = talk.send('What did I ask?')
    expect(textOf(await turn)).toBe('You asked for 1 + 2.')
    expect(textOf(await talk.send('Sure?'))).toBe('Yes.')

    const sent = sentTo(provider)
    const message = { type: 'message', role: 'user', content: 'What did I ask?' }
    expect(sent[2]).toEqual(['resp_2', [message]])
    expect(sent[3]).toEqual([
      null,
      [
        { type: 'message', role: 'user', content: '1 + 2?' },
        expect.objectContaining({ type: 'function_call', arguments: '{"a":1,"b":2}' }),
        expect.objectContaining({ type: 'function_call_output', output: expect.stringContaining('3') }),
        { type: 'message', role: 'assistant', content: 'It is 3.' },
        message,
      ],
    ])
    expect(sent[4]?.[0]).toBe('resp_3')

    const frames = await collect(turn)
    expect(ofType(frames, 'cursor_updated').map(({ cause, figures }) => [cause, figures])).toEqual([
      ['cleared', { reason: 'previous_response_not_found', previous_response_id: 'resp_2' }],
    ])
    expect(replay(frames)).toMatchObject({ ok: true })
    expect(await cursorFrames(talk)).toEqual([
      ['set', 'resp_2', 'run_done'],
      ['cleared', null, 'previous_response_not_found'],
      ['set', 'resp_3', 'run_done'],
      ['rotated', 'resp_4', 'run_done'],
    ])
  },
)

test('A run that loses its own chain in the middle begins a new one with all of the conversation.', async () => {
  const turns = [
    { output: [says('Hello Ada.')] },
    { output: [calls('add', { a: 1, b: 2 })], forgets: true },
    { output: [says('It is 3, Ada.')] },
    { output: [says('Yes.')] },
  ]
  const { talk, provider } = await overHttp(turns, USE)
  await talk.send('I am Ada.')
  const turn = talk.send('1 + 2?')
  expect(textOf(await turn)).toBe('It is 3, Ada.')
  await talk.send('Sure?')

  const sent = sentTo(provider)
  expect(sent.map(([id]) => id)).toEqual([null, 'resp_1', 'resp_2', null, 'resp_3'])
  expect(sent[3]?.[1]).toEqual([
    { type: 'message', role: 'user', content: 'I am Ada.' },
    { type: 'message', role: 'assistant', content: 'Hello Ada.' },
    { type: 'message', role: 'user', content: '1 + 2?' },
    expect.objectContaining({ type: 'function_call', arguments: '{"a":1,"b":2}' }),
    expect.objectContaining({ type: 'function_call_output', output: expect.stringContaining('3') }),
  ])
  const frames = await collect(turn)
  expect(ofType(frames, 'cursor_updated')[0]).toMatchObject({
    cause: 'cleared',
    figures: { reason: 'previous_response_not_found', previous_response_id: 'resp_2' },
  })
  expect(replay(frames)).toMatchObject({ ok: true })
  expect(await cursorFrames(talk)).toEqual([
    ['set', 'resp_1', 'run_done'],
    ['cleared', null, 'previous_response_not_found'],
    ['set', 'resp_3', 'run_done'],
    ['rotated', 'resp_4', 'run_done'],
  ])
})

test('A run with auto that loses its own chain sends everything from then on, and the next run has no cursor.', async () => {
  const turns = [
    { output: [says('Hello Ada.')] },
    { output: [calls('add', { a: 1, b: 2 })], forgets: true },
    { output: [says('It is 3, Ada.')] },
    { output: [says('Yes.')] },
  ]
  const { talk, provider } = await overHttp(turns, { ...USE, continuity: 'auto' })
  await talk.send('I am Ada.')
  const turn = talk.send('1 + 2?')
  expect(textOf(await turn)).toBe('It is 3, Ada.')
  expect(textOf(await talk.send('Sure?'))).toBe('Yes.')
  const sent = sentTo(provider)
  expect(sent.map(([id]) => id)).toEqual([null, 'resp_1', 'resp_2', null, null])
  expect(sent[3]?.[1]).toHaveLength(5)
  expect(JSON.stringify(sent[4]?.[1])).toContain('I am Ada.')
  expect(ofType(await collect(turn), 'continuity_switched')).toHaveLength(1)
  expect(await cursorFrames(talk)).toEqual([
    ['set', 'resp_1', 'run_done'],
    ['cleared', null, expect.any(String)],
    ['set', 'resp_4', 'run_done'],
  ])
})

test('Reasoning that only the provider had is left out when the provider has forgotten it.', async () => {
  const turns: readonly ScriptTurn[] = [
    { output: [{ type: 'reasoning', summary: 'Hm.' }, calls('add', { a: 1, b: 2 })], forgets: true },
    { output: [{ type: 'reasoning', summary: 'So.' }, says('It is 3.')] },
    { output: [says('Yes.')] },
  ]
  const { talk, provider } = await overHttp(turns, USE)
  expect(textOf(await talk.send('1 + 2?'))).toBe('It is 3.')
  provider.forget()
  expect(textOf(await talk.send('Sure?'))).toBe('Yes.')
  const whole = sentTo(provider).filter(([id]) => id === null)
  expect(whole).toHaveLength(3)
  expect(JSON.stringify(whole)).not.toContain('reasoning')
})

test('A provider that forgets after every response is told everything each time, and nothing is missing.', async () => {
  const turns = Array.from({ length: 6 }, (_, at) => ({ output: [says(`answer ${at}`)], forgets: true }))
  const { talk, provider } = await overHttp(turns, USE)
  for (let at = 0; at < 6; at += 1) expect(textOf(await talk.send(`message ${at}`))).toBe(`answer ${at}`)
  const whole = sentTo(provider).filter(([id]) => id === null)
  expect(whole.map(([, input]) => (input as readonly unknown[]).length)).toEqual([1, 3, 5, 7, 9, 11])
})

test.each([
  ['another model', { name: 'other' }],
  ['another endpoint', { endpoint: 'elsewhere:' }],
])('A cursor is not used with %s, which is told everything.', async (_, modelOptions) => {
  const store = tempStore()
  const first = startTalk([says('one')], { ...USE, store, id: 'c1' })
  await first.talk.send('first')
  await first.talk.close()
  const second = startTalk([says('two')], { ...USE, store, id: 'c1', modelOptions })
  await second.talk.send('second')
  await second.talk.close()
  expect(previousIds(second.model.requests)).toEqual([null])
  expect(inputsOf(second.model)[0]).toHaveLength(3)
  // The cursor is now the other one's: the first model must not go on from it either.
  const third = startTalk([says('three')], { ...USE, store, id: 'c1' })
  await third.talk.send('third')
  expect(previousIds(third.model.requests)).toEqual([null])
  expect(inputsOf(third.model)[0]).toHaveLength(5)
})

test('A cursor outlives a restart.', async () => {
  const store = tempStore()
  const first = startTalk([says('one')], { ...USE, store, id: 'c1' })
  await first.talk.send('first')
  await first.talk.close()
  const second = startTalk([says('two')], { ...USE, store, id: 'c1' })
  await second.talk.send('second')
  expect(previousIds(second.model.requests)).toEqual(['resp_1'])
})

test('A run that fails leaves no cursor, and the next one tells everything.', async () => {
  const refusal: ScriptTurn = { fault: { type: 'status', status: 401 } }
  const { talk, model } = startTalk([says('one'), refusal, says('three')], USE)
  for (const message of ['first', 'second', 'third']) await talk.send(message)
  expect(previousIds(model.requests)).toEqual([null, 'resp_1', null])
  expect(inputsOf(model)[2]?.map(({ content }) => content)).toEqual(['first', 'one', 'second', 'third'])
  expect(await cursorFrames(talk)).toEqual([
    ['set', 'resp_1', 'run_done'],
    ['cleared', null, 'run_failed'],
    ['set', 'resp_3', 'run_done'],
  ])
})

test('A run that is cancelled leaves no cursor.', async () => {
  const { talk, model } = startTalk([says('one'), calls('add', { a: 1, b: 2 }), says('three')], {
    ...USE,
    agentOptions: { tools: [addTool({ needsApproval: true })] },
  })
  await talk.send('first')
  const turn = talk.send('second')
  for await (const frame of turn) if (frame.type === 'approval_requested') await turn.cancel()
  await talk.send('third')
  expect(previousIds(model.requests)).toEqual([null, 'resp_1', null])
  expect((await cursorFrames(talk))[1]).toEqual(['cleared', null, 'run_cancelled'])
})

test('A compaction clears the cursor, and the next run begins with the summary.', async () => {
  const long = 'so many words '.repeat(200)
  const { talk, model } = startTalk([says(long), says('two'), says('three')], USE)
  await talk.send('first')
  await talk.send('second')
  expect(await talk.compact()).toMatchObject({ status: 'compacted' })
  await talk.send('third')
  expect(previousIds(model.requests)).toEqual([null, 'resp_1', null])
  expect(JSON.stringify(inputsOf(model)[2])).toContain('Summary of the earlier conversation:')
  expect((await cursorFrames(talk)).slice(2)).toEqual([
    ['cleared', null, 'compacted'],
    ['set', 'resp_3', 'run_done'],
  ])
})

test('A run that is left for good leaves no cursor.', async () => {
  const store = tempStore()
  const { talk, model } = startTalk([says('one'), calls('add', { a: 1, b: 2 }), says('three')], {
    ...USE,
    store,
    agentOptions: { tools: [addTool({ needsApproval: true })] },
  })
  await talk.send('first')
  const turn = talk.send('second')
  await untilAsked(turn)
  await (await turn.run)?.suspend()
  expect(await talk.abandon()).toBe(true)
  await talk.send('third')
  expect(previousIds(model.requests)).toEqual([null, 'resp_1', null])
  expect((await cursorFrames(talk))[1]).toEqual(['cleared', null, 'run_abandoned'])
})

test.each([
  ['a stateless agent', { continuity: 'stateless' }],
  ['an agent that has nothing stored', { request: { store: false } }],
] as const)('There is no cursor with %s.', async (_, agentOptions) => {
  const { talk, model } = startTalk([says('one'), says('two')], { ...USE, agentOptions })
  await talk.send('first')
  await talk.send('second')
  expect(previousIds(model.requests)).toEqual([null, null])
  expect(await cursorFrames(talk)).toEqual([])
})

test('A fork does not go on from the cursor of the conversation that it comes from.', async () => {
  const model = scriptedModel([says('one'), says('two')])
  const talk = conversation(agent({ model }), USE)
  onTestFinished(() => talk.close())
  await talk.send('first')
  const forked = await talk.fork()
  onTestFinished(() => forked.close())
  await forked.send('second')
  expect(previousIds(model.requests)).toEqual([null, null])
  expect(inputsOf(model)[1]).toHaveLength(3)
})
