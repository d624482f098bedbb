import { expect, test, vi } from 'vitest'
import { z } from 'zod'

import { LoopchartError } from '../../../src/errors.ts'
import { createRegistry } from '../../../src/tools/registry.ts'
import { runCall, type CallResult } from '../../../src/tools/run-call.ts'
import { tool } from '../../../src/tools/tool.ts'
import type { ToolContext } from '../../../src/tools/tool-settings.ts'
import { toolResult } from '../../../src/tools/tool-result.ts'
import { ManualClock } from '../../manual-clock.ts'
import { ANY, probe, readEnvelope, runTool, textOf } from './run-tool.ts'

test('what a tool returns is the result of the call, with the time it took beside it', async () => {
  const clock = new ManualClock()
  const made = probe(() => {
    clock.advance(12)
    return 'hello'
  })
  expect(await runTool(made, { clock })).toEqual({
    outcome: 'ok',
    output: '{"tool":"probe","ok":true,"exit_code":0,"stdout":"hello","stderr":""}',
    exitCode: 0,
    artifacts: [],
    error: null,
    durationMs: 12,
  })
})

test('a tool gets the id of its call and its idempotency key', async () => {
  const seen: unknown[] = []
  await runTool(probe((_, { callId, key, signal }) => seen.push(callId, key, signal.aborted)))
  expect(seen).toEqual(['call_1', 'run/1/0', false])
})

test('a result with an exit code other than 0 is an error that keeps what the tool said', async () => {
  const made = probe(() => toolResult({ stdout: 'o', stderr: 'e', exitCode: 3, artifacts: [{ path: 'x' }] }))
  expect(await runTool(made)).toMatchObject({
    outcome: 'error',
    exitCode: 3,
    artifacts: [{ path: 'x' }],
    error: { code: 'tool_failed', message: 'the tool ended with exit code 3' },
    output: '{"tool":"probe","ok":false,"exit_code":3,"stdout":"o","stderr":"e","artifacts":[{"path":"x"}]}',
  })
})

test('a call that is refused runs nothing and says so with its own outcome', async () => {
  const execute = vi.fn<() => string>(() => 'ran')
  const made = tool({
    name: 'probe',
    description: 'Do it.',
    inputSchema: z.object({ a: z.number() }),
    execute,
  })
  expect(await runTool(made, { args: '{"a":"x"}' })).toMatchObject({
    outcome: 'bad_arguments',
    exitCode: null,
    error: { code: 'tool_arguments_invalid' },
  })
  expect(await runTool(made, { name: 'nothing' })).toMatchObject({
    outcome: 'unknown_tool',
    error: { code: 'tool_unknown' },
  })
  const host = {
    registry: createRegistry([made]),
    policy: { mode: 'none', allowed: null },
    clock: new ManualClock(),
  } as const
  const call = { callId: 'c', name: 'probe', arguments: '{"a":1}', key: 'k', timeoutMs: 10 }
  expect(await runCall(host, call, { signal: new AbortController().signal })).toMatchObject({
    outcome: 'not_allowed',
    error: { code: 'tool_not_allowed', message: 'no tool may be called in this turn' },
  })
  expect(execute).not.toHaveBeenCalled()
})

test('an aborted signal settles the call as cancelled at once, also when the tool does not listen', async () => {
  const controller = new AbortController()
  const begun = Promise.withResolvers<AbortSignal>()
  const made = probe((_, { signal }) => {
    begun.resolve(signal)
    return new Promise(() => {})
  })
  const running = runTool(made, { signal: controller.signal })
  const inner = await begun.promise
  controller.abort()
  expect(await running).toMatchObject({
    outcome: 'cancelled',
    exitCode: null,
    error: { code: 'tool_cancelled' },
  })
  expect(inner.aborted).toBe(true)
})

test('a call whose signal is aborted before it begins never begins', async () => {
  const execute = vi.fn<() => string>(() => 'ran')
  expect((await runTool(probe(execute), { signal: AbortSignal.abort() })).outcome).toBe('cancelled')
  expect(execute).not.toHaveBeenCalled()
})

test('a call that is cancelled while its arguments are checked never begins', async () => {
  const controller = new AbortController()
  const execute = vi.fn<() => string>(() => 'ran')
  const check = Promise.withResolvers<boolean>()
  const made = tool({
    name: 'probe',
    description: 'Do it.',
    inputSchema: z.object({ a: z.string().refine(() => check.promise) }),
    execute,
  })
  const late = Promise.withResolvers<CallResult>()
  const running = runTool(made, { args: '{"a":"x"}', signal: controller.signal, onLate: late.resolve })
  controller.abort()
  expect((await running).outcome).toBe('cancelled')
  check.resolve(true)
  await late.promise
  expect(execute).not.toHaveBeenCalled()
})

test('a tool that has ended does not see its signal aborted afterwards', async () => {
  const controller = new AbortController()
  const clock = new ManualClock()
  let inner: AbortSignal | undefined
  await runTool(
    probe((_, { signal }) => void (inner = signal)),
    { signal: controller.signal, clock },
  )
  expect(clock.timersArmed).toBe(0)
  controller.abort()
  expect(inner?.aborted).toBe(false)
})

test('a tool that reports a time limit of its own has ended with that: nothing comes late, and nothing is aborted', async () => {
  const onLate = vi.fn<(result: CallResult) => void>()
  let inner: AbortSignal | undefined
  const made = probe((_, { signal }) => {
    inner = signal
    throw new LoopchartError('tool_timeout', 'it was given 5 ms')
  })
  const result = await runTool(made, { onLate })
  expect(result).toMatchObject({ outcome: 'timeout', error: { code: 'tool_timeout' } })
  expect(onLate).not.toHaveBeenCalled()
  expect(inner?.aborted).toBe(false)
})

test('output is passed on while the tool works, and no longer once its call is settled', async () => {
  const chunks: string[] = []
  let context: ToolContext | undefined
  const made = probe((_, given) => {
    context = given
    given.onOutput('stdout', 'a')
    given.onOutput('stderr', 'b')
    given.onOutput('stdout', 7 as unknown as string)
    given.onOutput('stdin' as 'stdout', 'c')
    return 'done'
  })
  expect(
    (await runTool(made, { onOutput: (stream, chunk) => chunks.push(`${stream} ${chunk}`) })).outcome,
  ).toBe('ok')
  context?.onOutput('stdout', 'late')
  expect(chunks).toEqual(['stdout a', 'stderr b', 'stdout c'])
})

test('a listener for output that throws does not hurt the tool', async () => {
  const made = probe((_, { onOutput }) => {
    onOutput('stdout', 'a')
    return 'done'
  })
  expect((await runTool(made, { onOutput: explode })).outcome).toBe('ok')
})

test.each<readonly [string, unknown, string]>([
  ['nothing', undefined, ''],
  ['null', null, 'null'],
  ['a number', 3.5, '3.5'],
  ['a bigint', 10n ** 20n, '100000000000000000000'],
  ['an object', { b: 1, a: [true] }, '{"b":1,"a":[true]}'],
  ['a promise', Promise.resolve('later'), 'later'],
])('a tool may return %s', async (_, value, stdout) => {
  const { outcome, output } = await runTool(probe(() => value))
  expect(outcome).toBe('ok')
  expect(readEnvelope(output).stdout).toBe(stdout)
})

test.each<readonly [string, () => unknown, string]>([
  ['a function', () => () => 1, 'it returned a function'],
  ['a symbol', () => Symbol('x'), 'it returned a symbol'],
  ['an object with a bigint', () => ({ a: 1n }), 'BigInt'],
  ['an object that contains itself', cyclic, 'circular'],
  ['a Proxy that throws at every touch but one', bomb, 'cannot be shown'],
  ['an object of 100,000 levels', deep, 'Maximum call stack'],
])('a tool that returns %s has run, but has an error to show', async (_, make, message) => {
  const result = await runTool(probe(make))
  expect(result).toMatchObject({ outcome: 'error', exitCode: 1, error: { code: 'tool_output_invalid' } })
  expect(result.error?.message).toContain(message)
  expect(readEnvelope(result.output)).toMatchObject({ ok: false, exit_code: 1 })
})

function cyclic(): unknown {
  const value: Record<string, unknown> = {}
  value['self'] = value
  return value
}

function explode(): never {
  throw new Error('boom')
}

// Without a `then` that throws, or awaiting it would be the failure already.
function bomb(): unknown {
  return new Proxy(
    {},
    { get: (_, key) => (key === 'then' ? undefined : explode()), ownKeys: explode, getPrototypeOf: explode },
  )
}

function deep(): unknown {
  let value: unknown = 0
  for (let level = 0; level < 100_000; level += 1) value = [value]
  return value
}

test('even a broken clock does not make a call reject', async () => {
  const clock = new ManualClock()
  const broken = {
    now: clock.now,
    setTimer: () => {
      throw new Error('no timers')
    },
  }
  const host = { registry: createRegistry([probe(() => '')]), policy: ANY, clock: broken }
  const call = { callId: 'c', name: 'probe', arguments: '', key: 'k', timeoutMs: 10 }
  expect(await runCall(host, call, { signal: new AbortController().signal })).toMatchObject({
    outcome: 'error',
    error: { message: 'no timers' },
  })
})

test('a result is plain JSON and holds no id, time or duration in what the model sees', async () => {
  const clock = new ManualClock()
  const result = await runTool(
    probe(() => {
      clock.advance(777)
      return toolResult({ stdout: 'x', artifacts: [{ a: 1 }] })
    }),
    { clock },
  )
  expect(JSON.parse(JSON.stringify(result))).toEqual(result)
  expect(textOf(result.output)).not.toMatch(/777|call_1|run\/1/)
})

test.each<readonly [string, unknown]>([
  ['a text', 'done'],
  ['nothing', undefined],
  ['an object', { done: true }],
  ['a promise', Promise.resolve('done')],
])(
  'a call that is aborted while its tool gives %s is cancelled, and what it gave comes late',
  async (_, value) => {
    const controller = new AbortController()
    const late = Promise.withResolvers<CallResult>()
    let inner: AbortSignal | undefined
    const made = probe((__, { signal }) => {
      inner = signal
      controller.abort()
      return value
    })
    const result = await runTool(made, { signal: controller.signal, onLate: late.resolve })
    expect(result.outcome).toBe('cancelled')
    expect((await late.promise).outcome).toBe('ok')
    expect(inner?.reason).toMatchObject({ code: 'tool_cancelled' })
  },
)

test('a call that is aborted right behind its end keeps what it came to', async () => {
  const controller = new AbortController()
  const made = probe(() => 'done')
  const running = runTool(made, { signal: controller.signal })
  void running.then(() => controller.abort())
  expect((await running).outcome).toBe('ok')
})
