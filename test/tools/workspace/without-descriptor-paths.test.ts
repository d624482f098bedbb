import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { endOf, freshWorkspace } from './fresh-workspace.ts'

const swap = vi.hoisted(() => ({ before: (_path: string): void => {} }))
vi.mock(import('node:fs/promises'), async (original) => {
  const real = await original()
  const realpath = (path: string): Promise<string> => {
    swap.before(path)
    return real.realpath(path)
  }
  return { ...real, realpath: realpath as typeof real.realpath }
})

// Where the system has no paths for open files. It is asked once, when the code is loaded.
const { platform } = process
beforeEach(() => {
  Object.defineProperty(process, 'platform', { value: 'darwin' })
  vi.resetModules()
})
afterEach(() => {
  Object.defineProperty(process, 'platform', { value: platform })
})

test('without paths for open files, links that lead out and odd files are refused all the same', async () => {
  const { root, base } = await freshWorkspace({ 'a.txt': 'inside', 'dir/b.txt': 'b', '.env': 'KEY' })
  mkdirSync(join(base, 'ws-evil'))
  writeFileSync(join(base, 'ws-evil', 'x'), 'evil')
  const links = { out: '../ws-evil/x', outDir: '../ws-evil', env: '.env', zero: '/dev/zero', inside: 'a.txt' }
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name))
  execFileSync('mkfifo', [join(root, 'pipe')])
  const { openWorkspace } = await import('../../../src/tools/workspace/workspace.ts')
  const workspace = await openWorkspace(root)
  const read = (path: string): Promise<unknown> =>
    endOf(async () => (await workspace.readFile(workspace.parse(path), 100)).bytes.toString('utf8'))
  const write = (path: string): Promise<unknown> =>
    endOf(() => workspace.replaceFile(workspace.parse(path, 'write'), Buffer.from('new')))
  expect(await read('inside')).toBe('inside')
  expect(await read('out')).toBe('path_outside_workspace')
  expect(await read('outDir/x')).toBe('path_outside_workspace')
  expect(await read('env')).toBe('path_refused')
  expect(await read('zero')).toBe('path_outside_workspace')
  expect(await read('pipe')).toBe('not_a_regular_file')
  expect(await read('dir')).toBe('not_a_regular_file')
  expect(await write('outDir/x')).toBe('path_outside_workspace')
  expect(await write('outDir/new/x')).toBe('path_outside_workspace')
  expect(await write('out')).toBeUndefined()
  expect(await write('new/deep/x')).toBeUndefined()
  expect(readFileSync(join(root, 'new/deep/x'), 'utf8')).toBe('new')
  expect(readFileSync(join(base, 'ws-evil', 'x'), 'utf8')).toBe('evil')
  const folder = await workspace.withFolder(workspace.parse('dir'), (path) => Promise.resolve(path))
  expect(folder).toBe(join(root, 'dir'))
  execFileSync('mv', [root, `${root}-moved`])
  mkdirSync(root)
  expect(await write('a.txt')).toBe('workspace_missing')
  expect(readdirSync(root)).toEqual([])
})

test('without paths for open files, a file that is swapped before it is looked at is not read', async () => {
  const { root } = await freshWorkspace({ 'a.txt': 'a', 'b.txt': 'b' })
  const { openWorkspace } = await import('../../../src/tools/workspace/workspace.ts')
  const workspace = await openWorkspace(root)
  swap.before = (path) => {
    if (path.endsWith('a.txt')) renameSync(join(root, 'b.txt'), join(root, 'a.txt'))
  }
  expect(await endOf(() => workspace.readFile(workspace.parse('a.txt'), 10))).toBe('path_refused')
})
