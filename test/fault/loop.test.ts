import { expect, test } from 'vitest'

import { strict } from '../../src/protocol/strict.ts'
import { sseText, StreamBuilder } from '../../scripts/fixtures/stream-builder.ts'
import { readStream } from '../decode.ts'
import {
  ADD,
  callsAnswer,
  finishRun,
  framesOf,
  startRun,
  streamAnswer,
  textAnswer,
  toldOutputs,
  type ScriptedAnswer,
} from '../scripted-model.ts'

const garbled = callsAnswer(1, [ADD]).replace(
  'event: response.output_item.done',
  'data: {"type":"response.outp\n\nevent: response.output_item.done',
)

test('fault P20: an event that is no JSON costs the request one more try, and no call of it runs', async () => {
  const started = startRun([garbled, callsAnswer(1, [ADD]), textAnswer(2, '5')])
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', text: '5' })
  expect(started.ran).toHaveLength(1)
  expect(framesOf(frames, 'retry_scheduled')).toMatchObject([{ cause: 'malformed_event' }])
  const kept = framesOf(frames, 'provider_event').filter(({ status }) => status === 'invalid_json')
  expect(kept.map(({ raw }) => raw)).toEqual(['{"type":"response.outp'])
})

test('fault P20: a second event that is no JSON ends the run as failed', async () => {
  const started = startRun([garbled, garbled, textAnswer(1, 'never asked for')])
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'failed', reason: 'malformed_event', calls: [] })
  expect(started.model.requests).toHaveLength(2)
  expect(started.ran).toEqual([])
})

test('fault P21: events, items and fields that nobody knows neither stop a run nor change it', async () => {
  const odd = { type: 'acme:thought', id: 'x_1', what: { deep: [1] } }
  const answer = sseText(
    new StreamBuilder('resp_1')
      .start()
      .event('acme:tick', { load: 0.5 })
      .addItem(0, odd)
      .doneItem(0, odd)
      .call(1, 'add', [ADD[1]])
      .end('completed', { acme_extra: true }).events,
  )
  const started = startRun([answer, textAnswer(2, '5')])
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', text: '5', calls: [{ callId: 'call_1', outcome: 'ok' }] })
  const tick = framesOf(frames, 'provider_event').find(({ event_name: name }) => name === 'acme:tick')
  expect(tick?.raw).toContain('"load":0.5')
  expect(framesOf(frames, 'response_settled')[0]?.items).toContainEqual(odd)
})

const wrongNumbers = callsAnswer(1, [ADD]).replaceAll(/"sequence_number":3/gu, '"sequence_number":9')

test('fault P22: odd sequence numbers are noted in the log, and the calls run', async () => {
  const started = startRun([wrongNumbers, textAnswer(2, '5')])
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', calls: [{ outcome: 'ok' }] })
  const noted = framesOf(frames, 'provider_event').flatMap(({ anomalies }) => anomalies)
  expect(noted.map(({ code }) => code)).toContain('sequence_gap')
})

test('fault P22: the strict profile runs no call of a response with a sequence gap', async () => {
  const started = startRun([wrongNumbers, wrongNumbers], { profile: strict })
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'failed', reason: 'protocol_violation' })
  expect(started.ran).toEqual([])
})

test.for(['call-id-changes', 'type-changes'])(
  'fault P23: an item that contradicts itself (%s) is asked for once more and then fails, without a call',
  async (name) => {
    const started = startRun([readStream(name), readStream(name)])
    const { result } = await finishRun(started)
    expect(result).toMatchObject({ state: 'failed', reason: 'protocol_violation', calls: [] })
    expect(started.model.requests).toHaveLength(2)
    expect(started.ran).toEqual([])
  },
)

test('fault P23: two calls on one output_index both run once and are both answered', async () => {
  const started = startRun([readStream('output-index-shared'), textAnswer(2, '5')])
  const { result } = await finishRun(started)
  expect(result.calls.map(({ callId, outcome }) => [callId, outcome])).toEqual([
    ['call_0', 'ok'],
    ['call_1', 'unknown_tool'],
  ])
  expect(toldOutputs(started.model.requests[1])).toHaveLength(2)
})

test.for(['added-twice', 'added-after-done', 'delta-before-added', 'delta-after-done'])(
  'fault P23: a call whose events come in the wrong order (%s) runs once, with its own arguments',
  async (name) => {
    const started = startRun([readStream(name), textAnswer(2, '5')])
    const { result } = await finishRun(started)
    expect(result).toMatchObject({ state: 'done', calls: [{ callId: 'call_0', outcome: 'ok' }] })
    expect(started.ran).toEqual([{ a: 2, b: 3 }])
  },
)

test.for(['arguments-differ-from-terminal', 'item-done-rival'])(
  'fault P24: a call about whose arguments sources disagree (%s) does not run, and the model is told',
  async (name) => {
    const started = startRun([readStream(name), textAnswer(2, 'sorry')])
    const { result, frames } = await finishRun(started)
    expect(result).toMatchObject({ state: 'done', calls: [{ callId: 'call_0', outcome: 'bad_arguments' }] })
    expect(started.ran).toEqual([])
    expect(framesOf(frames, 'tool_started')).toEqual([])
    expect(toldOutputs(started.model.requests[1])).toMatchObject([
      { callId: 'call_0', text: expect.stringContaining('arguments are not valid') },
    ])
  },
)

test('fault P24: the finished arguments run where the terminal response agrees with them', async () => {
  const started = startRun([readStream('arguments-delta-done-differ'), textAnswer(2, '5')])
  await finishRun(started)
  expect(started.ran).toEqual([{ a: 2, b: 3 }])
})

test.for(['quirk-item-done-missing', 'quirk-call-only-in-terminal'])(
  'fault P25: a call that only the terminal response has whole (%s) runs once',
  async (name) => {
    const started = startRun([readStream(name), textAnswer(2, '5')])
    const { result } = await finishRun(started)
    expect(result).toMatchObject({ state: 'done', calls: [{ callId: 'call_0', outcome: 'ok' }] })
    expect(started.ran).toEqual([{ a: 2, b: 3 }])
  },
)

test('fault P26: an early [DONE] is a stream that was cut, and the request goes out again', async () => {
  const whole = callsAnswer(1, [ADD])
  const early = whole.replace('event: response.completed', 'data: [DONE]\n\nevent: response.completed')
  const started = startRun([early, textAnswer(1, 'better')])
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', text: 'better', calls: [] })
  expect(framesOf(frames, 'retry_scheduled')).toMatchObject([{ cause: 'stream_truncated' }])
  expect(started.ran).toEqual([])
})

test('fault P26: a call that comes after the terminal event is on record and does not run', async () => {
  const started = startRun([readStream('events-after-terminal')])
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', text: 'One two.', calls: [] })
  expect(started.ran).toEqual([])
  const late = framesOf(frames, 'provider_event').filter(({ anomalies }) =>
    anomalies.some(({ code }) => code === 'late_event'),
  )
  expect(late.length).toBeGreaterThan(0)
})

function failedAnswer(code: string): ScriptedAnswer {
  return streamAnswer(1, (stream) =>
    stream.call(0, 'add', [ADD[1]]).end('failed', { error: { code, message: 'it broke' } }),
  )
}

test.for(['server_error', 'rate_limit_exceeded'])(
  'fault P27: response.failed with %s is tried again, and none of its calls runs',
  async (code) => {
    const started = startRun([failedAnswer(code), textAnswer(1, 'fine')])
    const { result, frames } = await finishRun(started)
    expect(result).toMatchObject({ state: 'done', text: 'fine', calls: [] })
    expect(framesOf(frames, 'retry_scheduled')).toMatchObject([{ cause: code }])
    expect(started.ran).toEqual([])
  },
)

test.for(['invalid_prompt', 'context_length_exceeded'])(
  'fault P27: response.failed with %s ends the run at once, by the code of the provider',
  async (code) => {
    const started = startRun([failedAnswer(code)])
    const { result } = await finishRun(started)
    expect(result).toMatchObject({ state: 'failed', reason: code, calls: [] })
    expect(result.message).toContain('it broke')
    expect(started.ran).toEqual([])
  },
)

test('fault P27: a failure that does not go away ends the run after five requests', async () => {
  const started = startRun(Array.from({ length: 6 }, () => failedAnswer('server_error')))
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'failed', reason: 'server_error' })
  expect(started.model.requests).toHaveLength(5)
  expect(new Set(started.model.sent).size).toBe(1)
  expect(framesOf(frames, 'retry_scheduled').map(({ figures }) => figures['attempt'])).toEqual([1, 2, 3, 4])
  expect(result.usage.total_tokens).toBe(5 * 154)
})

test.for(['max_output_tokens', 'content_filter'])(
  'fault P28: a response cut short by %s is not asked for again, and its calls do not run',
  async (reason) => {
    const cut = streamAnswer(1, (stream) =>
      stream.call(0, 'add', [ADD[1]]).end('incomplete', { incomplete_details: { reason } }),
    )
    const started = startRun([cut, textAnswer(2, 'never asked for')])
    const { result, frames } = await finishRun(started)
    expect(result).toMatchObject({ state: 'failed', reason: 'incomplete', unansweredCalls: ['call_0'] })
    expect(result.message).toContain(reason)
    expect(started.model.requests).toHaveLength(1)
    expect(framesOf(frames, 'tool_started')).toEqual([])
    expect(started.ran).toEqual([])
  },
)

test('fault P29: an error event in a stream is tried again when the provider says it will pass', async () => {
  const started = startRun([readStream('quirk-flat-error'), textAnswer(1, 'fine')])
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', text: 'fine' })
  expect(framesOf(frames, 'retry_scheduled')).toMatchObject([{ cause: 'overloaded' }])
})

test('fault P29: an error event ends the run even where the response then says it completed', async () => {
  const answer = streamAnswer(1, (stream) =>
    stream
      .call(0, 'add', [ADD[1]])
      .event('error', { code: 'invalid_prompt', message: 'no', param: null })
      .end(),
  )
  const started = startRun([answer])
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'failed', reason: 'invalid_prompt', calls: [] })
  expect(started.ran).toEqual([])
})
