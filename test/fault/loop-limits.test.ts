import { expect, test } from 'vitest'

import {
  ADD,
  callsAnswer,
  everythingElse,
  finishRun,
  framesOf,
  startRun,
  streamAnswer,
  textAnswer,
  toldOutputs,
  untilFrame,
  watchedTool,
} from '../scripted-model.ts'
import { callItem } from '../../scripts/fixtures/stream-builder.ts'

const twice = streamAnswer(1, (stream) =>
  stream
    .doneItem(0, callItem(0, 'add', ADD[1]))
    .doneItem(1, { ...callItem(1, 'add', '{"a":7,"b":7}'), call_id: 'call_0' })
    .end(),
)

test.for(['previous_response_id', 'stateless'] as const)(
  'fault P30: of two calls with one call_id the first runs, and its result is the one answer (%s)',
  async (continuity) => {
    const started = startRun([twice, textAnswer(2, '5')], { continuity })
    const { result, frames } = await finishRun(started)
    expect(result.state).toBe('done')
    expect(result.calls.map(({ outcome }) => outcome).sort()).toEqual(['duplicate', 'ok'])
    expect(started.ran).toEqual([{ a: 2, b: 3 }])
    const told = toldOutputs(started.model.requests[1])
    expect(told).toMatchObject([{ callId: 'call_0', text: expect.stringContaining('"stdout":"5"') }])
    const failed = framesOf(frames, 'tool_failed')
    expect(failed).toMatchObject([{ call_id: 'call_0', outcome: 'duplicate' }])
    expect(failed[0]?.output).toContain('repeats the id of another one')
  },
)

test.for([
  ['the same arguments gets the first result', ADD[1], '"stdout":"5"'],
  ['other arguments is told that it repeats an id', '{"a":9,"b":9}', 'repeats the id of another one'],
] as const)(
  'fault P30: a call_id that a later response uses again never runs: with %s',
  async ([, args, told]) => {
    const again = streamAnswer(2, (stream) => stream.doneItem(0, callItem(0, 'add', args)).end())
    const first = streamAnswer(1, (stream) => stream.doneItem(0, callItem(0, 'add', ADD[1])).end())
    const started = startRun([first, again, textAnswer(3, 'ok')])
    const { result } = await finishRun(started)
    expect(result.calls.map(({ outcome }) => outcome)).toEqual(['ok', 'duplicate'])
    expect(started.ran).toEqual([{ a: 2, b: 3 }])
    expect(toldOutputs(started.model.requests[2])[0]?.text).toContain(told)
  },
)

test.for([
  ['nobody has', 'subtract'],
  ['has the wrong case', 'ADD'],
  ['is empty', ''],
  ['holds control characters', 'add\u0000\u001B[2J'],
] as const)('fault P31: a tool name that %s is answered with the names there are', async ([, name]) => {
  const started = startRun([callsAnswer(1, [[name, '{}']]), textAnswer(2, 'ok')])
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', calls: [{ outcome: 'unknown_tool' }] })
  expect(started.ran).toEqual([])
  expect(toldOutputs(started.model.requests[1])[0]?.text).toContain('available tools: add')
})

test('fault P31: a model that keeps calling a tool that is not there makes no progress', async () => {
  const started = startRun([1, 2, 3, 4].map((turn) => callsAnswer(turn, [['subtract', '{}']])))
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'limitExceeded', reason: 'no_progress', turns: 3 })
})

test.for([
  ['are no JSON', '{"a":2,"b":'],
  ['are empty', ''],
  ['are a list', '[2,3]'],
  ['could be coerced', '{"a":"2","b":"3"}'],
  ['lack a property', '{"a":2}'],
] as const)(
  'fault P32: arguments that %s run nothing, and the other call of the response runs',
  async ([, text]) => {
    const started = startRun([callsAnswer(1, [['add', text], ADD]), textAnswer(2, 'ok')])
    const { result } = await finishRun(started)
    expect(result.calls.map(({ outcome }) => outcome)).toEqual(['bad_arguments', 'ok'])
    expect(started.ran).toEqual([{ a: 2, b: 3 }])
    const [told] = toldOutputs(started.model.requests[1])
    expect(JSON.parse(told?.text ?? '')).toMatchObject({ ok: false, exit_code: 2 })
  },
)

test.for([
  ['nested 1,000,000 deep', `{"a":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`],
  ['with __proto__', '{"__proto__":{"polluted":true},"a":2,"b":3}'],
  ['with constructor.prototype', '{"constructor":{"prototype":{"polluted":true}},"a":2,"b":3}'],
  ['with a key twice', '{"a":2,"a":9,"b":3}'],
  ['with a number that would be rounded', '{"a":9007199254740993,"b":3}'],
  ['with a number that is infinite', '{"a":1e400,"b":3}'],
] as const)(
  'fault P33: arguments %s run nothing, and the log has them letter for letter',
  async ([, text]) => {
    const started = startRun([callsAnswer(1, [['add', text]]), textAnswer(2, 'ok')])
    const { result, frames } = await finishRun(started)
    expect(result).toMatchObject({ state: 'done', calls: [{ outcome: 'bad_arguments' }] })
    expect(started.ran).toEqual([])
    expect(framesOf(frames, 'tool_started').map((frame) => frame.arguments)).toEqual([text])
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  },
)

test('fault P33: half a surrogate pair in arguments reaches the tool and comes back in words that can be sent', async () => {
  const echo = watchedTool('echo', (args) => args)
  const started = startRun([callsAnswer(1, [['echo', '{"text":"\\ud800"}']]), textAnswer(2, 'ok')], {
    tools: [echo.tool],
  })
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', calls: [{ outcome: 'ok' }] })
  expect(echo.ran).toHaveLength(1)
  expect(started.model.sent[1]?.isWellFormed()).toBe(true)
})

function endlessCalls(turns: number): readonly string[] {
  return Array.from({ length: turns }, (_, at) => callsAnswer(at + 1, [['add', `{"a":${at},"b":1}`]]))
}

test('fault P34: a model that never stops calling is stopped after 50 turns', async () => {
  const started = startRun(endlessCalls(51), { limits: { toolCalls: 1000 } })
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'limitExceeded', reason: 'turns', unansweredCalls: ['call_50_0'] })
  expect(result.message).toContain('50 of 50')
  expect(started.ran).toHaveLength(49)
})

test('fault P34: a model that never stops calling is stopped after 32 calls', async () => {
  const started = startRun(endlessCalls(51))
  const { result, frames } = await finishRun(started)
  expect(result).toMatchObject({ state: 'limitExceeded', reason: 'tool_calls' })
  expect(started.ran).toHaveLength(32)
  expect(framesOf(frames, 'limit_reached')).toMatchObject([{ cause: 'tool_calls', figures: { allowed: 32 } }])
})

test('fault P34: calls that take turns and give the same results are no progress', async () => {
  const other: readonly [string, string] = ['add', '{"a":1,"b":1}']
  const started = startRun(
    [1, 2, 3, 4, 5, 6].map((turn) => callsAnswer(turn, [turn % 2 === 1 ? ADD : other])),
  )
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'limitExceeded', reason: 'no_progress', turns: 5 })
})

test('fault P34: the same call with other results is progress', async () => {
  let count = 0
  const poll = watchedTool('poll', () => (count += 1))
  const answers = [1, 2, 3, 4, 5].map((turn) => callsAnswer(turn, [['poll', '{}']]))
  const started = startRun([...answers, textAnswer(6, 'ready')], { tools: [poll.tool] })
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'done', turns: 6 })
})

test('fault P35: of 500 calls in one response 64 run, four at a time, and all are answered in order', async () => {
  let running = 0
  let most = 0
  const work = watchedTool(
    'work',
    async ({ at }) => {
      running += 1
      most = Math.max(most, running)
      await everythingElse()
      running -= 1
      return at
    },
    { readOnly: true },
  )
  const calls = Array.from({ length: 500 }, (_, at) => ['work', `{"at":${at}}`] as const)
  const started = startRun([callsAnswer(1, calls), textAnswer(2, 'done')], {
    tools: [work.tool],
    toolExecution: 'parallel',
    limits: { toolCalls: 500 },
  })
  const { result } = await finishRun(started)
  expect(result.state).toBe('done')
  expect(work.ran).toHaveLength(64)
  expect(most).toBe(4)
  const told = toldOutputs(started.model.requests[1])
  expect(told.map(({ callId }) => callId)).toEqual(calls.map((_, at) => `call_1_${at}`))
  expect(told.filter(({ text }) => text.includes('"ok":true'))).toHaveLength(64)
  expect(told[64]?.text).toContain('at most 64 calls in one response')
  expect(result.calls.filter(({ outcome }) => outcome === 'limit')).toHaveLength(436)
})

test('fault P35: 500 calls that are over the limit of the run do not run at all', async () => {
  const calls = Array.from({ length: 500 }, (_, at) => ['add', `{"a":${at},"b":1}`] as const)
  const started = startRun([callsAnswer(1, calls)])
  const { result } = await finishRun(started)
  expect(result).toMatchObject({ state: 'limitExceeded', reason: 'tool_calls' })
  expect(result.unansweredCalls).toHaveLength(500)
  expect(started.ran).toEqual([])
})

class Bomb extends Error {
  override get message(): string {
    throw new Error('even this')
  }
}

test.for<readonly [string, () => unknown]>([
  [
    'throws',
    () => {
      throw new Error('no such file')
    },
  ],
  ['rejects', () => Promise.reject(new Error('no such file'))],
  ['throws what is no error', () => Promise.reject({ code: 7 })],
  ['throws an error that throws when it is read', () => Promise.reject(new Bomb())],
  ['throws a megabyte', () => Promise.reject(new Error('x'.repeat(2 ** 20)))],
])(
  'fault T01: a tool that %s is told to the model, the next call runs, the run goes on',
  async ([, execute]) => {
    const broken = watchedTool('broken', execute)
    const fine = watchedTool('fine')
    const answer = callsAnswer(1, [
      ['broken', '{}'],
      ['fine', '{}'],
    ])
    const started = startRun([answer, textAnswer(2, 'ok')], { tools: [broken.tool, fine.tool] })
    const { result, frames } = await finishRun(started)
    expect(result).toMatchObject({ state: 'done', text: 'ok' })
    expect(result.calls.map(({ outcome }) => outcome)).toEqual(['error', 'ok'])
    expect(fine.ran).toHaveLength(1)
    const [failed] = framesOf(frames, 'tool_failed')
    expect(failed).toMatchObject({ call_id: 'call_1_0', error: { code: 'tool_failed' } })
    expect(failed?.error?.message.length).toBeLessThanOrEqual(8192)
  },
)

test('fault T02: a tool that hangs and ignores its signal is over at its deadline, and the run goes on', async () => {
  const late = Promise.withResolvers<string>()
  const hanging = watchedTool('hanging', () => late.promise, { timeoutMs: 5000 })
  const started = startRun(
    [
      callsAnswer(1, [
        ['hanging', '{}'],
        ['hanging', '{"n":2}'],
      ]),
      textAnswer(2, 'ok'),
    ],
    {
      tools: [hanging.tool],
    },
  )
  const { live, clock, model } = started
  await untilFrame(live, ({ type }) => type === 'tool_started')
  clock.advance(4999)
  await everythingElse()
  expect(live.state).toBe('working.executing.running')
  expect(hanging.ran).toHaveLength(1)
  clock.advance(1)
  await untilFrame(live, (frame) => frame.type === 'tool_started' && frame.slot === 1)
  late.resolve('too late for the first')
  const { result, frames } = await finishRun(started)
  expect(result.calls.map(({ callId, outcome }) => [callId, outcome])).toEqual([
    ['call_1_0', 'timeout'],
    ['call_1_1', 'ok'],
  ])
  expect(framesOf(frames, 'tool_failed')).toMatchObject([
    { call_id: 'call_1_0', outcome: 'timeout', duration_ms: 5000, error: { code: 'tool_timeout' } },
  ])
  expect(toldOutputs(model.requests[1])[0]?.text).toContain('did not finish in time')
  expect(clock.armed).toEqual([])
})

test('fault T02: a tool without a timeout of its own has 120 seconds', async () => {
  const hanging = watchedTool('hanging', () => new Promise(() => undefined))
  const started = startRun([callsAnswer(1, [['hanging', '{}']]), textAnswer(2, 'ok')], {
    tools: [hanging.tool],
  })
  await untilFrame(started.live, ({ type }) => type === 'tool_started')
  started.clock.advance(119_999)
  await everythingElse()
  expect(started.live.state).toBe('working.executing.running')
  started.clock.advance(1)
  expect((await finishRun(started)).result).toMatchObject({ state: 'done', calls: [{ outcome: 'timeout' }] })
})
