import { mkdirSync, rmdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test, vi } from 'vitest'

import { walkFolder } from '../../../src/tools/workspace/walk-folder.ts'
import { freshFolder } from './fresh-workspace.ts'

// Node reads folders in an order that it does not promise; here it is the worst.
vi.mock(import('node:fs/promises'), async (original) => {
  const real = await original()
  const readdir = async (path: string): Promise<unknown> =>
    (await real.readdir(path, { withFileTypes: true })).toReversed()
  return { ...real, readdir: readdir as typeof real.readdir }
})

const { signal } = new AbortController()

test('the order is that of code points, whatever the folder gives', async () => {
  const folder = freshFolder()
  for (const name of ['b', '\uffee', 'a-b', '\u{1f600}', 'B', 'ab', '\ufb00', '10', '9']) {
    writeFileSync(join(folder, name), '')
  }
  mkdirSync(join(folder, 'a'))
  writeFileSync(join(folder, 'a', 'z'), '')
  const paths: string[] = []
  for await (const { path } of walkFolder(folder, { enters: () => true, signal })) paths.push(path)
  expect(paths).toEqual(['10', '9', 'B', 'a', 'a/z', 'a-b', 'ab', 'b', '\ufb00', '\uffee', '\u{1f600}'])
})

test('links are named and not entered, and a folder that becomes a link in the walk is passed by', async () => {
  const folder = freshFolder()
  for (const name of ['a', 'b', 'out']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'out', 'secret'), '')
  symlinkSync('out', join(folder, 'c'))
  const entered: string[] = []
  const enters = ({ path }: { readonly path: string }): boolean => {
    if (path === 'out') return false
    entered.push(path)
    return true
  }
  const seen: string[] = []
  for await (const { path, kind } of walkFolder(folder, { enters, signal })) {
    seen.push(`${kind} ${path}`)
    if (path === 'b') {
      rmdirSync(join(folder, 'b'))
      symlinkSync('out', join(folder, 'b'))
    }
  }
  expect(entered).toEqual(['a', 'b'])
  expect(seen).toEqual(['folder a', 'folder b', 'link c', 'folder out'])
})

test('a tree deeper than 64 folders is walked down to there, and an aborted walk ends', async () => {
  const folder = freshFolder()
  mkdirSync(join(folder, ...Array.from({ length: 80 }, () => 'd')), { recursive: true })
  let deepest = 0
  for await (const { path } of walkFolder(folder, { enters: () => true, signal })) {
    deepest = Math.max(deepest, path.split('/').length)
  }
  expect(deepest).toBe(64)
  const walk = walkFolder(folder, { enters: () => true, signal: AbortSignal.abort(new TypeError('stop')) })
  await expect(walk.next()).rejects.toThrow('stop')
})
