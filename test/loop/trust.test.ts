import { expect, test } from 'vitest'

import { agent, type AgentOptions } from '../../src/agent.ts'
import { run, type RunResult } from '../../src/loop/run.ts'
import {
  callsAnswer,
  framesOf,
  scriptedModel,
  textAnswer,
  untilFrame,
  watchedTool,
} from '../scripted-model.ts'

interface Sent {
  readonly tools: readonly { readonly name: string }[]
  readonly tool_choice: unknown
}

function trustedRun(options: Partial<AgentOptions>, call = 'write') {
  const ran: string[] = []
  const make = (name: string, settings: object) =>
    watchedTool(name, () => (ran.push(name), `${name} ran`), settings).tool
  const model = scriptedModel([callsAnswer(1, [[call, '{}']]), textAnswer(2, 'done')])
  const made = agent({
    model,
    tools: [make('read', { readOnly: true, aliases: ['cat'] }), make('write', {})],
    ...options,
  })
  const live = run(made, 'go')
  const sent = (): Sent => model.requests[0] as unknown as Sent
  return { live, ran, sent }
}

function outcomes({ calls }: RunResult): readonly string[] {
  return calls.map(({ outcome }) => outcome)
}

function allowed(mode: string, ...names: readonly string[]): object {
  return { type: 'allowed_tools', mode, tools: names.map((name) => ({ type: 'function', name })) }
}

test('without a word about trust all tools are declared and the choice is free', async () => {
  const { live, sent } = trustedRun({})
  expect(outcomes(await live.result)).toEqual(['ok'])
  expect(sent().tools.map(({ name }) => name)).toEqual(['read', 'cat', 'write'])
  expect(sent().tool_choice).toBe('auto')
})

test('where nothing is trusted only tools that change nothing are declared and allowed, and no other runs', async () => {
  const { live, ran, sent } = trustedRun({ trust: 'untrusted' })
  expect(outcomes(await live.result)).toEqual(['unknown_tool'])
  expect(ran).toEqual([])
  expect(sent().tools.map(({ name }) => name)).toEqual(['read', 'cat'])
  expect(sent().tool_choice).toEqual(allowed('auto', 'read', 'cat'))
})

test('with allowed_only the declared tools stay the same, and those that are not allowed still do not run', async () => {
  const { live, ran, sent } = trustedRun({ trust: 'untrusted', trustFilter: 'allowed_only' })
  expect(outcomes(await live.result)).toEqual(['not_allowed'])
  expect(ran).toEqual([])
  expect(sent().tools.map(({ name }) => name)).toEqual(['read', 'cat', 'write'])
  expect(sent().tool_choice).toEqual(allowed('auto', 'read', 'cat'))
})

test('where all is trusted every tool is named as allowed', async () => {
  const { live, ran, sent } = trustedRun({ trust: 'trusted' })
  expect(outcomes(await live.result)).toEqual(['ok'])
  expect(ran).toEqual(['write'])
  expect(sent().tool_choice).toEqual(allowed('auto', 'read', 'cat', 'write'))
})

async function choice(toolChoice: unknown): Promise<unknown> {
  const { live, sent } = trustedRun({
    trust: 'untrusted',
    trustFilter: 'allowed_only',
    request: { toolChoice } as never,
  })
  await live.result
  return sent().tool_choice
}

test('trust narrows the choice that was asked for and never widens it', async () => {
  expect(await choice('none')).toBe('none')
  expect(await choice('required')).toEqual(allowed('required', 'read', 'cat'))
  expect(await choice(allowed('auto', 'write'))).toBe('none')
  expect(await choice(allowed('required', 'write', 'read'))).toEqual(allowed('required', 'read'))
  expect(() =>
    trustedRun({ trust: 'untrusted', request: { toolChoice: { type: 'function', name: 'write' } } }),
  ).toThrow('names a tool that is not there')
  await expect(choice({ type: 'function', name: 'write' })).rejects.toThrow('not trusted')
})

test('an agent whose tools are all untrusted may call none', async () => {
  const model = scriptedModel([textAnswer(1, 'hello')])
  const tools = [watchedTool('write').tool]
  const live = run(agent({ model, tools, trust: 'untrusted', trustFilter: 'allowed_only' }), 'go')
  await live.result
  expect(model.requests[0]).toMatchObject({ tool_choice: 'none' })
})

test('a rule that denies keeps a call from running and is told to the model', async () => {
  const { live, ran } = trustedRun({ policy: [{ decision: 'deny', tool: 'write' }] })
  const frames = []
  for await (const frame of live) frames.push(frame)
  expect(outcomes(await live.result)).toEqual(['not_allowed'])
  expect(ran).toEqual([])
  const [failed] = framesOf(frames, 'tool_failed')
  expect(failed).toMatchObject({ error: { code: 'tool_not_allowed' } })
  expect(failed?.output).toContain('a rule of this run forbids it')
})

test('a rule that asks leads to a question that no tool asked for', async () => {
  const { live, ran } = trustedRun({ policy: [{ decision: 'ask', tool: 'cat' }] }, 'read')
  expect(await untilFrame(live, ({ type }) => type === 'approval_requested')).toMatchObject({
    reason: 'policy',
  })
  expect(ran).toEqual([])
  await live.approve('call_1_0')
  expect(outcomes(await live.result)).toEqual(['ok'])
})

test('a rule that allows lifts a question, but not one that is asked each time', async () => {
  const policy = [{ decision: 'allow', tool: '*' }] as const
  const asking = (isEachTime: boolean) => {
    const model = scriptedModel([callsAnswer(1, [['pay', '{}']]), textAnswer(2, 'done')])
    const settings = { needsApproval: () => ({ reason: 'money', isEachTime }) }
    return run(agent({ model, policy, tools: [watchedTool('pay', () => 'paid', settings).tool] }), 'go')
  }
  expect(outcomes(await asking(false).result)).toEqual(['ok'])
  const live = asking(true)
  expect(await untilFrame(live, ({ type }) => type === 'approval_requested')).toMatchObject({
    reason: 'money',
  })
  await live.cancel()
})

function touches(): never {
  throw new Error('what?')
}

test('a tool that cannot say what it would touch is denied where there are rules', async () => {
  const model = scriptedModel([callsAnswer(1, [['pay', '{}']]), textAnswer(2, 'done')])
  const { tool, ran } = watchedTool('pay', () => 'paid', { touches })
  const policy = [{ decision: 'allow', tool: 'pay', path: '**' }] as const
  expect(outcomes(await run(agent({ model, policy, tools: [tool] }), 'go').result)).toEqual(['not_allowed'])
  expect(ran).toEqual([])
})
