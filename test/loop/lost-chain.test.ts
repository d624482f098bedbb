import { expect, test } from 'vitest'

import { agent, type AgentOptions } from '../../src/agent.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import type { ModelRequest } from '../../src/loop/model.ts'
import { startRun as startPart, type Run } from '../../src/loop/run.ts'
import { replay } from '../../src/replay-run.ts'
import { ManualClock } from '../manual-clock.ts'
import {
  ADD,
  callsAnswer,
  finishRun,
  framesOf,
  refusalAnswer,
  scriptedModel,
  sentTypes,
  startRun,
  streamAnswer,
  textAnswer,
  watchedTool,
  type ScriptedAnswer,
  type ScriptedModel,
} from '../scripted-model.ts'
import { MemoryStore } from '../replay/memory-store.ts'

const LOST = refusalAnswer('previous_response_not_found')
const PAIR = ['function_call', 'function_call_output']

test('a run by id begins a new chain with the whole conversation when its response is lost, and goes on by id', async () => {
  const started = startRun([
    callsAnswer(1, [ADD]),
    LOST,
    callsAnswer(2, [['add', '{"a":5,"b":1}']]),
    textAnswer(3, '6'),
  ])
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', text: '6', turns: 3 })
  const { requests } = started.model
  expect(requests.map((request) => request['previous_response_id'])).toEqual([
    undefined,
    'resp_1',
    undefined,
    'resp_2',
  ])
  expect(requests.map(sentTypes)).toEqual([
    ['message user'],
    ['function_call_output'],
    ['message user', ...PAIR],
    ['function_call_output'],
  ])
  expect(started.ran).toHaveLength(2)
  expect(framesOf(frames, 'cursor_updated')).toMatchObject([
    {
      cause: 'cleared',
      figures: { reason: 'previous_response_not_found', previous_response_id: 'resp_1' },
    },
  ])
  expect(framesOf(frames, 'continuity_switched')).toEqual([])
  expect(replay(frames)).toMatchObject({ ok: true, frames: frames.length })
})

test('a provider that loses every response is asked twice in each turn, and not more often', async () => {
  const started = startRun(
    [callsAnswer(1, [ADD]), LOST, callsAnswer(2, [['add', '{"a":5,"b":1}']]), LOST, textAnswer(3, '6')],
    { retry: { times: 0 } },
  )
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', text: '6' })
  expect(framesOf(frames, 'cursor_updated').map(({ figures }) => figures['previous_response_id'])).toEqual([
    'resp_1',
    'resp_2',
  ])
})

test.for(['previous_response_id', 'auto'] as const)(
  'a lost response leaves as many retries to the request that is sent instead: %s',
  async (continuity) => {
    const broken = 'event: response.created\ndata: {nonsense\n\n'
    const started = startRun([callsAnswer(1, [ADD]), LOST, broken, textAnswer(2, '5')], {
      continuity,
      retry: { times: 1, waitMs: 0 },
    })
    const { result } = await finishRun(started)
    expect(result).toMatchObject({ state: 'done', text: '5' })
  },
)

test('the request that begins a new chain has a key of its own', async () => {
  const keys: string[] = []
  const kept = (answer: typeof LOST | null) => (request: ModelRequest) => {
    keys.push(request.idempotencyKey)
    if (answer === null) request.onChunk(Buffer.from(textAnswer(2, '5')))
    return Promise.resolve(answer)
  }
  await finishRun(startRun([callsAnswer(1, [ADD]), kept(LOST), kept(null)]))
  expect(keys).toHaveLength(2)
  expect(new Set(keys).size).toBe(2)
})

test('reasoning goes into the new chain with its content, and without it not at all: the provider could not look it up', async () => {
  expect(await sentAfter({ encrypted_content: 'b3BhcXVl' })).toEqual(['message user', 'reasoning', ...PAIR])
  expect(await sentAfter({ encrypted_content: null })).toEqual(['message user', ...PAIR])
})

/** What the new chain carries after a response whose reasoning has this content. */
async function sentAfter(content: object): Promise<readonly string[]> {
  const started = startRun([thoughtWith(content), LOST, textAnswer(2, '5')])
  const { result } = await finishRun(started)
  expect(result.state).toBe('done')
  return sentTypes(started.model.requests[2])
}

function thoughtWith(content: object): string {
  const stream = streamAnswer(1, (made) =>
    made.reasoning(0, ['Adding.'], ['2+3']).call(1, 'add', [ADD[1]]).end(),
  )
  return stream.replaceAll(/"encrypted_content":"[^"]*"/gu, JSON.stringify(content).slice(1, -1))
}

test('the last word of a run is had although its response is lost', async () => {
  const started = startRun([callsAnswer(1, [ADD]), LOST, textAnswer(2, 'so far')], {
    limits: { turns: 1 },
    onLimit: 'wrap_up',
  })
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'limitExceeded', text: 'so far' })
})

const EARLIER = [
  { type: 'message', role: 'user', content: 'hello' },
  { type: 'message', role: 'assistant', content: 'hi' },
  { type: 'message', role: 'user', content: 'what is 2+3?' },
]

const CONVERSATION = {
  conversation_id: 'conversation_1',
  message_seq: 2,
  bundle_id: 'bundle_1',
  bundle: { messages: 3 },
  previous_response_id: 'resp_before',
}

interface Part {
  readonly live: Run
  readonly model: ScriptedModel
  readonly clock: ManualClock
}

function startedPart(
  answers: readonly ScriptedAnswer[],
  options: Partial<AgentOptions> = {},
  conversation: typeof CONVERSATION = CONVERSATION,
): Part {
  const clock = new ManualClock()
  const model = scriptedModel(answers)
  const made = agent({ model, tools: [watchedTool('add', () => 5).tool], clock, ...options })
  return { live: startPart(made, EARLIER, { runId: 'run_1', conversation }), model, clock }
}

test('a run of a conversation goes on from its cursor with the last item alone, and says so in its log', async () => {
  const part = startedPart([callsAnswer(1, [ADD]), textAnswer(2, '5')])
  const { result, frames } = await finishRun(part)
  expect(result).toMatchObject({ state: 'done', text: '5' })
  expect(part.model.requests[0]).toMatchObject({
    previous_response_id: 'resp_before',
    input: [{ content: 'what is 2+3?' }],
  })
  expect(part.model.requests[1]).toMatchObject({ previous_response_id: 'resp_1' })
  expect(frames[0]).toMatchObject({ type: 'run_started', conversation: CONVERSATION })
  expect(replay(frames)).toMatchObject({ ok: true, frames: frames.length })
})

test('a run that is no part of a conversation says nothing of one', async () => {
  const { frames } = await finishRun(startRun([textAnswer(1, 'hi')]))
  expect(frames[0]).not.toHaveProperty('conversation')
})

test('a replay holds the first request against the cursor of the log', async () => {
  const { frames } = await finishRun(startedPart([textAnswer(1, '5')]))
  const [first, ...rest] = frames
  const other = { ...first, conversation: { ...CONVERSATION, previous_response_id: 'resp_other' } } as Frame
  expect(replay([other, ...rest])).toMatchObject({ ok: false })
})

test('a cursor is no use to a run that sends the whole conversation', async () => {
  const part = startedPart([textAnswer(1, '5')], { continuity: 'stateless' })
  await finishRun(part)
  expect(part.model.requests[0]).not.toHaveProperty('previous_response_id')
  expect(sentTypes(part.model.requests[0])).toEqual(['message user', 'message assistant', 'message user'])
})

test.for(['auto', 'previous_response_id'] as const)(
  'a cursor that the provider has lost is let go of, and a run with continuity %s goes on by id',
  async (continuity) => {
    const part = startedPart([LOST, callsAnswer(1, [ADD]), textAnswer(2, '5')], { continuity })
    const { result, frames } = await finishRun(part)
    expect(result).toMatchObject({ state: 'done', text: '5' })
    const { requests } = part.model
    expect(requests.map((request) => request['previous_response_id'])).toEqual([
      'resp_before',
      undefined,
      'resp_1',
    ])
    expect(sentTypes(requests[1])).toEqual(['message user', 'message assistant', 'message user'])
    expect(framesOf(frames, 'cursor_updated')).toMatchObject([
      { figures: { previous_response_id: 'resp_before' } },
    ])
    expect(framesOf(frames, 'continuity_switched')).toEqual([])
    expect(replay(frames)).toMatchObject({ ok: true, frames: frames.length })
  },
)

test('auto turns to stateless when the lost response is one that the run had itself', async () => {
  const part = startedPart([callsAnswer(1, [ADD]), LOST, textAnswer(2, '5')], { continuity: 'auto' })
  const { frames } = await finishRun(part)
  expect(framesOf(frames, 'continuity_switched')).toHaveLength(1)
  expect(framesOf(frames, 'cursor_updated')).toEqual([])
})

test('a run that was cut off in its first request goes on from the same cursor', async () => {
  const { frames } = await finishRun(startedPart([textAnswer(1, '5')]))
  const sentAt = frames.findIndex(({ type }) => type === 'request_sent')
  const model = scriptedModel([textAnswer(1, '5')])
  const made = agent({ model, tools: [watchedTool('add').tool], clock: new ManualClock() })
  const store = new MemoryStore(frames.slice(0, sentAt + 1))
  const result = await startPart(made, { resume: 'run_1' }, { store }).result
  expect(result).toMatchObject({ status: 'ended', state: 'done' })
  expect(model.requests[0]).toMatchObject({ previous_response_id: 'resp_before' })
})
