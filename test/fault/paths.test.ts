import { execFileSync } from 'node:child_process'
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { openWorkspace } from '../../src/tools/workspace/workspace.ts'
import { freshWorkspace, endOf, type FreshWorkspace } from '../tools/workspace/fresh-workspace.ts'
import { UNPARSABLE, USED } from './path-table.ts'

const EVIL = { 'secret.txt': 'evil', config: 'evil config' }

test('fault T10: the table has at least 200 different paths', () => {
  const paths = [...UNPARSABLE, ...USED.map(([path]) => path)]
  expect(new Set(paths).size).toBe(paths.length)
  expect(paths.length).toBeGreaterThanOrEqual(200)
})

test('fault T10: a path that leaves the workspace or is none is refused for every access', async () => {
  const { workspace } = await freshWorkspace({ 'plain.txt': 'plain' })
  const ends: unknown[] = []
  for (const path of UNPARSABLE) {
    ends.push([
      path,
      await endOf(() => workspace.parse(path).path),
      await endOf(() => workspace.parse(path, 'write').path),
    ])
  }
  const refused = 'path_outside_workspace'
  expect(ends).toEqual(UNPARSABLE.map((path) => [path, refused, refused]))
})

test('fault T10: what a path leads to decides whether it is read', async () => {
  const { workspace } = await hostileWorkspace()
  const ends: unknown[] = []
  for (const [path] of USED) {
    const end = await endOf(async () => {
      const { bytes } = await workspace.readFile(workspace.parse(path), 1000)
      return `=${bytes.toString('utf8')}`
    })
    ends.push([path, end])
  }
  expect(ends).toEqual(USED.map(([path, read]) => [path, read]))
})

const LONG = { timeout: 60_000 }

test(
  'fault T10: what a path leads to decides whether it is written, and nothing outside ever changes',
  LONG,
  async () => {
    const ends: unknown[] = []
    for (const [path] of USED) {
      const { workspace, base, root } = await hostileWorkspace()
      const end = await endOf(async () => {
        await workspace.replaceFile(workspace.parse(path, 'write'), Buffer.from('written'))
        return readFileSync(join(root, path.replace(/\/$/u, '')), 'utf8') === 'written' ? 'ok' : 'not written'
      })
      ends.push([path, end])
      expect(evilIn(base), path).toEqual(EVIL)
      expect(readdirSync(base).toSorted(), path).toEqual(['ws', 'ws-evil'])
      expect(leftoversIn(root), path).toBe('')
    }
    expect(ends).toEqual(USED.map(([path, , write]) => [path, write]))
  },
)

test('fault T10: nothing outside is removed, and a link is removed without what it leads to', async () => {
  const { workspace, base, root } = await hostileWorkspace()
  const remove = (path: string): Promise<unknown> =>
    endOf(() => workspace.removeFile(workspace.parse(path, 'write')))
  expect(await remove('out-dir/secret.txt')).toBe('path_outside_workspace')
  expect(await remove('up/ws-evil/secret.txt')).toBe('path_outside_workspace')
  expect(await remove('to-git/HEAD')).toBe('path_refused')
  expect(await remove('fifo')).toBe('not_a_regular_file')
  expect(await remove('dir')).toBe('not_a_regular_file')
  expect(await remove('.')).toBe('not_a_regular_file')
  expect(await remove('nowhere')).toBe('path_not_found')
  expect(await remove('out-file')).toBeUndefined()
  expect(await remove('in-dir/inner.txt')).toBeUndefined()
  expect(evilIn(base)).toEqual(EVIL)
  expect(readdirSync(join(root, 'dir'))).not.toContain('inner.txt')
  expect(readdirSync(root)).not.toContain('out-file')
})

test('fault T11: a folder whose name begins like that of the workspace is outside', async () => {
  const { workspace, base, root } = await hostileWorkspace()
  expect(join(base, 'ws-evil').startsWith(root)).toBe(true)
  for (const path of ['out-file', 'out-dir/secret.txt']) {
    expect(await endOf(() => workspace.readFile(workspace.parse(path), 100))).toBe('path_outside_workspace')
  }
  const listing = workspace.withFolder(workspace.parse('out-dir'), (folder) => Promise.resolve(folder))
  expect(await endOf(() => listing)).toBe('path_outside_workspace')
})

test('fault T13: writing to a second name of a file outside leaves that file as it is', async () => {
  const { workspace, base, root } = await hostileWorkspace()
  expect(lstatSync(join(root, 'hard')).nlink).toBe(2)
  await workspace.replaceFile(workspace.parse('hard', 'write'), Buffer.from('mine'))
  expect(readFileSync(join(root, 'hard'), 'utf8')).toBe('mine')
  expect(lstatSync(join(root, 'hard')).nlink).toBe(1)
  expect(evilIn(base)).toEqual(EVIL)
})

test('fault T13: composed and decomposed names are two files, each written by its own letters', async () => {
  const { workspace, root } = await freshWorkspace()
  await workspace.replaceFile(workspace.parse('\u00e9', 'write'), Buffer.from('one'))
  await workspace.replaceFile(workspace.parse('e\u0301', 'write'), Buffer.from('two'))
  expect(readdirSync(root).toSorted()).toEqual(['e\u0301', '\u00e9'])
  expect((await workspace.readFile(workspace.parse('\u00e9'), 10)).bytes.toString()).toBe('one')
})

test.each<readonly [string, (fresh: FreshWorkspace) => Promise<void>]>([
  ['removed', ({ root }) => rm(root, { recursive: true })],
  [
    'replaced by another folder',
    async ({ root }) => {
      await rm(root, { recursive: true })
      await mkdir(root)
      await writeFile(join(root, 'plain.txt'), 'other')
    },
  ],
  [
    'replaced by a link to a copy',
    async ({ root, base }) => {
      await rename(root, join(base, 'moved'))
      await mkdir(join(base, 'copy'))
      await writeFile(join(base, 'copy', 'plain.txt'), 'other')
      await symlink('copy', root)
    },
  ],
  [
    'moved and replaced by a link to itself',
    async ({ root, base }) => {
      await rename(root, join(base, 'moved'))
      await symlink('moved', root)
    },
  ],
  [
    'replaced by a file',
    async ({ root }) => {
      await rm(root, { recursive: true })
      await writeFile(root, '')
    },
  ],
])('fault T14: no operation does anything when the workspace was %s', async (_, spoil) => {
  const fresh = await freshWorkspace({ 'plain.txt': 'plain' })
  const { workspace, base } = fresh
  workspace.assertThere()
  await spoil(fresh)
  const before = treeOf(base)
  const path = workspace.parse('plain.txt', 'write')
  const ends = [
    await endOf(() => workspace.assertThere()),
    await endOf(() => workspace.readFile(path, 100)),
    await endOf(() => workspace.readIfThere(path, 100)),
    await endOf(() => workspace.replaceFile(path, Buffer.from('new'))),
    await endOf(() => workspace.removeFile(path)),
    await endOf(() => workspace.withFolder(workspace.parse('.'), (folder) => Promise.resolve(folder))),
  ]
  expect(ends).toEqual(ends.map(() => 'workspace_missing'))
  expect(treeOf(base)).toEqual(before)
})

test('fault T14: a workspace whose parent was moved is missing, though a link still leads to it', async () => {
  const { base } = await freshWorkspace()
  await mkdir(join(base, 'parent', 'ws'), { recursive: true })
  const workspace = await openWorkspace(join(base, 'parent', 'ws'))
  await rename(join(base, 'parent'), join(base, 'moved'))
  await symlink('moved', join(base, 'parent'))
  const path = workspace.parse('new.txt', 'write')
  expect(await endOf(() => workspace.replaceFile(path, Buffer.from('new')))).toBe('workspace_missing')
  expect(readdirSync(join(base, 'moved', 'ws'))).toEqual([])
})

async function hostileWorkspace(): Promise<FreshWorkspace> {
  const fresh = await freshWorkspace({
    'plain.txt': 'plain',
    'dir/inner.txt': 'inner',
    '..dots': 'dots',
    'x (deleted)': 'literal',
    'colon:name': 'colon',
    'a b.txt': 'space',
    '\u00fcber.txt': 'composed',
    'u\u0308ber.txt': 'decomposed',
    '.env': 'env',
    'server.pem': 'key',
    '.ssh/notes': 'ssh',
    '.git/config': 'config',
    '.git/HEAD': 'head',
    '.git/hooks/pre-commit': 'hook',
    '.github/ci.yml': 'ci',
    '.loopchart/x': 'own',
  })
  const { base, root } = fresh
  mkdirSync(join(base, 'ws-evil'))
  for (const [name, content] of Object.entries(EVIL)) writeFileSync(join(base, 'ws-evil', name), content)
  for (const [name, target] of Object.entries(linksOf(base, root))) symlinkSync(target, join(root, name))
  linkSync(join(base, 'ws-evil', 'secret.txt'), join(root, 'hard'))
  execFileSync('mkfifo', [join(root, 'fifo'), join(root, 'dir', 'fifo')])
  await makeSocket(join(root, 'socket'))
  return fresh
}

function linksOf(base: string, root: string): Readonly<Record<string, string>> {
  return {
    'to-zero': '/dev/zero',
    'to-null': '/dev/null',
    'to-tty': '/dev/tty',
    'to-stdin': '/proc/self/fd/0',
    'to-environ': '/proc/self/environ',
    'to-proc': '/proc/self',
    'to-dev': '/dev',
    'to-fifo': 'fifo',
    'out-file': '../ws-evil/secret.txt',
    'out-absolute': join(base, 'ws-evil', 'secret.txt'),
    'out-chain': 'out-file',
    'out-dir': '../ws-evil',
    'out-dir-absolute': join(base, 'ws-evil'),
    'dir/out': '../../ws-evil',
    up: '..',
    slash: '/',
    dangling: 'nowhere',
    'dangling-out': '../ws-evil/nothing',
    loop: 'loop',
    'in-file': 'plain.txt',
    'in-chain': 'in-file',
    'in-dir': 'dir',
    'in-absolute': join(root, 'plain.txt'),
    'to-env': '.env',
    'to-key': 'server.pem',
    'to-git': '.git',
    'to-hooks': '.git/hooks',
    'to-ssh': '.ssh',
    'to-ci': '.github/ci.yml',
    'to-own': '.loopchart',
  }
}

async function makeSocket(path: string): Promise<void> {
  const server = createServer()
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => void server.listen(path, resolve))
}

function evilIn(base: string): unknown {
  const folder = join(base, 'ws-evil')
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  )
}

function leftoversIn(root: string): string {
  // Not with readdir: it would follow the links, through /proc and all.
  return execFileSync('find', ['-P', root, '-name', '*.tmp'], { encoding: 'utf8' })
}

function treeOf(base: string): unknown {
  return readdirSync(base, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return `${path} ${entry.isFile() ? readFileSync(path, 'utf8') : ''}`
    })
    .toSorted()
}
