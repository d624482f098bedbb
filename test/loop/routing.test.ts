import { expect, test } from 'vitest'

import { agent } from '../../src/agent.ts'
import type { SendFault } from '../../src/loop/model.ts'
import { run } from '../../src/loop/run.ts'
import { ManualClock } from '../manual-clock.ts'
import {
  ADD,
  callsAnswer,
  finishRun,
  framesOf,
  scriptedModel,
  sentTypes,
  startRun,
  textAnswer,
  untilFrame,
  watchedTool,
  type ScriptedAnswer,
  type ScriptedModel,
  type StartedRun,
} from '../scripted-model.ts'

test('when the first model fails for good the next one gets the whole conversation', async () => {
  const { started, models } = startRouted([
    [callsAnswer(1, [ADD]), fault('provider_unavailable')],
    [textAnswer(2, '5')],
  ])
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ status: 'ended', state: 'done', text: '5' })
  expect(sentTypes(models[1]?.requests[0])).toEqual(['message user', 'function_call', 'function_call_output'])
  expect(models[1]?.requests[0]).toMatchObject({ model: 'model-1' })
  expect(models[1]?.requests[0]).not.toHaveProperty('previous_response_id')
  expect(framesOf(frames, 'provider_switched')).toMatchObject([
    { cause: 'provider_unavailable', figures: { from: 'model-0', to: 'model-1' } },
  ])
  expect(started.ran).toHaveLength(1)
})

test('a model that took over is continued by its own response ids, and has all its retries', async () => {
  const { started, models } = startRouted([
    [fault('connect_failed')],
    [fault('provider_unavailable', true), callsAnswer(1, [ADD]), textAnswer(2, '5')],
  ])
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', text: '5' })
  expect(models[1]?.requests[2]).toMatchObject({ previous_response_id: 'resp_1' })
})

test('a request is sent again to the same model before another is asked', async () => {
  const { started, models } = startRouted(
    [[fault('provider_unavailable', true), fault('provider_unavailable', true)], [textAnswer(1, 'hello')]],
    { retry: { times: 1 } },
  )
  const { result, frames } = await finishRun(started)
  expect(result.state).toBe('done')
  expect(models.map(({ requests }) => requests.length)).toEqual([2, 1])
  expect(framesOf(frames, 'retry_scheduled')).toHaveLength(1)
})

test('a model that wants to be left alone for long is passed over at once', async () => {
  const { started, models } = startRouted([
    [{ ...fault('provider_rate_limited', true), retryAt: 3_600_000 + Date.UTC(2030, 0) }],
    [textAnswer(1, 'hello')],
  ])
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', text: 'hello' })
  expect(models[0]?.requests).toHaveLength(1)
})

test.for([
  ["an error that is the request's own", 'request_refused', undefined],
  ['an error that is not in the list', 'provider_unavailable', ['connect_failed']],
] as const)('%s is not passed on to the next model', async ([, code, fallbackOn]) => {
  const { started, models } = startRouted(
    [[fault(code)], [textAnswer(1, 'hello')]],
    fallbackOn === undefined ? {} : { fallbackOn },
  )
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'failed', reason: code })
  expect(models[1]?.requests).toHaveLength(0)
})

test('when the last model fails too the run fails with its error', async () => {
  const { started } = startRouted([[fault('connect_failed')], [fault('tls_failed')]])
  expect((await finishRun(started)).result).toMatchObject({ state: 'failed', reason: 'tls_failed' })
})

test('a list without a model, or with something else in it, is refused', () => {
  expect(() => agent({ model: [] })).toThrow('model must be a model')
  expect(() => agent({ model: [scriptedModel([]), {} as never] })).toThrow('model must be a model')
})

test('a provider that asks for a long wait suspends the run, and says until when', async () => {
  const started = startRun([callsAnswer(1, [ADD]), waitFor(121_000)])
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({
    status: 'suspended',
    state: 'working.backingOff',
    reason: 'retry_later',
    retryAt: new ManualClock().now() + 121_000,
    message: 'provider_rate_limited happened',
    calls: [{ name: 'add', outcome: 'ok' }],
    turns: 2,
  })
  expect(frames.at(-1)).toMatchObject({ type: 'retry_scheduled' })
  expect(framesOf(frames, 'run_ended')).toEqual([])
  expect(started.clock.timersArmed).toBe(0)
  expect(await started.live.cancel()).toMatchObject({ answer: 'refused' })
})

test('a wait at the cap is waited for, and the cap can be set', async () => {
  const within = startRun([waitFor(120_000), textAnswer(1, 'hello')])
  await untilFrame(within.live, ({ type }) => type === 'retry_scheduled')
  within.clock.advance(120_000)
  expect(await within.live.result).toMatchObject({ status: 'ended', state: 'done' })
  const above = await finishRun(startRun([waitFor(1001)], { retry: { suspendAfterMs: 1000 } }))
  expect(above.result.status).toBe('suspended')
})

test('a field that the provider refuses is left out of every request, with one warning', async () => {
  const started = startRun(
    [callsAnswer(1, [ADD]), textAnswer(2, '5')],
    { request: { serviceTier: 'flex', metadata: { a: 'b' } } },
    { unsupported: ['service_tier', 'max_tool_calls', 'top_p'] },
  )
  const { frames } = await finishRun(started)
  for (const request of started.model.requests) {
    expect(request).not.toHaveProperty('service_tier')
    expect(request).not.toHaveProperty('max_tool_calls')
    expect(request).toMatchObject({ metadata: { a: 'b' }, tool_choice: 'auto' })
  }
  expect(framesOf(frames, 'warning').map(({ cause }) => cause)).toEqual([
    'the provider does not take service_tier: it is left out of every request',
    'the provider does not take max_tool_calls: it is left out of every request',
  ])
})

test('continuing by id where a provider is known not to is done when asked for by name, with a warning', async () => {
  const started = startRun(
    [callsAnswer(1, [ADD]), textAnswer(2, '5')],
    { continuity: 'previous_response_id' },
    { canContinueById: false },
  )
  const { frames } = await finishRun(started)
  expect(started.model.requests[1]).toHaveProperty('previous_response_id')
  expect(framesOf(frames, 'warning').map(({ cause }) => cause)).toEqual([
    'scripted-1 is known not to keep responses, and is sent previous_response_id as asked',
  ])
  const unasked = startRun([callsAnswer(1, [ADD]), textAnswer(2, '5')], {}, { canContinueById: false })
  await finishRun(unasked)
  expect(unasked.model.requests[1]).not.toHaveProperty('previous_response_id')
})

test('a provider that wants a user message after outputs gets the one that its model names', async () => {
  const started = startRun([callsAnswer(1, [ADD]), textAnswer(2, '5')], {}, { followUpMessage: 'Go on.' })
  await finishRun(started)
  expect(sentTypes(started.model.requests[1])).toEqual(['function_call_output', 'message user'])
})

test('fault T02: what a tool answers after its deadline is a warning in the log and nothing else', async () => {
  const clock = new ManualClock()
  const answer = Promise.withResolvers<string>()
  const slow = watchedTool('slow', () => answer.promise, { timeoutMs: 50 })
  const talk = Promise.withResolvers<string>()
  const model = scriptedModel([
    callsAnswer(1, [['slow', '{}']]),
    async (request) => {
      request.onHead({ status: 200, requestId: null, contentType: 'text/event-stream' })
      request.onChunk(Buffer.from(await talk.promise))
      return null
    },
  ])
  const live = run(agent({ model, tools: [slow.tool], clock }), 'go')
  await untilFrame(live, ({ type }) => type === 'tool_started')
  clock.advance(50)
  await untilFrame(live, ({ type }) => type === 'tool_failed')
  answer.resolve('at last')
  const late = await untilFrame(live, ({ type }) => type === 'warning')
  expect(late).toMatchObject({ cause: 'late_result', figures: { call_id: 'call_1_0', outcome: 'ok' } })
  talk.resolve(textAnswer(2, 'never mind'))
  expect(await live.result).toMatchObject({ state: 'done', calls: [{ outcome: 'timeout' }] })
})

test('the body of an error is kept in the log', async () => {
  const started = startRun([{ ...fault('provider_unavailable'), body: '<html>busy</html>' }])
  const { frames } = await finishRun(started)
  expect(framesOf(frames, 'warning')).toMatchObject([
    { cause: 'error_body', figures: { turn: 1, attempt: 0, body: '<html>busy</html>' } },
  ])
})

test.for([
  ['provider_rate_limited', 'rate_limit_exceeded', 'provider_rate_limited'],
  ['request_refused', 'context_length_exceeded', 'context_length_exceeded'],
  ['request_refused', '429', 'request_refused'],
  ['request_refused', 'Not a word!', 'request_refused'],
] as const)(
  "%s with the provider's code %s ends the run for the reason %s",
  async ([code, theirs, reason]) => {
    const provider = { type: null, code: theirs, message: 'no', param: null, status: 400, headers: null }
    const { result } = await finishRun(startRun([{ ...fault(code), provider }]))
    expect(result).toMatchObject({ state: 'failed', reason })
  },
)

function startRouted(
  answers: readonly (readonly ScriptedAnswer[])[],
  options: Parameters<typeof startRun>[1] = {},
): { readonly started: StartedRun; readonly models: readonly ScriptedModel[] } {
  const models = answers.map((own, at) => scriptedModel(own, { name: `model-${at}` }))
  return { started: startRun([], { ...options, model: models }), models }
}

function fault(code: string, isRetryable = false): SendFault {
  return { code, message: `${code} happened`, provider: null, isRetryable, retryAt: null }
}

/** Asks for so long a wait on the clock of a run that has just been started. */
function waitFor(ms: number): ScriptedAnswer {
  return () =>
    Promise.resolve({ ...fault('provider_rate_limited', true), retryAt: new ManualClock().now() + ms })
}
