import { symlinkSync } from 'node:fs'
import { join } from 'node:path'

import * as fc from 'fast-check'
import { expect, test, vi } from 'vitest'

import { agent } from '../../../src/agent.ts'
import { bindTools } from '../../../src/tools/bind-tools.ts'
import { builtinTools } from '../../../src/tools/builtin/builtin-tools.ts'
import { makePolicy, type PolicyDecision, type PolicyRule } from '../../../src/tools/policy/policy.ts'
import type { Touch } from '../../../src/tools/tool-settings.ts'
import { tool } from '../../../src/tools/tool.ts'
import { ManualClock } from '../../manual-clock.ts'
import { scriptedModel } from '../../scripted-model.ts'
import { freshWorkspace } from '../workspace/fresh-workspace.ts'

const read = (path: string): Touch => ({ kind: 'path', path, access: 'read' })
const write = (path: string): Touch => ({ kind: 'path', path, access: 'write' })
const tree = (path: string): Touch => ({ kind: 'path', path, access: 'read', isTree: true })
const command = (...argv: readonly string[]): Touch => ({ kind: 'command', argv })

const RULES: readonly PolicyRule[] = [
  { decision: 'allow', tool: 'shell', argv: ['npm', 'test'] },
  { decision: 'ask', tool: 'shell' },
  { decision: 'allow', tool: 'write_file', path: 'src/**' },
  { decision: 'deny', tool: 'write_file', path: 'src/secret/**' },
  { decision: 'deny', tool: '*', path: 'vault/*', access: 'write' },
  { decision: 'allow', tool: 'list', path: 'src/*.ts' },
]

test.for<readonly [string, readonly string[], readonly Touch[] | 'unreadable' | null, PolicyDecision | null]>(
  [
    ['no rule fits', ['grep'], [read('a.ts')], null],
    ['ask goes before allow', ['shell', 'bash'], [command('npm', 'test')], 'ask'],
    ['a rule names an alias', ['sh', 'shell'], [command('ls')], 'ask'],
    ['a path that is allowed', ['write_file'], [write('src/a.ts')], 'allow'],
    ['a hidden file of a folder', ['write_file'], [write('src/secret/.env')], 'deny'],
    ['deny goes before allow', ['write_file'], [write('src/secret/a.ts')], 'deny'],
    ['one of several paths is denied', ['write_file'], [write('src/a.ts'), write('src/secret/b')], 'deny'],
    ['one of several paths is not allowed', ['write_file'], [write('src/a.ts'), write('other.ts')], null],
    ['a path under every tool', ['apply_patch'], [write('vault/key')], 'deny'],
    ['the same path in another way', ['read_file'], [read('vault/key')], null],
    ['a folder with something in it that is denied', ['write_file'], [tree('src')], 'deny'],
    ['the whole workspace, where something is denied', ['write_file'], [tree('.')], 'deny'],
    ['a folder that is allowed as a whole', ['write_file'], [tree('src/lib')], 'allow'],
    ['a folder of which a part is allowed', ['list'], [tree('src')], null],
    ['what is touched cannot be read', ['write_file'], 'unreadable', 'deny'],
    ['a tool that does not say', ['write_file'], null, 'deny'],
    ['a call that touches nothing', ['write_file'], [], null],
    [
      'a call that touches too much',
      ['write_file'],
      Array.from({ length: 501 }, () => write('src/a')),
      'deny',
    ],
  ] as const,
)('%s', async ([, names, touches, expected]) => {
  expect((await makePolicy(RULES, null).decide(names, touches))?.decision ?? null).toBe(expected)
})

test('an allowed command is that command and no other: no prefix, no suffix, no text of a shell', async () => {
  const policy = makePolicy([{ decision: 'allow', tool: 'shell', argv: ['npm', 'test'] }], null)
  const decide = async (...argv: readonly string[]): Promise<unknown> =>
    (await policy.decide(['shell'], [command(...argv)]))?.decision ?? null
  expect(await decide('npm', 'test')).toBe('allow')
  for (const other of [
    ['npm'],
    ['npm', 'test', '--', '; rm -rf /'],
    ['npm', 'test '],
    ['npm test'],
    ['bash', '-c', 'npm test'],
    ['./npm', 'test'],
  ]) {
    expect(await decide(...other)).toBe(null)
  }
})

test('whatever the rules and their order, one that denies is never overruled, and one that asks never by one that allows', async () => {
  const rule = fc.record({
    decision: fc.constantFrom<PolicyDecision>('deny', 'ask', 'allow'),
    tool: fc.constantFrom('*', 'a', 'b'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(rule, { maxLength: 6 }), async (rules) => {
      const fitting = new Set(rules.filter(({ tool }) => tool !== 'b').map(({ decision }) => decision))
      const strictest = (['deny', 'ask', 'allow'] as const).find((decision) => fitting.has(decision)) ?? null
      expect((await makePolicy(rules, null).decide(['a'], []))?.decision ?? null).toBe(strictest)
    }),
  )
})

test.for<readonly [unknown, string]>([
  ['deny everything', 'policy[0] must be an object'],
  [{ tool: 'shell' }, 'policy[0].decision must be deny, ask or allow'],
  [{ decision: 'maybe', tool: 'shell' }, 'policy[0].decision must be deny, ask or allow'],
  [{ decision: 'deny' }, 'policy[0].tool must be the name of a tool, or *'],
  [{ decision: 'deny', tool: 'a', pat: 'x' }, 'policy[0]: there is no field "pat"'],
  [{ decision: 'deny', tool: 'a', path: '' }, 'policy[0].path must be a glob'],
  [{ decision: 'deny', tool: 'a', access: 'read' }, 'policy[0].access needs a path'],
  [{ decision: 'deny', tool: 'a', path: 'x', access: 'own' }, 'policy[0].access must be read or write'],
  [{ decision: 'deny', tool: 'a', argv: 'npm test' }, 'policy[0].argv must be a list of texts'],
  [{ decision: 'deny', tool: 'a', argv: [] }, 'policy[0].argv must be a list of texts'],
  [
    { decision: 'deny', tool: 'a', argv: ['x'], path: 'y' },
    'policy[0] can be about a path or a command, not both',
  ],
  [
    { decision: 'deny', tool: 'a', path: 'a{' },
    'policy[0].path: the glob pattern cannot be used: it has a { without its }',
  ],
  [
    { decision: 'deny', tool: 'a', path: '/etc/**' },
    'policy[0].path: the glob pattern cannot be used: it is absolute',
  ],
  [
    { decision: 'deny', tool: 'a', path: '{a,/etc}/**' },
    'policy[0].path: the glob pattern cannot be used: it is absolute',
  ],
  [
    { decision: 'deny', tool: 'a', path: '../x' },
    'policy[0].path: the glob pattern cannot be used: it has a .. in it',
  ],
  [{ decision: 'deny', tool: 'a', path: '~/x' }, 'policy[0].path: no path of a workspace begins like this'],
  [{ decision: 'deny', tool: 'a', path: 'C:/x' }, 'policy[0].path: no path of a workspace begins like this'],
  [
    { decision: 'deny', tool: 'a', path: '.' },
    'policy[0].path: the glob pattern cannot be used: it is empty',
  ],
])('the rule %j is refused', ([rule, complaint]) => {
  expect(() => makePolicy([rule as PolicyRule], null)).toThrow(complaint)
})

test('a policy that is no list, or names a tool that there is not, is refused when the agent is made', () => {
  const model = scriptedModel([])
  const tools = [tool({ ...PROBE, name: 'write_file', aliases: ['write'] })]
  const made = (policy: unknown): unknown => agent({ model, tools, policy: policy as readonly PolicyRule[] })
  expect(() => made({ decision: 'deny', tool: '*' })).toThrow('policy must be a list of rules')
  expect(() => made([{ decision: 'deny', tool: 'Write' }])).toThrow(
    'policy[0].tool: there is no tool "Write"; the agent has write_file, write',
  )
  for (const name of ['*', 'write_file', 'write']) made([{ decision: 'deny', tool: name }])
  // It is left out for who does not trust the folder; a rule about it is a rule all the same.
  agent({ model, tools, trust: 'untrusted', policy: [{ decision: 'deny', tool: 'write_file' }] })
})

const PROBE = {
  name: 'probe',
  description: 'Try something.',
  inputSchema: { type: 'object' },
  execute: () => 'ran',
}

const listing = (path: string): Touch => ({ kind: 'path', path, access: 'read', isListing: true })

test.for<readonly [PolicyDecision, string, Touch, PolicyDecision | null]>([
  // To forbid: also all that lies in a folder that is covered.
  ['deny', 'private', read('private/a/b'), 'deny'],
  ['ask', 'priv*', tree('private/deep'), 'ask'],
  ['deny', '*.d', read('conf.d/x'), 'deny'],
  ['deny', 'private', read('private2/a'), null],
  // To allow: nothing but the path.
  ['allow', 'private', read('private/a'), null],
  // To list a folder is to see the names in it, not what is below them.
  ['deny', 'private/**', listing('.'), null],
  ['deny', 'private/**', listing('private'), 'deny'],
  ['deny', 'private/*', listing('private'), 'deny'],
  ['deny', 'private', listing('private/deep'), 'deny'],
  ['deny', '**/*.key', listing('src'), null],
  ['deny', '**/????', listing('src'), null],
  ['deny', '**', listing('.'), 'deny'],
  ['allow', 'src/**', listing('src'), 'allow'],
  ['allow', 'src/*.ts', listing('src'), null],
  ['allow', 'src', listing('src'), 'allow'],
])('%s %s, about %j: %s', async ([decision, path, touch, expected]) => {
  const policy = makePolicy([{ decision, tool: '*', path }], null)
  expect((await policy.decide(['a'], [touch]))?.decision ?? null).toBe(expected)
})

test.for<readonly [PolicyRule, readonly Touch[] | (() => never), string]>([
  [{ decision: 'deny', tool: 'probe' }, [], 'probe'],
  [{ decision: 'deny', tool: '*', path: 'private/**' }, [read('private/a')], 'any tool on private/**'],
  [
    { decision: 'deny', tool: 'probe', path: 'a/*', access: 'write' },
    [write('a/b')],
    'probe on a/*, to write',
  ],
  [
    { decision: 'deny', tool: 'probe', argv: ['npm', 'publish'] },
    [command('npm', 'publish')],
    'probe on "npm" "publish"',
  ],
  [
    { decision: 'allow', tool: 'probe' },
    () => {
      throw new Error('no path')
    },
    'it cannot be told what the call would use; name paths inside of the workspace',
  ],
])('the model is told what the rule %j is about', async ([rule, touches, told]) => {
  const probe = tool({ ...PROBE, touches: typeof touches === 'function' ? touches : () => touches })
  const { appraise } = bindTools([probe], { rules: makePolicy([rule], ['probe']) })
  const { refusal } = await appraise({ callId: 'c', name: 'probe', arguments: '{}' })
  expect(refusal).toEqual({ outcome: 'not_allowed', message: `a rule of this run forbids it: ${told}` })
})

test('a tool that never says what it touches is denied in time', async () => {
  const clock = new ManualClock()
  const probe = tool({ ...PROBE, touches: () => new Promise(() => {}) })
  const { appraise } = bindTools([probe], {
    clock,
    rules: makePolicy([{ decision: 'ask', tool: 'probe' }], null),
  })
  const appraising = appraise({ callId: 'c', name: 'probe', arguments: '{}' })
  await vi.waitUntil(() => clock.timersArmed > 0)
  clock.advance(10_000)
  expect((await appraising).refusal?.outcome).toBe('not_allowed')
})

test('through a link, a path is held to the rules about where it leads', async () => {
  const { root, base } = await freshWorkspace({ 'private/plan.txt': 'plan', 'src/a.ts': 'a' })
  symlinkSync('private', join(root, 'pub'))
  symlinkSync('../private', join(root, 'src/lib'))
  const tools = await builtinTools({ workspace: root, stateFolder: join(base, 'state') })
  const asks = async (rule: PolicyRule, name: string, args: object): Promise<unknown> => {
    const { appraise } = bindTools(tools, { rules: makePolicy([rule], null) })
    const { refusal, approval } = await appraise({ callId: 'c', name, arguments: JSON.stringify(args) })
    return refusal?.outcome ?? approval?.reason ?? 'free'
  }
  const deny: PolicyRule = { decision: 'deny', tool: '*', path: 'private/**' }
  expect(await asks(deny, 'read_file', { path: 'pub/plan.txt' })).toBe('not_allowed')
  expect(await asks(deny, 'grep', { path: 'pub', pattern: 'x' })).toBe('not_allowed')
  expect(await asks(deny, 'glob', { path: 'src/lib', pattern: '*' })).toBe('not_allowed')
  expect(await asks(deny, 'list_dir', { path: 'pub' })).toBe('not_allowed')
  expect(await asks(deny, 'write_file', { path: 'pub/new/x.txt', content: '' })).toBe('not_allowed')
  expect(await asks(deny, 'list_dir', {})).toBe('free')
  expect(await asks(deny, 'list_dir', { depth: 2 })).toBe('not_allowed')
  // A write replaces a link, and leaves what it leads to alone.
  expect(await asks(deny, 'write_file', { path: 'pub', content: '' })).toBe('write')
  const allow: PolicyRule = { decision: 'allow', tool: 'write_file', path: 'src/**' }
  expect(await asks(allow, 'write_file', { path: 'src/a.ts', content: '' })).toBe('free')
  expect(await asks(allow, 'write_file', { path: 'src/lib/plan.txt', content: '' })).toBe('write')
})
