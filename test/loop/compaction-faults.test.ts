import { createActor, toPromise } from 'xstate'
import { expect, test } from 'vitest'

import { agent, type AgentOptions } from '../../src/agent.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { loopInput } from '../../src/loop/loop-input.ts'
import type { CompactEndpoint, SendFault } from '../../src/loop/model.ts'
import { provideLoop } from '../../src/loop/provide-loop.ts'
import { run } from '../../src/loop/run.ts'
import type { AnyItem } from '../../src/protocol/items.ts'
import { replay } from '../../src/replay-run.ts'
import {
  ADD,
  callsAnswer,
  finishRun,
  framesOf,
  refusalAnswer,
  scriptedModel,
  startRun,
  streamAnswer,
  textAnswer,
  type ScriptedAnswer,
} from '../scripted-model.ts'
import { addLike, compactEndpoint, LONG, resourceOf, RULES, TURNS } from './compaction-kit.ts'
import { framesUntilEnd, makeStore } from './subagent-kit.ts'

const USED = '"usage":{"input_tokens":40,"output_tokens":2,"total_tokens":42}'
const BY_PROVIDER = { way: 'provider', ...RULES } as const

/** What is said of the compactions of a run: who made them, and why it was not who was asked. */
function toldOf(frames: readonly Frame[]): readonly unknown[] {
  return framesOf(frames, 'history_compacted').map(({ figures }) => [figures['way'], figures['detail']])
}

function answering(output: unknown): CompactEndpoint {
  return compactEndpoint(() => `{"output":${JSON.stringify(output)},${USED}}`)
}

const CUT_SHORT = { incomplete_details: { reason: 'max_output_tokens' } }
const SEALED = { type: 'compaction', encrypted_content: 'b3BhcXVl' }
const CALL = { type: 'function_call', call_id: 'new_1', name: 'add', arguments: '{}' }

test.for<readonly [string, readonly object[], string]>([
  ['no content', [{ type: 'compaction' }], 'a compaction item without content'],
  ['a type that no input has', [SEALED, { type: 'weird' }], 'items of type "weird" cannot be sent'],
  ['a message of nobody', [SEALED, { type: 'message', content: 'x' }], 'a message without a role'],
  ['a call that nothing answers', [SEALED, CALL], 'the answer has a call that nothing answers'],
  ['only a reference', [{ type: 'item_reference', id: 'x' }], 'the answer says nothing of the conversation'],
  ['its own input and more', [SEALED, { ...SEALED, encrypted_content: 'x'.repeat(9000) }], 'no shorter than'],
])('what a provider gives is not taken when it has %s, and what that used counts', async (given) => {
  const [, output, detail] = given
  const started = startRun(TURNS, { compaction: BY_PROVIDER }, { compact: answering(output) })
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', text: 'three', usage: { total_tokens: 3 * 154 + 42 } })
  expect(toldOf(frames)).toEqual([['rules', expect.stringContaining(detail)]])
  expect(replay(frames)).toMatchObject({ ok: true, frames: frames.length })
})

const DEEP = `{"output":[{"type":"compaction","encrypted_content":"x","more":${'['.repeat(6000)}${']'.repeat(6000)}}],${USED}}`

test.for<readonly [string, () => string | SendFault, AgentOptions['streamLimits'], string]>([
  ['is nested too deep', () => DEEP, {}, 'nested deeper than 128'],
  [
    'has too many items',
    () => `{"output":${JSON.stringify(Array.from({ length: 6 }, () => SEALED))},${USED}}`,
    { itemsMax: 5 },
    'more than 5 items',
  ],
])('the rules stand in for an answer that %s, and what it used counts', async (given) => {
  const [, answer, streamLimits = {}, detail] = given
  const compact = compactEndpoint(answer)
  const { result, frames } = await finishRun(
    startRun(TURNS, { compaction: BY_PROVIDER, streamLimits }, { compact }),
  )
  expect(result).toMatchObject({ state: 'done', usage: { total_tokens: 3 * 154 + 42 } })
  expect(toldOf(frames)).toEqual([['rules', expect.stringContaining(detail)]])
})

test('the rules stand in for a provider that throws', async () => {
  const compact = { endpoint: 'scripted:/compact', send: () => Promise.reject(new Error('no socket')) }
  const { result, frames } = await finishRun(startRun(TURNS, { compaction: BY_PROVIDER }, { compact }))
  expect(result).toMatchObject({ state: 'done', text: 'three' })
  expect(toldOf(frames)).toEqual([['rules', 'no socket']])
})

test('prompts in the middle of a conversation outlast what a provider makes of it', async () => {
  const compact = compactEndpoint(resourceOf)
  const model = scriptedModel(TURNS, { compact })
  const made = agent({ model, tools: [addLike()], compaction: { ...BY_PROVIDER, atItems: 7 } })
  const rule = { type: 'message', role: 'developer', content: 'Only even numbers.' }
  await run(made, [said('user', 'hello'), rule, said('user', 'go')]).result
  expect(JSON.stringify(compact.bodies)).not.toContain('Only even numbers.')
  expect(JSON.stringify(model.requests[2])).toContain('Only even numbers.')
})

test('a function that makes the conversation longer is not followed: a warning says why', async () => {
  const started = startRun([callsAnswer(1, [ADD]), textAnswer(2, '5')], {
    compaction: {
      atTokens: 1,
      compact: (items) => Promise.resolve({ ok: true, items: [...items, said('user', 'and')] }),
    },
  })
  const { frames } = await finishRun(started)
  expect(toldOf(frames)).toEqual([])
  expect(framesOf(frames, 'warning')).toMatchObject([
    { cause: 'compaction_refused', figures: { message: expect.stringContaining('no shorter') as string } },
  ])
  expect(started.model.requests[1]).toMatchObject({ previous_response_id: 'resp_1' })
})

test('a function may keep reasoning that had led to nothing', async () => {
  const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'eA==' }
  const cutOff = streamAnswer(1, (stream) =>
    stream
      .addItem(0, { type: 'reasoning', id: 'rs_1', summary: [] })
      .doneItem(0, thought)
      .end('incomplete', CUT_SHORT),
  )
  const { frames } = await finishRun(
    startRun([cutOff, ...TURNS.slice(1)], {
      onIncomplete: 'continue',
      compaction: {
        atItems: 5,
        compact: (items) => Promise.resolve({ ok: true, items: items.filter(isNoOwnText) }),
      },
    }),
  )
  expect(framesOf(frames, 'warning')).toEqual([])
  expect(toldOf(frames)).toEqual([['custom', null]])
})

function isNoOwnText({ by }: AnyItem): boolean {
  return by !== 'loop'
}

test('the task outlasts texts that the loop says itself, whatever its length, and so do prompts', async () => {
  const rounds = Array.from({ length: 7 }, (_, at) =>
    callsAnswer(at + 1, [['add', LONG.replace('"a":1', `"a":${at}`)]]),
  )
  const model = scriptedModel([...rounds, textAnswer(8, 'end')])
  const made = agent({
    model,
    tools: [addLike()],
    followUpMessage: 'Go on.',
    limits: { noProgress: 50 },
    compaction: { atItems: 10, keepTokens: 300, summaryTokens: 200 },
  })
  const task = `rename all files; ${'with care; '.repeat(1000)}delete none`
  const talk = [
    said('user', 'hello'),
    said('assistant', 'hi'),
    said('developer', 'never push'),
    said('user', task),
  ]
  const live = run(made, talk, { runId: 'run_1' })
  const frames = await framesUntilEnd(live)
  expect(toldOf(frames).length).toBeGreaterThan(1)
  const whole = model.sent.filter((body) => !body.includes('previous_response_id'))
  expect(whole).toHaveLength(1 + toldOf(frames).length)
  for (const body of whole) expect(body).toContain(JSON.stringify(task))
  for (const body of whole) expect(body).toContain('never push')
  for (const body of model.sent) expect(body).not.toContain('"by"')
  expect(replay(frames)).toMatchObject({ ok: true, frames: frames.length })
})

function said(role: string, content: string): AnyItem {
  return { type: 'message', role, content }
}

test('what the loop says itself is marked, and what people say is not', async () => {
  const cutShort = streamAnswer(1, (stream) => stream.message(0, ['{"su']).end('incomplete', CUT_SHORT))
  const answers = [cutShort, textAnswer(2, 'six'), callsAnswer(3, [ADD]), textAnswer(4, '{"sum":6}')]
  let seen: readonly AnyItem[] = []
  const started = startRun(answers, {
    onIncomplete: 'continue',
    followUpMessage: 'Here they are.',
    output: { name: 'sum', schema: { type: 'object', properties: { sum: { type: 'number' } } } },
    compaction: {
      atItems: 1,
      compact: (items) => {
        seen = items
        return Promise.resolve({ ok: false, message: 'not now' })
      },
    },
  })
  for await (const frame of started.live) {
    if (frame.type === 'state_entered' && frame.turn === 2 && frame.state.endsWith('requesting'))
      await started.live.steer('be quick')
  }
  const marks = seen.flatMap(({ role, by = null }) => (role === 'user' ? [by] : []))
  // The question; to go on; what was said; the repair; the outputs.
  expect(marks).toEqual([null, 'loop', null, 'loop', 'loop'])
})

test('nothing is made shorter for a gain of less than a quarter of what sets it off', async () => {
  const many = [1, 2, 3, 4, 5, 6].map((a) => ['add', `{"a":${a},"b":1}`] as const)
  const rounds = [callsAnswer(1, [['add', LONG]]), callsAnswer(2, many), textAnswer(3, '5')]
  const { frames } = await finishRun(startRun(rounds, { compaction: { atItems: 15 } }))
  expect(framesOf(frames, 'effect_settled').map(({ value }) => value)).toEqual([
    { ok: false, message: 'it would gain too little', usage: null },
  ])
})

test('nobody is asked for what would be too long at once again', async () => {
  const { model, live } = byModel(TURNS, { atTokens: 100 })
  const frames = await framesUntilEnd(live)
  expect(model.requests).toHaveLength(3)
  expect(toldOf(frames)).toEqual([['rules', 'it would stay over its limit, so that nobody was asked']])
})

const SUMMARY = textAnswer(9, 'They added 1 and 2.')

function byModel(answers: readonly ScriptedAnswer[], when: object = RULES, more: Partial<AgentOptions> = {}) {
  const model = scriptedModel(answers)
  const made = agent({ model, tools: [addLike()], compaction: { way: 'model', ...when }, ...more })
  return { model, made, live: run(made, 'what is 2+3?', { runId: 'run_1' }) }
}

test('tokens that a compaction used end the run before the next request', async () => {
  const { model, live } = byModel([...TURNS.slice(0, 2), SUMMARY], RULES, { limits: { tokens: 400 } })
  const frames = await framesUntilEnd(live)
  expect(await live.result).toMatchObject({
    state: 'limitExceeded',
    reason: 'tokens',
    turns: 2,
    usage: { total_tokens: 3 * 154 },
  })
  expect(model.requests).toHaveLength(3)
  expect(framesOf(frames, 'limit_reached')).toMatchObject([
    { cause: 'tokens', figures: { used: 462, allowed: 400 } },
  ])
  expect(replay(frames)).toMatchObject({ ok: true, frames: frames.length })
})

test('after such a compaction the model may have the last word, about the shorter conversation', async () => {
  const { model, live } = byModel([...TURNS.slice(0, 2), SUMMARY, textAnswer(4, 'so far')], RULES, {
    limits: { tokens: 400 },
    onLimit: 'wrap_up',
  })
  const frames = await framesUntilEnd(live)
  expect(await live.result).toMatchObject({
    state: 'limitExceeded',
    reason: 'tokens',
    text: 'so far',
    turns: 3,
  })
  expect(model.sent[3]).toContain('They added 1 and 2.')
  expect(framesOf(frames, 'request_sent').at(-1)).toMatchObject({ kind: 'wrap_up' })
  expect(replay(frames)).toMatchObject({ ok: true, frames: frames.length })
})

const LATER: SendFault = {
  ...refusalAnswer('rate_limited'),
  isRetryable: true,
  retryAt: Number.MAX_SAFE_INTEGER,
}

test('a summary that would have to wait for long is written by rules where nothing could be taken up later', async () => {
  const answers = [...TURNS.slice(0, 2), LATER, ...TURNS.slice(2)]
  const { live, made } = byModel(answers)
  const frames = await framesUntilEnd(live)
  expect(await live.result).toMatchObject({ state: 'done', text: 'three' })
  expect(toldOf(frames)).toEqual([['rules', expect.stringContaining('it would have to wait')]])
  const again = { ...made, models: [scriptedModel(answers)] }
  const actor = createActor(provideLoop(again, { runId: 'run_2' }), { input: loopInput(again, 'go') })
  actor.start()
  expect(await toPromise(actor)).toMatchObject({ state: 'done', text: 'three' })
})

test('with a store such a run is suspended, and its summary is waited for', async () => {
  const { made } = byModel([])
  const model = scriptedModel([...TURNS.slice(0, 2), LATER])
  const live = run({ ...made, models: [model] }, 'go', { runId: 'run_1', store: makeStore() })
  expect(await live.result).toMatchObject({ status: 'suspended', reason: 'retry_later' })
})

test('a limit that was reached before the compaction is told once', async () => {
  const { live } = byModel([...TURNS.slice(0, 2), textAnswer(4, 'so far')], RULES, {
    limits: { tokens: 300 },
    onLimit: 'wrap_up',
  })
  const frames = await framesUntilEnd(live)
  expect(await live.result).toMatchObject({ state: 'limitExceeded', text: 'so far' })
  expect(toldOf(frames)).toEqual([['rules', expect.stringContaining('no tokens are left for it')]])
  expect(framesOf(frames, 'limit_reached')).toMatchObject([{ figures: { used: 308, allowed: 300 } }])
})
