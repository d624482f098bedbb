import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { workspaceTools } from '../../src/cli/workspace-tools.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { makeFolder } from './run-cli.ts'

async function call(root: string, name: string, args: JsonObject): Promise<unknown> {
  const found = (await workspaceTools(root)).find((each) => each.name === name)
  const prepared = await found?.prepare(args)
  if (prepared?.ok !== true) throw new Error('the arguments were refused')
  const { signal } = new AbortController()
  return prepared.call.execute({ signal, callId: 'c', key: 'k', onOutput: () => undefined })
}

function makeWorkspace(): string {
  const root = makeFolder({
    'a.txt': 'one two\nthree\n',
    '.env': 'KEY=1',
    id_rsa: 'x',
    'b.bin': new Uint8Array([0, 1]),
  })
  mkdirSync(join(root, 'sub'))
  writeFileSync(join(root, 'sub', 'c.md'), '')
  return root
}

test('the tools list, read and count the files of a workspace', async () => {
  const root = makeWorkspace()
  expect(await call(root, 'list_files', {})).toEqual({
    files: [
      { path: 'a.txt', bytes: 14 },
      { path: 'b.bin', bytes: 2 },
      { path: 'sub/c.md', bytes: 0 },
    ],
    isCut: false,
  })
  expect(await call(root, 'read_file', { path: './a.txt' })).toBe('one two\nthree\n')
  expect(await call(root, 'count_words', { path: 'a.txt' })).toEqual({ path: 'a.txt', lines: 2, words: 3 })
  expect(await call(root, 'count_words', { path: 'sub/c.md' })).toEqual({
    path: 'sub/c.md',
    lines: 0,
    words: 0,
  })
})

test.for([
  '../outside.txt',
  'sub/../../outside.txt',
  '/etc/hostname',
  '.env',
  'sub/../.env',
  'id_rsa',
  String.raw`..\outside.txt`,
  'a.txt\0',
  '.',
  'sub',
  'link.txt',
  'linked/outside.txt',
  'pipe',
  'b.bin',
  'large.txt',
  'not-there.txt',
])('reading %j is refused', async (path) => {
  const outside = makeFolder({ 'outside.txt': 'secret' })
  const root = makeWorkspace()
  writeFileSync(join(root, 'large.txt'), 'x'.repeat(256 * 1024 + 1))
  symlinkSync(join(outside, 'outside.txt'), join(root, 'link.txt'))
  symlinkSync(outside, join(root, 'linked'))
  spawnSync('sh', ['-c', 'mkfifo "$0"', join(root, 'pipe')])
  await expect(call(root, 'read_file', { path })).rejects.toThrow(/./u)
})

test('a workspace beside another with the same start of its name is outside of it', async () => {
  const parent = makeFolder()
  const [root, sibling] = [join(parent, 'work'), join(parent, 'work-evil')]
  for (const folder of [root, sibling]) mkdirSync(folder)
  writeFileSync(join(sibling, 'x.txt'), 'secret')
  symlinkSync(join(sibling, 'x.txt'), join(root, 'x.txt'))
  await expect(call(root, 'read_file', { path: 'x.txt' })).rejects.toThrow('outside of the workspace')
})

test('a long list is cut, and says so', async () => {
  const files = Object.fromEntries(Array.from({ length: 205 }, (_, index) => [`f${index}.txt`, '']))
  const listed = await call(makeFolder(files), 'list_files', {})
  expect(listed).toMatchObject({ isCut: true })
  expect((listed as { files: unknown[] }).files).toHaveLength(200)
})

test('a workspace that is not there, or is a file, is refused at once', async () => {
  const root = makeWorkspace()
  await expect(workspaceTools(join(root, 'nowhere'))).rejects.toMatchObject({ code: 'usage' })
  await expect(workspaceTools(join(root, 'a.txt'))).rejects.toMatchObject({ code: 'usage' })
})
