import { expect, test } from 'vitest'

import { conversation } from '../../src/conversation/conversation.ts'
import { parseFrame } from '../../src/frames/parse-frame.ts'
import { collect } from '../journal/store-kit.ts'
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

test('A message is told together with what was said before it.', async () => {
  const { talk, model } = startTalk([says('Hello Ada.'), says('You are Ada.')])
  expect(textOf(await talk.send('I am Ada.'))).toBe('Hello Ada.')
  expect(textOf(await talk.send('Who am I?'))).toBe('You are Ada.')
  expect(inputsOf(model)[1]).toEqual([
    { type: 'message', role: 'user', content: 'I am Ada.' },
    { type: 'message', role: 'assistant', content: 'Hello Ada.' },
    { type: 'message', role: 'user', content: 'Who am I?' },
  ])
})

test('A fresh run has no previous_response_id, also when the run before it had responses.', async () => {
  const { talk, model } = startTalk([says('one'), says('two')])
  await talk.send('first')
  await talk.send('second')
  expect(model.requests.map((request) => request['previous_response_id'])).toEqual([undefined, undefined])
})

test('An answer can be read while it is written, and awaited as well.', async () => {
  const { talk } = startTalk([says(['Hel', 'lo'])])
  const turn = talk.send('Hi')
  expect(await collect(turn.textStream())).toEqual(['Hel', 'lo'])
  const types = (await collect(turn)).map(({ type }) => type)
  expect(types[0]).toBe('run_started')
  expect(types.at(-1)).toBe('run_ended')
  expect(textOf(await turn)).toBe('Hello')
})

test('Two messages at once are answered one after the other, and the second is told so.', async () => {
  const { talk, model } = startTalk([says('one'), says('two')])
  const first = talk.send('first')
  const second = talk.send('second')
  expect(first.receipt).toEqual({ answer: 'accepted', reason: null, ahead: 0 })
  expect(second.receipt).toEqual({ answer: 'queued', reason: null, ahead: 1 })
  expect(talk.state).toBe('running')
  expect([textOf(await first), textOf(await second)]).toEqual(['one', 'two'])
  expect(inputsOf(model)[1]).toHaveLength(3)
  expect(talk.state).toBe('idle')
})

test('A message that waits can be taken back, and then nothing is said of it.', async () => {
  const { talk, model } = startTalk([says('one'), says('three')])
  const first = talk.send('first')
  const second = talk.send('second')
  expect(await second.cancel()).toEqual({ answer: 'accepted', reason: null })
  expect(await second).toMatchObject({ status: 'refused', reason: 'cancelled' })
  expect(await second.run).toBeNull()
  await first
  await talk.send('third')
  expect(JSON.stringify(inputsOf(model)[1])).not.toContain('second')
  expect(await first.cancel()).toMatchObject({ answer: 'refused' })
})

test('An aborted signal cancels the run of its message, and the conversation goes on.', async () => {
  const stop = new AbortController()
  const { talk } = startTalk([calls('add', { a: 1, b: 2 }), says('after')], {
    agentOptions: {
      tools: [
        addTool({
          execute: (_: unknown, { signal }: { signal: AbortSignal }) =>
            new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => reject(new Error('stopped')))
              stop.abort()
            }),
        }),
      ],
    },
  })
  const result = await talk.send('add', { signal: stop.signal })
  expect(result).toMatchObject({ status: 'ended', state: 'cancelled' })
  expect(textOf(await talk.send('and now?'))).toBe('after')
})

test('More messages than can wait are refused at once.', async () => {
  const { talk } = startTalk([says('one')])
  const turns = Array.from({ length: 101 }, (_, at) => talk.send(`message ${at}`))
  expect(turns[99]?.receipt.answer).toBe('queued')
  expect(turns[100]?.receipt).toMatchObject({ answer: 'refused', ahead: 100 })
  expect(await turns[100]).toMatchObject({ status: 'refused', reason: 'queue_full' })
})

test('A closed conversation refuses messages, those that wait included.', async () => {
  const { talk } = startTalk([says('one'), says('two')])
  const first = talk.send('first')
  const second = talk.send('second')
  await first.run
  await talk.close()
  expect(await second).toMatchObject({ status: 'refused', reason: 'closed' })
  expect(talk.send('third').receipt).toMatchObject({ answer: 'refused' })
  expect((await first).status).not.toBe('refused')
})

test('A run that fails leaves its message in the conversation and the next one is answered.', async () => {
  const { talk, model } = startTalk([
    { fault: { type: 'status', status: 401, body: { error: { message: 'no', code: 'invalid_api_key' } } } },
    says('yes'),
  ])
  expect(await talk.send('first')).toMatchObject({ status: 'ended', state: 'failed' })
  expect(textOf(await talk.send('second'))).toBe('yes')
  expect(inputsOf(model)[1]?.map(({ content }) => content)).toEqual(['first', 'second'])
})

test('What somebody says to a run while it goes on is a message of the conversation.', async () => {
  const { talk, model } = startTalk([calls('add', { a: 1, b: 2 }), says('3, in French: trois'), says('ok')], {
    toolHistory: { strategy: 'native' },
    agentOptions: {
      tools: [addTool({ execute: async () => (await (await turn.run)?.steer('In French.'), 3) })],
    },
  })
  const turn = talk.send('1+2?')
  await turn
  await talk.send('thanks')
  const roles = inputsOf(model)[2]?.map(({ type, role, content }) => [type, role, content])
  expect(roles).toEqual([
    ['message', 'user', '1+2?'],
    ['function_call', undefined, undefined],
    ['function_call_output', undefined, undefined],
    ['message', 'user', 'In French.'],
    ['message', 'assistant', '3, in French: trois'],
    ['message', 'user', 'thanks'],
  ])
})

test('A message with a picture is sent whole once, and remembered as text.', async () => {
  const { talk, model } = startTalk([says('A cat.'), says('Black.')])
  const picture = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' } as const
  await talk.send([{ type: 'input_text', text: 'What is this?' }, picture])
  await talk.send('What colour?')
  expect(inputsOf(model)[0]?.[0]?.['content']).toEqual([
    { type: 'input_text', text: 'What is this?' },
    { type: 'input_image', image_url: picture.image_url },
  ])
  expect(inputsOf(model)[1]?.[0]?.['content']).toBe('What is this?\n[image]')
})

test('A message that no run would take is refused at once.', () => {
  const { talk } = startTalk([])
  expect(() => talk.send('')).toThrow(/must have a text/u)
  expect(() => talk.send([])).toThrow(/not empty/u)
})

test('The log says what was selected before it says what was compiled, and both before the run begins.', async () => {
  const { talk } = startTalk([says('one')])
  await talk.send('first')
  const frames = await loggedFrames(talk)
  expect(frames.map(({ type }) => type)).toEqual([
    'conversation_started',
    'conversation_entry',
    'context_selected',
    'context_compiled',
    'conversation_run_started',
    'conversation_entry',
    'cursor_updated',
    'conversation_run_ended',
  ])
  for (const frame of frames) expect(parseFrame(JSON.stringify(frame))).toEqual(frame)
})

test('The log of a run has the bundle that it was told, under the id that the conversation recorded.', async () => {
  const { talk } = startTalk([says('one')])
  const turn = talk.send('first')
  const [started] = await collect(turn)
  const [compiled] = ofType(await loggedFrames(talk), 'context_compiled')
  expect(started).toMatchObject({
    type: 'run_started',
    conversation: { conversation_id: talk.id, message_seq: 0, bundle_id: compiled?.bundle_id },
  })
})

test.each([
  [{ contxt: {} }, /contxt is not an option/u],
  [{ context: { recent: 0 } }, /context\.recent must be a whole number/u],
  [{ context: { strategy: 'newest' } }, /context\.strategy must be one of/u],
  [{ compaction: { atShare: 2 } }, /compaction\.atShare/u],
  [{ compaction: { atShare: 0.4 } }, /keepShare must be less/u],
  [{ compaction: { way: 'magic' } }, /compaction\.way/u],
  [{ budget: { cost: 1 } }, /needs prices/u],
  [{ prices: { input: -1, output: 1 } }, /prices must have/u],
  [{ toolHistory: { keep: 3 } }, /keep is not a setting/u],
  [{ toolHistory: { strategy: 'binary' } }, /toolHistory\.strategy/u],
  [{ toolHistory: { toolHistorySummarizationModel: 'gpt' } }, /must be a model/u],
  [{ crossRunCursor: 'yes' }, /crossRunCursor/u],
])('The options %j are refused with what is wrong about them.', (options, complaint) => {
  const { agent } = startTalk([])
  expect(() => conversation(agent, options as object)).toThrow(complaint)
})
