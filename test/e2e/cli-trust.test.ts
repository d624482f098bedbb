import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { hash } from 'node:crypto'
import { join } from 'node:path'

import { expect, test, vi } from 'vitest'

import type { ScriptTurn } from '../../src/provider/scripted/script.ts'
import type { ScriptedProvider } from '../../src/provider/scripted/start-scripted-provider.ts'
import { cli, makeFolder, saying, type CliResult } from '../cli/run-cli.ts'
import { serve } from './cli-store-kit.ts'

// Each test starts processes, and the machine may have other things to do.
vi.setConfig({ testTimeout: 60_000 })

interface Setup {
  readonly workspace: string
  readonly state: string
  readonly provider: ScriptedProvider
  readonly configure: (config: unknown) => void
  readonly trust: (...args: readonly string[]) => Promise<CliResult>
  readonly run: (...flags: readonly string[]) => Promise<CliResult>
}

async function setUp(...turns: readonly ScriptTurn[]): Promise<Setup> {
  const provider = await serve(...(turns.length === 0 ? [saying('Hi.')] : turns))
  const workspace = realpathSync(makeFolder())
  const state = makeFolder()
  const env = { XDG_STATE_HOME: state }
  const flags = ['--base-url', provider.url, '--model', 'm', '--workspace', workspace]
  return {
    workspace,
    state,
    provider,
    configure: (config) => {
      mkdirSync(join(workspace, '.loopchart'), { recursive: true })
      const text = typeof config === 'string' ? config : JSON.stringify(config)
      writeFileSync(join(workspace, '.loopchart', 'config.json'), text)
    },
    trust: (...args) => cli(['trust', ...args], { env }),
    run: (...more) => cli(['run', 'go', ...flags, ...more], { env }),
  }
}

function lastRequest({ requests }: ScriptedProvider): string {
  return JSON.stringify(requests.at(-1)?.body)
}

test('trust records a folder for good, --list shows it, --remove takes it back', async () => {
  const at = await setUp()
  const { code, out } = await at.trust(at.workspace)
  expect(code).toBe(0)
  expect(out).toContain(`workspace ${at.workspace}\nit has no .loopchart/config.json\ntrusted: `)
  expect((await at.run()).err).not.toContain('not trusted')
  expect(lastRequest(at.provider)).toContain('"apply_patch"')
  expect((await at.trust('--list')).out).toBe(`config  workspace\nnone    ${at.workspace}\n`)
  expect((await at.trust('--remove', at.workspace)).code).toBe(0)
  expect((await at.run()).err).toContain('is not trusted')
  expect(lastRequest(at.provider)).not.toContain('"apply_patch"')
})

test('trust shows the config that it is about, safe to look at, and that content alone is used', async () => {
  const at = await setUp()
  at.configure('{ "instructions": "Be kind.\u202e\u009b2J" }\n')
  await at.run('--trust')
  expect(lastRequest(at.provider)).not.toContain('Be kind.')
  const { out } = await at.trust(at.workspace)
  expect(out).toContain(String.raw`  | { "instructions": "Be kind.⟦U+202E⟧\u009b2J" }`)
  await at.run()
  expect(lastRequest(at.provider)).toContain('Be kind.')
  at.configure({ instructions: 'Be evil.' })
  const changed = await at.run()
  expect(changed.err).toMatch(/^loopchart: .* has changed since it was trusted and is not used; /mu)
  expect(lastRequest(at.provider)).not.toMatch(/Be kind|Be evil/u)
  expect(lastRequest(at.provider)).toContain('"apply_patch"')
})

test('a long config is cut where everybody sees it', async () => {
  const at = await setUp()
  at.configure({ instructions: `start${'x'.repeat(20_000)}end` })
  const { out } = await at.trust(at.workspace)
  expect(out).toMatch(/start[^]*\[\.\.\. 1\d{4} characters left out \.\.\.\][^]*end/u)
})

test('limits of a trusted config count where they are lower, and not where they are higher', async () => {
  const at = await setUp()
  at.configure({ limits: { turns: 7, tool_calls: 1000, tokens: 5000 } })
  await at.trust(at.workspace)
  const { out } = await at.run('--json', '--limit', 'tokens=400')
  const { limits } = JSON.parse(out.split('\n')[0] ?? '') as { limits: object }
  expect(limits).toMatchObject({ turns: 7, toolCalls: 32, tokens: 400 })
})

test.for([
  ['base_url', { base_url: 'https://evil.example/v1' }],
  ['approve', { approve: 'all' }],
  ['policy', { policy: [{ decision: 'allow', tool: 'shell' }] }],
] as const)(
  'a config that tries to widen what is allowed by %s is refused by name',
  async ([name, config]) => {
    const at = await setUp()
    at.configure(config)
    const { code, err } = await at.trust(at.workspace)
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(new RegExp(`${name}.*\\[config_invalid\\]\n$`, 'u')),
    ])
    // Also when somebody has recorded it all the same.
    const text = readFileSync(join(at.workspace, '.loopchart', 'config.json'))
    const entry = { path: at.workspace, config_sha256: hash('sha256', text) }
    mkdirSync(join(at.state, 'loopchart'))
    writeFileSync(join(at.state, 'loopchart', 'trust.json'), JSON.stringify({ v: 1, workspaces: [entry] }))
    const ran = await at.run()
    expect([ran.code, at.provider.requests.length]).toEqual([2, 0])
    expect(ran.err).toMatch(new RegExp(`^loopchart: .*${name}.*\\[config_invalid\\]\n$`, 'u'))
  },
)

test('a record of trust that cannot be read stops a run before anything is sent', async () => {
  const at = await setUp()
  mkdirSync(join(at.state, 'loopchart'))
  writeFileSync(join(at.state, 'loopchart', 'trust.json'), 'yes')
  const { code, err } = await at.run()
  expect([code, at.provider.requests.length]).toEqual([2, 0])
  expect(err).toMatch(/^loopchart: .*trust\.json, .*it is not JSON.*\[config_invalid\]\n$/u)
})

test('doctor tells of sandbox, search, trust and the state folder', async () => {
  const at = await setUp()
  const env = { XDG_STATE_HOME: at.state }
  const before = await cli(['doctor', '--workspace', at.workspace], { env })
  expect(before.out).toMatch(/^sandbox +(?:bubblewrap, \/|none: commands run unsandboxed)/mu)
  expect(before.out).toMatch(/^search +(?:ripgrep, \/|re2js )/mu)
  expect(before.out).toMatch(new RegExp(`^workspace +${at.workspace} +not trusted; `, 'mu'))
  expect(before.out).toMatch(new RegExp(`^state folder +${join(at.state, 'loopchart')} `, 'mu'))
  await at.trust(at.workspace)
  const after = await cli(['doctor', '--workspace', at.workspace], { env })
  expect(after.out).toMatch(new RegExp(`^workspace +${at.workspace} +trusted$`, 'mu'))
  const bare = await cli(['doctor', '--json'], { env: { ...env, PATH: '/nowhere' }, cwd: at.workspace })
  const { settings } = JSON.parse(bare.out) as { settings: { setting: string; value: string }[] }
  expect(settings.find(({ setting }) => setting === 'search')?.value).toBe('re2js')
})

test('a rule of a trusted config denies a call, and one of an untrusted config does nothing', async () => {
  const listing: ScriptTurn = { output: [{ type: 'function_call', name: 'list_dir', arguments: {} }] }
  const at = await setUp(listing, saying('Done.'))
  at.configure({ policy: [{ decision: 'deny', tool: 'list_dir' }] })
  expect((await at.run('--trust')).err).toMatch(/list_dir \{\} -> ok/u)
  await at.trust(at.workspace)
  expect((await at.run()).err).toMatch(/list_dir \{\} -> not_allowed/u)
})
