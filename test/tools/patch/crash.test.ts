import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { applyPatch } from '../../../src/tools/patch/apply-patch.ts'
import { parsePatch } from '../../../src/tools/patch/parse-patch.ts'
import { PatchRecords, type RecordedFile } from '../../../src/tools/patch/patch-records.ts'
import { openWorkspace } from '../../../src/tools/workspace/workspace.ts'
import { hashTree, makeTree, readTree } from './tree.ts'

const CHILD = fileURLToPath(new URL('crash-child.ts', import.meta.url))

const PATCH = `*** Begin Patch
*** Add File: new/n.txt
+n
*** Update File: a.txt
@@
-a
+A
*** Update File: b.txt
*** Move to: d/b2.txt
@@
-b
+B
*** Delete File: c.txt
*** End Patch
`

const BEFORE = { 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n', 'other.txt': 'other\n' }

const AFTER = {
  'a.txt': '755 A\n',
  d: 'folder',
  'd/b2.txt': '600 B\n',
  new: 'folder',
  'new/n.txt': '644 n\n',
  'other.txt': '644 other\n',
}

// In the order in which they are changed.
const FILES = ['new/n.txt', 'a.txt', 'd/b2.txt', 'b.txt', 'c.txt'] as const

interface Place {
  readonly root: string
  readonly records: string
}

async function makePlace(): Promise<Place> {
  const root = await makeTree(BEFORE)
  await chmod(join(root, 'a.txt'), 0o755)
  await chmod(join(root, 'b.txt'), 0o600)
  return { root, records: join(await makeTree({}), 'patches') }
}

/** Applies the patch in a process of its own, which is killed on the way. */
async function crash({ root, records }: Place, killAt: number | 'end'): Promise<void> {
  const patchFile = join(await makeTree({ 'p.patch': PATCH }), 'p.patch')
  const child = spawn(process.execPath, [CHILD, root, records, patchFile, 'run/1/0', String(killAt)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
  expect(signal).toBe('SIGKILL')
}

async function again({ root, records }: Place, patch = PATCH): Promise<readonly RecordedFile[]> {
  const host = { workspace: await openWorkspace(root), records: new PatchRecords(records) }
  const { signal } = new AbortController()
  return applyPatch(host, parsePatch(patch), { key: 'run/1/0', signal })
}

const messageOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'it was accepted',
    (error: unknown) => error,
  )

for (const killAt of [0, 1, 2, 3, 4, 5, 'end'] as const) {
  const moment = killAt === 'end' ? 'at the end, before the answer is known' : `after change ${killAt} of 5`
  test(`fault T17: killed ${moment}, the same call does what is missing`, async () => {
    const whole = await makePlace()
    const expected = await again(whole)
    const place = await makePlace()
    await crash(place, killAt)
    expect(await again(place)).toEqual(expected)
    expect(await readTree(place.root)).toEqual(AFTER)
    expect(await again(place)).toEqual(expected)
    expect(await readTree(place.root)).toEqual(AFTER)
  })
}

for (const killAt of [0, 1, 2, 3, 4, 5]) {
  test(`fault T17: killed after change ${killAt} of 5 and a file edited since, nothing more is done and each file is named`, async () => {
    const place = await makePlace()
    await crash(place, killAt)
    await appendFile(join(place.root, 'a.txt'), 'edited\n')
    const hashBefore = await hashTree(place.root)
    const states = FILES.map((path, at) => {
      if (path === 'a.txt') return `${path} is changed by somebody`
      return `${path} is ${at < killAt ? 'as after' : 'as before'}`
    })
    expect(await messageOf(again(place))).toMatchObject({
      code: 'patch_conflict',
      message: `an earlier attempt at this patch was cut off, and files have changed since; nothing more was done: ${states.join('; ')}`,
    })
    expect(await hashTree(place.root)).toBe(hashBefore)
  })
}

test('fault T17: a move whose target was removed after the crash is not taken for one that has not begun', async () => {
  const place = await makePlace()
  await crash(place, 4)
  await rm(join(place.root, 'd/b2.txt'))
  expect(await messageOf(again(place))).toMatchObject({
    code: 'patch_conflict',
    message: expect.stringContaining('d/b2.txt is changed by somebody; b.txt is as after') as unknown,
  })
})

test('fault T17: the record is written before the first change, for its owner only', async () => {
  const place = await makePlace()
  await crash(place, 0)
  expect(await readTree(place.root)).toMatchObject({ 'a.txt': '755 a\n', 'b.txt': '600 b\n' })
  const [name = '', ...others] = await readdir(place.records)
  expect(name).toMatch(/^[0-9a-f]{64}\.json$/)
  expect(others).toEqual([])
  expect((await stat(place.records)).mode & 0o777).toBe(0o700)
  expect((await stat(join(place.records, name))).mode & 0o777).toBe(0o600)
  const sha = expect.stringMatching(/^[0-9a-f]{64}$/) as unknown
  expect(JSON.parse(await readFile(join(place.records, name), 'utf8'))).toEqual({
    v: 2,
    patchHash: sha,
    files: [
      { path: 'new/n.txt', before: null, after: sha },
      { path: 'a.txt', before: sha, after: sha },
      { path: 'd/b2.txt', before: null, after: sha },
      { path: 'b.txt', before: sha, after: null },
      { path: 'c.txt', before: sha, after: null },
    ],
  })
})

test('fault T17: a record that is damaged stops the call', async () => {
  const place = await makePlace()
  await crash(place, 2)
  const [name = ''] = await readdir(place.records)
  const hashBefore = await hashTree(place.root)
  const whole = JSON.parse(await readFile(join(place.records, name), 'utf8')) as object
  for (const damage of [{ files: [{ path: 1 }] }, { files: [] }, { patchHash: 1 }, { v: 1 }]) {
    await writeFile(join(place.records, name), JSON.stringify({ ...whole, ...damage }))
    expect(await messageOf(again(place)), JSON.stringify(damage)).toMatchObject({
      code: 'patch_conflict',
      message: 'the record of this call is damaged; read the files and patch anew',
    })
  }
  expect(await hashTree(place.root)).toBe(hashBefore)
})

const patch = (from: string, to: string): string =>
  `*** Begin Patch\n*** Update File: a.txt\n@@\n-${from}\n+${to}\n*** End Patch`

test('fault T17: another patch under the key of an earlier one is another call, whatever that one left', async () => {
  const { root, records } = await makePlace()
  await again({ root, records }, patch('a', 'one'))
  expect(await again({ root, records }, patch('one', 'two'))).toMatchObject([{ path: 'a.txt' }])
  expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('two\n')
  // Its own record has taken the place of the other one: run again, it has nothing left to do.
  await again({ root, records }, patch('one', 'two'))
  expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('two\n')
})

test('fault T17: the same patch under the same key in another workspace is another call', async () => {
  const one = await makePlace()
  const other = await makePlace()
  await again(one)
  await again({ root: other.root, records: one.records })
  expect(await readTree(other.root)).toEqual(await readTree(one.root))
})
