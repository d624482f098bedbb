import { expect, test, vi } from 'vitest'
import { z } from 'zod'

import { createRegistry } from '../../src/tools/registry.ts'
import { runCall, type CallResult } from '../../src/tools/run-call.ts'
import { tool } from '../../src/tools/tool.ts'
import { ManualClock } from '../manual-clock.ts'
import { ANY, probe, readEnvelope, runTool, textOf } from '../unit/tools/run-tool.ts'

const explode = (): never => {
  throw new Error('explode')
}

class GetterBomb extends Error {
  override get message(): string {
    return explode()
  }
}

const everyTrap = Object.fromEntries(Object.getOwnPropertyNames(Reflect).map((trap) => [trap, explode]))

test.each<readonly [string, () => unknown, string]>([
  ['an error', () => Promise.reject(new Error('disk is full')), 'disk is full'],
  ['an error at once', () => explode(), 'explode'],
  ['a text', () => Promise.reject('just text'), 'just text'],
  ['nothing', () => Promise.reject(undefined), 'undefined'],
  ['an object', () => Promise.reject({ code: 7 }), '{"code":7}'],
  ['an object with a message', () => Promise.reject({ message: 'almost an error' }), 'almost an error'],
  ['an error without a message', () => Promise.reject(new RangeError()), 'RangeError'],
  ['a function', () => Promise.reject(explode), 'a function was thrown'],
  ['a symbol', () => Promise.reject(Symbol('s')), 'Symbol(s)'],
  ['an error whose message throws', () => Promise.reject(new GetterBomb()), 'cannot be read'],
  ['a Proxy that throws at every touch', () => Promise.reject(new Proxy({}, everyTrap)), 'cannot be read'],
  ['an object without a prototype that contains itself', () => Promise.reject(knot()), 'cannot be read'],
])('fault T01: a tool that throws %s has an ordinary outcome', async (_, execute, message) => {
  const result = await runTool(probe(execute))
  expect(result).toMatchObject({ outcome: 'error', exitCode: 1, error: { code: 'tool_failed' } })
  expect(result.error?.message).toContain(message)
  expect(readEnvelope(result.output)).toMatchObject({ ok: false, exit_code: 1 })
})

function knot(): unknown {
  const value: Record<string, unknown> = Object.create(null)
  value['self'] = value
  return value
}

test('fault T01: a returned Proxy that throws at every touch is an ordinary outcome', async () => {
  expect(await runTool(probe(() => new Proxy({}, everyTrap)))).toMatchObject({ outcome: 'error' })
})

test('fault T01: the message of a failure has at most 8 KiB', async () => {
  const result = await runTool(probe(() => Promise.reject(new Error('é'.repeat(1_000_000)))))
  expect(Buffer.byteLength(result.error?.message ?? '')).toBeLessThanOrEqual(8192)
  expect(Buffer.byteLength(result.error?.message ?? '')).toBeGreaterThan(8000)
})

test('fault T02: a tool that ignores its signal is settled at its deadline, and its late result is only reported', async () => {
  const clock = new ManualClock()
  const answer = Promise.withResolvers<string>()
  const begun = Promise.withResolvers<AbortSignal>()
  const late = Promise.withResolvers<CallResult>()
  const made = probe((_, { signal }) => {
    begun.resolve(signal)
    return answer.promise
  })
  const running = runTool(made, { clock, timeoutMs: 500, onLate: late.resolve })
  const inner = await begun.promise
  clock.advance(499)
  expect(inner.aborted).toBe(false)
  clock.advance(1)
  const result = await running
  expect(result).toMatchObject({
    outcome: 'timeout',
    exitCode: null,
    error: { code: 'tool_timeout', message: 'it was given 500 ms' },
    durationMs: 500,
  })
  expect(readEnvelope(result.output).error).toContain('did not finish in time')
  expect(inner.aborted).toBe(true)
  clock.advance(250)
  answer.resolve('too late')
  expect(await late.promise).toMatchObject({ outcome: 'ok', durationMs: 750 })
})

test('fault T02: a tool that never settles leaves no timer behind, and a thenable that never calls back is one', async () => {
  const clock = new ManualClock()
  const called = Promise.withResolvers<void>()
  // oxlint-disable-next-line unicorn/no-thenable -- the fault is a thenable
  const thenable = { then: () => called.resolve() }
  const running = runTool(
    probe(() => thenable),
    { clock, timeoutMs: 10 },
  )
  await called.promise
  clock.advance(10)
  expect((await running).outcome).toBe('timeout')
  expect(clock.timersArmed).toBe(0)
})

test('fault T02: a late failure, or a listener for it that throws, stays inside', async () => {
  const clock = new ManualClock()
  const answer = Promise.withResolvers<string>()
  const reported = Promise.withResolvers<CallResult>()
  const onLate = (result: CallResult): never => {
    reported.resolve(result)
    return explode()
  }
  const running = runTool(
    probe(() => answer.promise),
    { clock, timeoutMs: 10, onLate },
  )
  clock.advance(10)
  expect((await running).outcome).toBe('timeout')
  answer.reject(new Error('too late'))
  expect((await reported.promise).outcome).toBe('error')
})

test.each([
  ['an unknown name', 'nothing', '"nothing"; available tools: read'],
  ['the wrong case', 'Read', '"Read", did you mean read?; available tools: read'],
  ['an empty name', '', '""; available tools: read'],
  ['control characters', 'read\u0000\u001b[2J', String.raw`"read\u0000\u001b[2J"; available tools: read`],
  ['the name of a property of every object', '__proto__', '"__proto__"; available tools: read'],
  ['a megabyte', 'x'.repeat(2 ** 20), `"${'x'.repeat(64)}..."; available tools: read`],
])('fault P31: a call with %s is answered with the list of tools', async (_, name, message) => {
  const read = probe(() => 'ran', { name: 'read' })
  const result = await runTool(read, { name })
  expect(result).toMatchObject({ outcome: 'unknown_tool', error: { code: 'tool_unknown', message } })
  expect(readEnvelope(result.output)).toMatchObject({ ok: false, exit_code: 1 })
  expect(textOf(result.output).length).toBeLessThan(2000)
})

const strictTypes = z.object({ path: z.string(), count: z.number().optional() })

test.each([
  ['not JSON', '{"path": '],
  ['empty', ''],
  ['an array', '["path"]'],
  ['a text that holds JSON', JSON.stringify('{"path":"x"}')],
  ['without a required property', '{}'],
  ['of a type that could be coerced', '{"path":"x","count":"3"}'],
])('fault P32: arguments that are %s are never run, and the model is told why', async (_, args) => {
  const execute = vi.fn<() => string>(() => 'ran')
  const result = await runTool(
    tool({ name: 'read', description: 'Read a file.', inputSchema: strictTypes, execute }),
    { args },
  )
  expect(result).toMatchObject({ outcome: 'bad_arguments', error: { code: 'tool_arguments_invalid' } })
  expect(readEnvelope(result.output)).toMatchObject({ ok: false, exit_code: 2 })
  expect(execute).not.toHaveBeenCalled()
})

test('fault P32: raw JSON Schema names the first five faults, in at most 1,000 characters', async () => {
  const properties = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`p${n}`, { type: 'string' }]))
  const made = tool({
    name: 'read',
    description: 'Read a file.',
    parameters: { type: 'object', properties, additionalProperties: false },
    execute: () => 'ran',
  })
  const args = JSON.stringify(Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`p${n}`, n])))
  expect((await runTool(made, { args })).error?.message).toMatch(/^(p\d must be string; ){5}and 4 more$/)
  const key = 'k'.repeat(100_000)
  const long = await runTool(made, { args: JSON.stringify({ [key]: key }) })
  expect(long.error?.message.length).toBeLessThanOrEqual(1000)
  expect(long.outcome).toBe('bad_arguments')
})

test.each([
  ['nested 1,000,000 deep', `{"a":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`],
  ['nested 10,000 deep and cut off', '{"a":'.repeat(10_000)],
  ['with __proto__', '{"__proto__":{"polluted":true}}'],
  ['with constructor.prototype', '{"a":{"constructor":{"prototype":{"polluted":true}}}}'],
  ['with a key twice', '{"path":"a","path":"b"}'],
  ['with a number over 2^53 that would be rounded', '{"id":9007199254740993}'],
  ['with a number that is infinite', '{"n":1e400}'],
  ['of more than 8 MiB', `{"a":"${'x'.repeat(8 * 1024 * 1024)}"}`],
])('fault P33: arguments %s are refused before anything is made of them', async (_, args) => {
  const execute = vi.fn<() => string>(() => 'ran')
  expect((await runTool(probe(execute), { args })).outcome).toBe('bad_arguments')
  expect(execute).not.toHaveBeenCalled()
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
})

test('fault P33: half a surrogate pair in arguments runs, and its result can be logged', async () => {
  const result = await runTool(
    probe((args) => args),
    { args: '{"a":"\\ud800"}' },
  )
  expect(result.outcome).toBe('ok')
  expect(JSON.parse(JSON.stringify(result))).toEqual(result)
})

test('fault T01: one failing call leaves the others as they are', async () => {
  const registry = createRegistry([probe(() => 'fine'), probe(explode, { name: 'broken' })])
  const host = { registry, policy: ANY, clock: new ManualClock() }
  const results = await Promise.all(
    ['probe', 'broken', 'probe'].map((name, slot) =>
      runCall(
        host,
        { callId: `call_${slot}`, name, arguments: '', key: `run/1/${slot}`, timeoutMs: 1000 },
        { signal: new AbortController().signal },
      ),
    ),
  )
  expect(results.map(({ outcome }) => outcome)).toEqual(['ok', 'error', 'ok'])
})
