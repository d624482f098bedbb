import {
  chmodSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { readTrust, trustPath, writeTrust } from '../../src/cli/trust-store.ts'
import { parseWorkspaceConfig, readWorkspaceConfig } from '../../src/cli/workspace-config.ts'
import { workspaceTrust } from '../../src/cli/workspace-trust.ts'
import { makeFolder } from './run-cli.ts'

function workspaceWith(config: unknown): string {
  const root = realpathSync(makeFolder())
  mkdirSync(join(root, '.loopchart'))
  const text = typeof config === 'string' ? config : JSON.stringify(config)
  writeFileSync(join(root, '.loopchart', 'config.json'), text)
  return root
}

function hashOf(root: string): string {
  return hash('sha256', readFileSync(join(root, '.loopchart', 'config.json')))
}

test('what is trusted is kept in a file and a folder that only their owner may read', async () => {
  const stateFolder = join(makeFolder(), 'a', 'state')
  const entries = [
    { path: '/one', configHash: null },
    { path: '/two', configHash: 'a'.repeat(64) },
  ]
  await writeTrust(stateFolder, entries)
  expect(await readTrust(stateFolder)).toEqual(entries)
  expect(statSync(trustPath(stateFolder)).mode & 0o777).toBe(0o600)
  expect(statSync(stateFolder).mode & 0o777).toBe(0o700)
})

test('with no file nothing is trusted', async () => {
  expect(await readTrust(makeFolder())).toEqual([])
})

const ENTRY = { path: '/one', config_sha256: null }

test.for([
  ['no JSON', '{"v":1,'],
  ['an empty file', ''],
  ['another version', { v: 2, workspaces: [ENTRY] }],
  ['no list', { v: 1, workspaces: { '/one': true } }],
  ['a path that is not absolute', { v: 1, workspaces: [{ ...ENTRY, path: 'one' }] }],
  ['a hash that is none', { v: 1, workspaces: [{ ...ENTRY, config_sha256: '*' }] }],
  ['a field that is not known', { v: 1, workspaces: [{ ...ENTRY, all: true }] }],
] as const)('a record of trust with %s is an error, never a yes', async ([, content]) => {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  const stateFolder = makeFolder({ 'trust.json': text })
  const thrown = { code: 'config_invalid', message: expect.stringContaining('trust.json') }
  await expect(readTrust(stateFolder)).rejects.toMatchObject(thrown)
  const asked = workspaceTrust({ workspace: stateFolder, stateFolder, isTrustedForNow: false })
  await expect(asked).rejects.toMatchObject(thrown)
})

test('a record of trust that others can write, or that is a link, is an error', async () => {
  const good = JSON.stringify({ v: 1, workspaces: [ENTRY] })
  const open = makeFolder({ 'trust.json': good })
  chmodSync(join(open, 'trust.json'), 0o666)
  await expect(readTrust(open)).rejects.toMatchObject({ code: 'config_invalid' })
  const linked = makeFolder({ real: good })
  symlinkSync(join(linked, 'real'), join(linked, 'trust.json'))
  await expect(readTrust(linked)).rejects.toMatchObject({ code: 'config_invalid' })
})

test('a workspace counts by its real path, and one beside or below it is another', async () => {
  const stateFolder = makeFolder()
  const root = realpathSync(makeFolder())
  mkdirSync(join(root, 'sub'))
  const link = join(stateFolder, 'link')
  symlinkSync(root, link)
  await writeTrust(stateFolder, [{ path: root, configHash: null }])
  const isTrusted = async (workspace: string): Promise<boolean> =>
    (await workspaceTrust({ workspace, stateFolder, isTrustedForNow: false })).isTrusted
  expect([await isTrusted(root), await isTrusted(link)]).toEqual([true, true])
  expect([await isTrusted(join(root, 'sub')), await isTrusted(stateFolder)]).toEqual([false, false])
})

test('the config of a workspace counts while it is the one that was trusted, and not after a change', async () => {
  const stateFolder = makeFolder()
  const root = workspaceWith({ instructions: 'Be kind.' })
  const ask = (isTrustedForNow = false) => workspaceTrust({ workspace: root, stateFolder, isTrustedForNow })
  expect(await ask()).toMatchObject({ isTrusted: false, config: {} })
  expect(await ask(true)).toMatchObject({
    isTrusted: true,
    config: {},
    notes: [expect.stringContaining('has not been looked at and is not used')],
  })
  await writeTrust(stateFolder, [{ path: root, configHash: hashOf(root) }])
  expect(await ask()).toMatchObject({ isTrusted: true, config: { instructions: 'Be kind.' }, notes: [] })
  writeFileSync(join(root, '.loopchart', 'config.json'), JSON.stringify({ instructions: 'Be evil.' }))
  expect(await ask()).toMatchObject({
    isTrusted: true,
    config: {},
    notes: [expect.stringContaining('has changed since it was trusted and is not used')],
  })
})

test('the config of an untrusted workspace is not even opened', async () => {
  const root = makeFolder()
  mkdirSync(join(root, '.loopchart'))
  spawnSync('mkfifo', [join(root, '.loopchart', 'config.json')])
  const asked = await workspaceTrust({ workspace: root, stateFolder: makeFolder(), isTrustedForNow: false })
  expect(asked).toMatchObject({ isTrusted: false, config: {} })
})

test('a config may say instructions, limits and rules that deny or ask', () => {
  const policy = [
    { decision: 'deny', tool: 'shell' },
    { decision: 'ask', tool: 'read_file', path: 'docs/**', access: 'read' },
  ] as const
  const config = { instructions: 'x', limits: { turns: 3 }, policy }
  expect(parseWorkspaceConfig({ text: JSON.stringify(config), hash: '' })).toEqual(config)
})

test.for([
  ['base_url', { base_url: 'https://evil.example' }],
  ['model', { model: 'm' }],
  ['api_key_file', { api_key_file: '/etc/passwd' }],
  ['tools', { tools: 'builtin' }],
  ['env', { env: { A: 'b' } }],
  ['approve', { approve: 'all' }],
  ['auto_edit', { auto_edit: true }],
  ['allow_unsandboxed', { allow_unsandboxed: true }],
  ['store', { store: 'x.db' }],
  ['log_file', { log_file: 'x' }],
  ['policy[0].decision', { policy: [{ decision: 'allow', tool: '*' }] }],
  ['policy[0].trust', { policy: [{ decision: 'deny', tool: '*', trust: true }] }],
  ['limits.retries', { limits: { retries: 3 } }],
] as const)('a config of a workspace that says %s is refused by that name', ([name, config]) => {
  const read = (): unknown => parseWorkspaceConfig({ text: JSON.stringify(config), hash: '' })
  expect(read).toThrow(expect.objectContaining({ code: 'config_invalid' }))
  expect(read).toThrow(name)
})

test('a config that is no JSON is refused', () => {
  expect(() => parseWorkspaceConfig({ text: '{', hash: '' })).toThrow('it is not JSON')
})

test.for([
  [
    'in a folder that is a link',
    (root: string, other: string) => symlinkSync(other, join(root, '.loopchart')),
  ],
  [
    'that is a link',
    (root: string, other: string) => {
      mkdirSync(join(root, '.loopchart'))
      symlinkSync(join(other, 'config.json'), join(root, '.loopchart', 'config.json'))
    },
  ],
  [
    'that is a pipe',
    (root: string) => {
      mkdirSync(join(root, '.loopchart'))
      spawnSync('mkfifo', [join(root, '.loopchart', 'config.json')])
    },
  ],
  [
    'that is a folder',
    (root: string) => mkdirSync(join(root, '.loopchart', 'config.json'), { recursive: true }),
  ],
  [
    'of more than 64 KiB',
    (root: string) => {
      mkdirSync(join(root, '.loopchart'))
      writeFileSync(join(root, '.loopchart', 'config.json'), ' '.repeat(64 * 1024 + 1))
    },
  ],
  ['in a folder that is a file', (root: string) => writeFileSync(join(root, '.loopchart'), '')],
] as const)('a config of a workspace %s is refused', async ([, make]) => {
  const root = makeFolder()
  make(root, makeFolder({ 'config.json': '{}' }))
  await expect(readWorkspaceConfig(root)).rejects.toMatchObject({ code: 'config_invalid' })
})

test('a workspace without a config has none', async () => {
  const root = makeFolder()
  expect(await readWorkspaceConfig(root)).toBe(null)
  mkdirSync(join(root, '.loopchart'))
  expect(await readWorkspaceConfig(root)).toBe(null)
})
