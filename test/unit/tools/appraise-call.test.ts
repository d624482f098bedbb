import { createHash } from 'node:crypto'

import { expect, test } from 'vitest'
import { z } from 'zod'

import { appraiseCall, type CallFacts } from '../../../src/tools/appraise-call.ts'
import { createRegistry } from '../../../src/tools/registry.ts'
import { tool, type Tool } from '../../../src/tools/tool.ts'
import type { ToolChoicePolicy } from '../../../src/tools/tool-choice-policy.ts'
import { ManualClock } from '../../manual-clock.ts'
import { ANY, probe } from './run-tool.ts'

const read = tool({
  name: 'read',
  description: 'Read a file.',
  aliases: ['cat'],
  inputSchema: z.object({ path: z.string() }),
  readOnly: true,
  idempotent: true,
  timeoutMs: 5000,
  maxCalls: 3,
  execute: ({ path }) => path,
})

function appraise(
  tools: readonly Tool[],
  name: string,
  args = '{}',
  policy: ToolChoicePolicy = ANY,
): Promise<CallFacts> {
  return appraiseCall(createRegistry(tools), policy, { callId: 'call_1', name, arguments: args })
}

function throwing(): never {
  throw new Error('no')
}

test('the facts of a good call say what its tool declares, under the name of the tool itself', async () => {
  expect(await appraise([read], 'cat', '{"path":"a"}')).toEqual({
    tool: 'read',
    refusal: null,
    approval: null,
    readOnly: true,
    idempotent: true,
    conflicts: [],
    timeoutMs: 5000,
    maxCalls: 3,
    argumentsHash: createHash('sha256').update('["read",{"path":"a"}]').digest('hex'),
  })
})

test('facts are plain JSON', async () => {
  for (const facts of [await appraise([read], 'read', '{"path":"a"}'), await appraise([read], 'nothing')]) {
    expect(JSON.parse(JSON.stringify(facts))).toEqual(facts)
  }
})

test.each([
  ['nothing', {}, null],
  ['readOnly', { readOnly: true }, []],
  ['conflicts', { conflicts: ['db'] }, ['db']],
  ['readOnly and conflicts', { readOnly: true, conflicts: ['db'] }, ['db']],
  ['a function of the arguments', { conflicts: () => ['a', 'b'] }, ['a', 'b']],
  ['a function that gives no list', { conflicts: () => 'db' as unknown as string[] }, null],
  ['a function that gives a list of other things', { conflicts: () => [1] as unknown as string[] }, null],
])('a tool that declares %s conflicts as documented', async (_, settings, conflicts) => {
  expect((await appraise([probe(() => '', settings)], 'probe')).conflicts).toEqual(conflicts)
})

test('conflicts that cannot be told are conflicts with everything', async () => {
  expect(
    (await appraise([probe(() => '', { readOnly: true, conflicts: throwing })], 'probe')).conflicts,
  ).toBeNull()
})

test('approval is asked for by a flag or by the arguments', async () => {
  const remove = tool({
    name: 'remove',
    description: 'Remove a file.',
    inputSchema: z.object({ path: z.string() }),
    needsApproval: ({ path }) => path.startsWith('/'),
    execute: () => '',
  })
  expect((await appraise([remove], 'remove', '{"path":"/etc"}')).approval).not.toBeNull()
  expect((await appraise([remove], 'remove', '{"path":"etc"}')).approval).toBeNull()
  expect((await appraise([probe(() => '', { needsApproval: true })], 'probe')).approval).toMatchObject({
    isEachTime: false,
  })
})

test('a question about approval that throws, or has no clear answer, counts as yes', async () => {
  const unclear = [throwing, async () => false, () => undefined] as unknown as (() => boolean)[]
  for (const needsApproval of unclear) {
    expect((await appraise([probe(() => '', { needsApproval })], 'probe')).approval).toMatchObject({
      isEachTime: false,
    })
  }
})

test('a call outside of the tool choice is not allowed, whatever its arguments are', async () => {
  const tools = [read, probe(() => '')]
  const none = await appraise(tools, 'read', 'x', { mode: 'none', allowed: null })
  expect(none.refusal).toEqual({ outcome: 'not_allowed', message: 'no tool may be called in this turn' })
  const other = await appraise(tools, 'probe', '{}', { mode: 'auto', allowed: ['read'] })
  expect(other.refusal).toEqual({ outcome: 'not_allowed', message: 'available tools: read, cat' })
  expect(other).toMatchObject({ tool: 'probe', approval: null, conflicts: [] })
})

async function outcomeOf(name: string, allowed: string): Promise<string | undefined> {
  const policy = { mode: 'required', allowed: [allowed] } as const
  return (await appraise([read], name, '{"path":"a"}', policy)).refusal?.outcome
}

test('allowing a tool allows its aliases, allowing an alias allows that name only', async () => {
  expect(await outcomeOf('cat', 'read')).toBeUndefined()
  expect(await outcomeOf('cat', 'cat')).toBeUndefined()
  expect(await outcomeOf('read', 'cat')).toBe('not_allowed')
})

test('a call of an unknown tool is told which tools there are, and of a near miss', async () => {
  const { refusal, tool: none } = await appraise([read], 'Read')
  expect(none).toBeNull()
  expect(refusal).toEqual({
    outcome: 'unknown_tool',
    message: '"Read", did you mean read?; available tools: read, cat',
  })
  expect((await appraise([], 'x')).refusal?.message).toBe('"x"; no tools are available')
})

test('the list of very many tools is cut to 1,000 characters', async () => {
  const many = Array.from({ length: 100 }, (_, n) => probe(() => '', { name: `tool_with_a_long_name_${n}` }))
  expect((await appraise(many, 'x')).refusal?.message).toHaveLength(1000)
})

async function hashOf(name: string, args: string): Promise<string> {
  return (await appraise([read, probe(() => '')], name, args)).argumentsHash
}

test('calls that mean the same have the same hash, all others have not', async () => {
  expect(await hashOf('probe', '{"a":1,"b":{"d":1,"c":[1,2]}}')).toBe(
    await hashOf('probe', ' {"b":{"c":[1,2.0],"d":1},"a":1e0} '),
  )
  expect(await hashOf('read', '{"path":"x"}')).toBe(await hashOf('cat', '{"path":"x"}'))
  const different = await Promise.all([
    hashOf('probe', '{"a":1}'),
    hashOf('read', '{"a":1}'),
    hashOf('probe', '{"a":[1]}'),
    hashOf('probe', '{"a":"1"}'),
    hashOf('probe', '{"a":"\\ud800"}'),
    hashOf('probe', '{"a":"\\ud801"}'),
    hashOf('probe', '{"a":'),
    hashOf('probe', '{"a":,'),
    hashOf('nothing', '{"a":'),
  ])
  expect(new Set(different).size).toBe(different.length)
})

test('a check of arguments that never ends is bad arguments after its time', async () => {
  const clock = new ManualClock()
  const endless = tool({
    name: 'endless',
    description: 'Check for ever.',
    inputSchema: z.object({ a: z.string().refine(() => new Promise(() => {})) }),
    execute: () => '',
  })
  const call = { callId: 'call_1', name: 'endless', arguments: '{"a":"x"}' }
  const facts = appraiseCall(createRegistry([endless]), ANY, call, { clock, checkTimeoutMs: 50 })
  clock.advance(50)
  expect((await facts).refusal).toEqual({
    outcome: 'bad_arguments',
    message: 'they could not be checked within 50 ms',
  })
})

test('an appraisal leaves no timer behind', async () => {
  const clock = new ManualClock()
  const call = { callId: 'call_1', name: 'probe', arguments: '{}' }
  await appraiseCall(createRegistry([probe(() => '')]), ANY, call, { clock })
  expect(clock.timersArmed).toBe(0)
})
