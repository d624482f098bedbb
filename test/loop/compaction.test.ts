import { createActor, toPromise } from 'xstate'
import { expect, test } from 'vitest'

import type { CompactionOptions } from '../../src/agent-compaction.ts'
import { agent, type AgentOptions } from '../../src/agent.ts'
import { formatFrame } from '../../src/frames/format-frame.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { loopInput } from '../../src/loop/loop-input.ts'
import type { CompactEndpoint, Model, SendFault } from '../../src/loop/model.ts'
import { provideLoop } from '../../src/loop/provide-loop.ts'
import { run } from '../../src/loop/run.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { replay } from '../../src/replay-run.ts'
import {
  ADD,
  callsAnswer,
  finishRun,
  framesOf,
  refusalAnswer,
  scriptedModel,
  sentTypes,
  startRun,
  textAnswer,
  watchedTool,
  type ScriptedAnswer,
} from '../scripted-model.ts'
import { addLike, COMPACTION, compactEndpoint, resourceOf, RULES, TURNS } from './compaction-kit.ts'
import { framesUntilEnd, makeStore } from './subagent-kit.ts'

test('by rules, older turns give way to one message, nobody is asked, and the next request begins a new chain', async () => {
  const started = startRun(TURNS, { compaction: RULES })
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', text: 'three', usage: { total_tokens: 3 * 154 } })
  const { requests } = started.model
  expect(requests).toHaveLength(3)
  expect(requests[2]).not.toHaveProperty('previous_response_id')
  expect(sentTypes(requests[2])).toEqual([
    'message user',
    'message system',
    'function_call',
    'function_call_output',
  ])
  const [compacted] = framesOf(frames, 'history_compacted')
  expect(compacted).toMatchObject({
    cause: 'items',
    figures: { way: 'rules', detail: null, items_before: 5, items_after: 4 },
  })
  const { tokens_before: before, tokens_after: after } = compacted?.figures ?? {}
  expect(Number(after)).toBeLessThan(Number(before))
  expect(replay(frames)).toMatchObject({ ok: true, frames: frames.length })
})

test('a conversation in which nothing is old goes on as it is', async () => {
  const started = startRun([callsAnswer(1, [ADD]), textAnswer(2, '5')], { compaction: { atTokens: 1 } })
  const { frames } = await finishRun(started)
  expect(framesOf(frames, 'history_compacted')).toEqual([])
  expect(framesOf(frames, 'effect_settled')).toMatchObject([
    { id: 'compact', value: { ok: false, message: 'there is nothing to make shorter' } },
  ])
  expect(started.model.requests[1]).toMatchObject({ previous_response_id: 'resp_1' })
})

const SUMMARY = textAnswer(9, 'They added 1 and 2.')

test('by the model, the summary is a run of its own in the same store, and what it used counts', async () => {
  const store = makeStore()
  const { model, made } = byModel([...TURNS.slice(0, 2), SUMMARY, ...TURNS.slice(2)])
  const live = run(made, 'what is 2+3?', { runId: 'run_1', store })
  const frames = await framesUntilEnd(live)
  expect(await live.result).toMatchObject({ state: 'done', text: 'three', usage: { total_tokens: 4 * 154 } })
  expect(model.requests[2]).not.toHaveProperty('tools')
  expect(model.sent[2]).toContain('a long story')
  expect(model.sent[3]).toContain('They added 1 and 2.')
  expect(framesOf(frames, 'child_started')).toMatchObject([
    { call_id: 'compact', child_run_id: 'run_1.compact.3' },
  ])
  expect(framesOf(frames, 'history_compacted')).toMatchObject([{ figures: { way: 'model', detail: null } }])
  const child = [...store.read('run_1.compact.3')]
  expect(child[0]).toMatchObject({ parent: { run_id: 'run_1', call_id: 'compact' } })
  expect(child.at(-1)).toMatchObject({ type: 'run_ended', state: 'done', text: 'They added 1 and 2.' })
  expect(replay(frames)).toMatchObject({ ok: true, frames: frames.length })
  expect(replay(child)).toMatchObject({ ok: true })
})

test.for<readonly [string, ScriptedAnswer, string]>([
  ['fails', refusalAnswer('content_filter'), 'the model gave no summary: no: content_filter'],
  ['says nothing', textAnswer(9, ' '), 'the model gave an empty summary'],
  ['calls a tool', callsAnswer(9, [ADD]), 'the model gave no summary: the limit of turns was reached'],
])('the rules stand in when the model %s', async ([, answer, detail]) => {
  const { made } = byModel([...TURNS.slice(0, 2), answer, ...TURNS.slice(2)])
  const live = run(made, 'what is 2+3?', { runId: 'run_1' })
  const frames = await framesUntilEnd(live)
  expect(await live.result).toMatchObject({ state: 'done', text: 'three' })
  expect(framesOf(frames, 'history_compacted')).toMatchObject([
    { figures: { way: 'rules', detail: expect.stringContaining(detail) as string } },
  ])
  expect(replay(frames)).toMatchObject({ ok: true, frames: frames.length })
})

test('a summary is never longer than it may be', async () => {
  const long = textAnswer(9, 'word '.repeat(400))
  const { model, made } = byModel([...TURNS.slice(0, 2), long, ...TURNS.slice(2)], { summaryTokens: 20 })
  await run(made, 'what is 2+3?').result
  expect(model.sent[3]?.match(/word/gu)?.length ?? 0).toBeLessThanOrEqual(20)
})

test('a summary that was cut off is taken up and not asked for again', async () => {
  const store = makeStore()
  const first = byModel([...TURNS.slice(0, 2), () => new Promise(() => undefined)])
  const live = run(first.made, 'what is 2+3?', { runId: 'run_1', store })
  for await (const frame of live) if (frame.type === 'child_started') break
  await live.suspend()
  const second = byModel([SUMMARY, ...TURNS.slice(2)])
  const resumed = run(second.made, { resume: 'run_1' }, { store })
  expect(await resumed.result).toMatchObject({ state: 'done', text: 'three' })
  const child = [...store.read('run_1.compact.3')]
  expect(child.filter(({ type }) => type === 'run_started')).toHaveLength(1)
  expect(child.some(({ type }) => type === 'run_resumed')).toBe(true)
  const frames = [...store.read('run_1')]
  expect(framesOf(frames, 'history_compacted')).toMatchObject([{ figures: { way: 'model' } }])
  expect(replay(frames)).toMatchObject({ ok: true, frames: frames.length })
})

function byModel(answers: readonly ScriptedAnswer[], more: Partial<AgentOptions['compaction']> = {}) {
  const model = scriptedModel(answers)
  const tools = [watchedTool('add', () => 5).tool]
  return { model, made: agent({ model, tools, compaction: { way: 'model', ...RULES, ...more } }) }
}

const BY_PROVIDER: CompactionOptions = { way: 'provider', ...RULES }

function byProvider(
  endpoint: CompactEndpoint,
  options: Partial<AgentOptions> = {},
): ReturnType<typeof startRun> {
  return startRun(TURNS, { compaction: BY_PROVIDER, ...options }, { compact: endpoint })
}

test('by the provider, what it gives stands first, what it has not seen follows, and a new chain begins', async () => {
  const endpoint = compactEndpoint(resourceOf)
  const started = byProvider(endpoint, { instructions: 'Be brief.' })
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', text: 'three', usage: { total_tokens: 3 * 154 + 42 } })
  expect(Object.keys(endpoint.bodies[0] ?? {})).toEqual(['model', 'instructions', 'input'])
  expect(sentTypes(endpoint.bodies[0])).toEqual(['message user', 'function_call', 'function_call_output'])
  const { requests } = started.model
  expect(requests[2]).not.toHaveProperty('previous_response_id')
  expect(sentTypes(requests[2])).toEqual([
    'message user',
    'compaction',
    'function_call',
    'function_call_output',
  ])
  expect(requests[2]?.['input']).toContainEqual(COMPACTION)
  const asked = framesOf(frames, 'request_sent').find(({ kind }) => kind === 'compact')
  expect(asked).toMatchObject({ turn: 3, attempt: 0, endpoint: 'scripted:/compact', model: 'scripted-1' })
  expect(JSON.parse(asked?.body ?? '')).toEqual(endpoint.bodies[0])
  const seen = frames[(asked?.seq ?? 0) + 2]
  expect(seen).toMatchObject({ type: 'provider_event', turn: 3, raw: resourceOf(endpoint.bodies[0] ?? {}) })
  expect(framesOf(frames, 'history_compacted')).toMatchObject([
    { figures: { way: 'provider', detail: null, items_before: 5, items_after: 4 } },
  ])
  expect(replay(frames)).toMatchObject({ ok: true, frames: frames.length })
})

test('prompts among the items are not sent to the provider, which would not give them back', async () => {
  const endpoint = compactEndpoint(resourceOf)
  const model = scriptedModel(TURNS, { compact: endpoint })
  const made = agent({
    model,
    tools: [watchedTool('add', () => 5).tool],
    compaction: { ...BY_PROVIDER, atItems: 6 },
  })
  const prompt = { type: 'message', role: 'developer', content: 'Only even numbers.' }
  await run(made, [prompt, { type: 'message', role: 'user', content: 'go' }]).result
  expect(sentTypes(endpoint.bodies[0])[0]).toBe('message user')
  expect(sentTypes(model.requests[2]).slice(0, 3)).toEqual([
    'message developer',
    'message user',
    'compaction',
  ])
})

test('the instructions are no field of a compaction where they are none of a request', async () => {
  const endpoint = compactEndpoint(resourceOf)
  await finishRun(byProvider(endpoint, { instructions: 'Be brief.', continuity: 'stateless' }))
  expect(Object.keys(endpoint.bodies[0] ?? {})).toEqual(['model', 'input'])
})

test.for<readonly [string, () => string | SendFault, string]>([
  ['refuses', () => ({ ...refusalAnswer('server_error'), body: '{"error":1}' }), 'no: server_error'],
  ['says what is no JSON', () => '<html>', 'the answer is not a JSON object'],
  ['gives no items', () => '{"output":[]}', 'the answer has no items'],
  ['gives what are no items', () => '{"output":[1]}', 'the answer has no items'],
  ['tears a pair', () => tornOutput(), 'has no partner'],
])('the rules stand in when the provider %s', async ([, answer, detail]) => {
  const started = byProvider(compactEndpoint(answer))
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', text: 'three' })
  expect(framesOf(frames, 'history_compacted')).toMatchObject([
    { figures: { way: 'rules', detail: expect.stringContaining(detail) as string } },
  ])
  expect(sentTypes(started.model.requests[2])).toContain('message system')
  expect(replay(frames)).toMatchObject({ ok: true, frames: frames.length })
})

function tornOutput(): string {
  return JSON.stringify({
    output: [COMPACTION, { type: 'function_call_output', call_id: 'call_1_0', output: '5' }],
  })
}

test('an answer over the size of a response is not read to its end', async () => {
  const endpoint = compactEndpoint(() => `"${'x'.repeat(20_000)}"`)
  const { frames } = await finishRun(byProvider(endpoint, { streamLimits: { responseBytesMax: 19_000 } }))
  expect(framesOf(frames, 'history_compacted')).toMatchObject([
    { figures: { way: 'rules', detail: 'the answer is too large' } },
  ])
})

test.for<readonly [string, (items: readonly JsonObject[]) => readonly JsonObject[], string]>([
  ['an output', (items) => items.filter(({ type }) => type !== 'function_call_output'), 'without its output'],
  ['a call', (items) => items.filter(({ type }) => type !== 'function_call'), 'without the call'],
  ['everything', () => [], 'must be a text or a list that is not empty'],
])('a function that drops %s is not followed: a warning says why', async ([, drop, message]) => {
  const started = startRun([callsAnswer(1, [ADD]), textAnswer(2, '5')], {
    compaction: {
      atTokens: 1,
      compact: (items) => Promise.resolve({ ok: true, items: drop(items), usage: null } as never),
    },
  })
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', text: '5' })
  expect(framesOf(frames, 'warning')).toMatchObject([
    { cause: 'compaction_refused', figures: { message: expect.stringContaining(message) as string } },
  ])
  expect(framesOf(frames, 'history_compacted')).toEqual([])
  expect(started.model.requests[1]).toMatchObject({ previous_response_id: 'resp_1' })
  expect(replay(frames)).toMatchObject({ ok: true, frames: frames.length })
})

test('a refused compaction still counts what it used', async () => {
  const usage = { prompt_tokens: 6, completion_tokens: 1, total_tokens: 7, cached: 0, reasoning: 0 }
  const { result } = await finishRun(
    startRun([callsAnswer(1, [ADD]), textAnswer(2, '5')], {
      compaction: { atTokens: 1, compact: () => Promise.resolve({ ok: true, items: [], usage }) },
    }),
  )
  expect(result.usage.total_tokens).toBe(2 * 154 + 7)
})

test('a compaction that was cut off is done again', async () => {
  const { frames } = await finishRun(startRun(TURNS, { compaction: RULES }))
  const at = frames.findIndex((frame) => frame.type === 'effect_settled')
  const store = makeStore()
  store.importRun(frames.slice(0, at).map(formatFrame))
  const model = scriptedModel(TURNS.slice(2))
  const made = agent({ model, tools: [addLike()], compaction: RULES })
  expect(await run(made, { resume: 'run_1' }, { store }).result).toMatchObject({ state: 'done' })
  const whole = [...store.read('run_1')]
  expect(framesOf(whole, 'effect_settled').map(({ in_doubt: isInDoubt }) => isInDoubt)).toEqual([true, false])
  expect(framesOf(whole, 'history_compacted')).toHaveLength(1)
})

test('an actor of the chart compacts in the same ways', async () => {
  const seen: Frame[] = []
  const endpoint = compactEndpoint(resourceOf)
  const [first, second, third] = TURNS
  const ways: readonly (readonly [AgentOptions['compaction'], readonly string[], Partial<Model>])[] = [
    [RULES, [first ?? '', second ?? '', third ?? ''], {}],
    [{ way: 'model', ...RULES }, [first ?? '', second ?? '', SUMMARY, third ?? ''], {}],
    [BY_PROVIDER, [first ?? '', second ?? '', third ?? ''], { compact: endpoint }],
  ]
  for (const [compaction, answers, options] of ways) {
    const made = agent({
      model: scriptedModel(answers, options),
      tools: [addLike()],
      ...(compaction !== undefined && { compaction }),
    })
    const machine = provideLoop(made, { runId: 'run_1', onFrame: (frame) => seen.push(frame) })
    const actor = createActor(machine, { input: loopInput(made, 'go') })
    const told: unknown[] = []
    actor.on('history_compacted', ({ way }) => told.push(way))
    actor.start()
    expect(await toPromise(actor)).toMatchObject({ state: 'done', text: 'three' })
    expect(told).toEqual([compaction?.way ?? 'rules'])
  }
  expect(framesOf(seen, 'child_started')).toHaveLength(1)
  expect(framesOf(seen, 'request_sent').map(({ kind }) => kind)).toEqual(['compact'])
})
