import { chmod, mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { LoopchartError } from '../../../src/errors.ts'
import { applyPatch } from '../../../src/tools/patch/apply-patch.ts'
import { parsePatch } from '../../../src/tools/patch/parse-patch.ts'
import { PatchRecords, type RecordedFile } from '../../../src/tools/patch/patch-records.ts'
import { openWorkspace, type Workspace } from '../../../src/tools/workspace/workspace.ts'
import { hashTree, makeTree, readTree } from './tree.ts'

interface Place {
  readonly root: string
  readonly state: string
  readonly workspace: Workspace
  readonly apply: (body: string, key?: string, signal?: AbortSignal) => Promise<readonly RecordedFile[]>
}

async function makePlace(files: Readonly<Record<string, string>>): Promise<Place> {
  const root = await makeTree(files)
  const state = join(await makeTree({}), 'patches')
  const workspace = await openWorkspace(root)
  const records = new PatchRecords(state)
  const apply: Place['apply'] = (body, key = 'k', signal = new AbortController().signal) =>
    applyPatch({ workspace, records }, parsePatch(`*** Begin Patch\n${body}\n*** End Patch`), { key, signal })
  return { root, state, workspace, apply }
}

async function failureOf(work: Promise<unknown>): Promise<LoopchartError> {
  const failure = await work.catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(LoopchartError)
  return failure as LoopchartError
}

const EDIT = '*** Update File: f\n@@\n-a\n+b'

test('fault T17: a patch that does not fit changes nothing', async () => {
  const { root, state, apply } = await makePlace({ f: 'a\n', g: 'x\n' })
  const hashBefore = await hashTree(root)
  const { code } = await failureOf(apply(`${EDIT}\n*** Add File: h\n+h\n*** Update File: g\n-y`))
  expect(code).toBe('patch_conflict')
  expect(await hashTree(root)).toBe(hashBefore)
  await expect(readdir(state)).rejects.toThrow('ENOENT')
})

test('fault T17: a patch applied a second time by a new call is a conflict and changes nothing', async () => {
  const { root, apply } = await makePlace({ f: 'a\n', g: 'x\n' })
  await apply(`${EDIT}\n*** Delete File: g\n*** Add File: h\n+h`, 'first')
  const hashBefore = await hashTree(root)
  const { code, message } = await failureOf(
    apply(`${EDIT}\n*** Delete File: g\n*** Add File: h\n+h`, 'second'),
  )
  expect({ code, message }).toEqual({
    code: 'patch_conflict',
    message: 'f, hunk 1 (patch line 3): no line is its first old line "a"',
  })
  expect(await hashTree(root)).toBe(hashBefore)
})

test('fault T17: a patch run again with the same key answers the same and changes nothing', async () => {
  const { root, apply } = await makePlace({ f: 'a\n' })
  const files = await apply(EDIT)
  const hashBefore = await hashTree(root)
  expect(await apply(EDIT)).toEqual(files)
  expect(await hashTree(root)).toBe(hashBefore)
})

test('fault T17: when a file cannot be written, those before it are put back with their modes', async () => {
  const { root, state, apply } = await makePlace({ f: 'a\n', m: 'm\n', d: 'd\n', plain: 'no folder\n' })
  await chmod(join(root, 'f'), 0o640)
  await chmod(join(root, 'm'), 0o700)
  await chmod(join(root, 'd'), 0o600)
  const hashBefore = await hashTree(root)
  const body = `*** Add File: n\n+n\n${EDIT}\n*** Update File: m\n*** Move to: k\n*** Delete File: d\n*** Add File: plain/inside\n+x`
  const { code, message } = await failureOf(apply(body))
  expect({ code, message }).toEqual({
    code: 'file_unwritable',
    message: 'a part of plain/inside is not a folder; nothing is changed, what had been written was put back',
  })
  expect(await hashTree(root)).toBe(hashBefore)
  expect(await readdir(state)).toEqual([])
})

test('fault T17: when not even that is possible, the message says of each file what it is now', async () => {
  const { root, state, workspace, apply } = await makePlace({ f: 'a\n', g: 'x\n', h: 'y\n' })
  const replaceFile = workspace.replaceFile.bind(workspace)
  let calls = 0
  workspace.replaceFile = async (...given) => {
    calls += 1
    if (calls > 1)
      throw new LoopchartError('file_unwritable', `${given[0].path} cannot be written: the disk is full`)
    await replaceFile(...given)
    await writeFile(join(root, 'h'), 'by somebody\n')
  }
  const { code, message } = await failureOf(apply(`${EDIT}\n*** Update File: g\n-x\n+X\n*** Delete File: h`))
  expect({ code, message }).toEqual({
    code: 'file_unwritable',
    message:
      'g cannot be written: the disk is full; and not everything could be put back: f is as after; g is as before; h is changed by somebody',
  })
  expect(await readdir(state)).toHaveLength(1)
})

test('fault T17: what somebody else has written meanwhile is not overwritten by putting back', async () => {
  const { root, workspace, apply } = await makePlace({ f: 'a\n', g: 'x\n' })
  const replaceFile = workspace.replaceFile.bind(workspace)
  workspace.replaceFile = async (...given) => {
    await replaceFile(...given)
    await writeFile(join(root, 'f'), 'by somebody\n')
    await writeFile(join(root, 'g'), 'by somebody\n')
  }
  const { message } = await failureOf(apply(`${EDIT}\n*** Update File: g\n-x\n+X`))
  expect(message).toBe(
    'g was changed while the patch was made; and not everything could be put back: f is changed by somebody; g is changed by somebody',
  )
  expect(await readTree(root)).toEqual({ f: '644 by somebody\n', g: '644 by somebody\n' })
})

test('fault T17: two paths of a patch that lead to one file are a conflict, and nothing is changed', async () => {
  const { root, apply } = await makePlace({ 'real/f': 'a\nb\n' })
  await symlink('real', join(root, 'other'))
  const hashBefore = await hashTree(root)
  const body = '*** Update File: real/f\n-a\n+A\n*** Update File: other/f\n-b\n+B'
  expect(await failureOf(apply(body))).toMatchObject({
    code: 'patch_conflict',
    message:
      'other/f was changed while the patch was made; nothing is changed, what had been written was put back',
  })
  expect(await hashTree(root)).toBe(hashBefore)
})

test('a link is not patched, moved, deleted or added over', async () => {
  const { root, apply } = await makePlace({ f: 'a\n' })
  await symlink('f', join(root, 'l'))
  await symlink('nowhere', join(root, 'dangling'))
  const hashBefore = await hashTree(root)
  const bodies = ['*** Update File: l\n-a\n+b', '*** Delete File: l', '*** Update File: l\n*** Move to: m']
  for (const body of bodies) {
    expect(await failureOf(apply(body))).toMatchObject({
      code: 'patch_conflict',
      message: 'l is a link; patch the file that it leads to',
    })
  }
  expect((await failureOf(apply('*** Add File: dangling\n+x'))).message).toContain('dangling is a link')
  expect(await hashTree(root)).toBe(hashBefore)
})

test('the mode of a file survives an update and a move', async () => {
  const { root, apply } = await makePlace({ f: 'a\n', g: 'x\n', h: 'y\n' })
  await chmod(join(root, 'f'), 0o751)
  await chmod(join(root, 'g'), 0o400)
  await chmod(join(root, 'h'), 0o775)
  await apply(`${EDIT}\n*** Update File: g\n*** Move to: d/g\n-x\n+X\n*** Update File: h\n*** Move to: d/h`)
  expect(await readTree(root)).toEqual({ f: '751 b\n', d: 'folder', 'd/g': '400 X\n', 'd/h': '775 y\n' })
})

test('a call that was cancelled before the first change changes nothing and leaves no record', async () => {
  const { root, state, apply } = await makePlace({ f: 'a\n' })
  const hashBefore = await hashTree(root)
  await expect(apply(EDIT, 'k', AbortSignal.abort(new Error('cancelled')))).rejects.toThrow('cancelled')
  expect(await hashTree(root)).toBe(hashBefore)
  await expect(readdir(state)).rejects.toThrow('ENOENT')
})

test('a folder, a file that is too large and files that are too large together are refused', async () => {
  const { root, apply } = await makePlace({ f: 'a\n' })
  await mkdir(join(root, 'folder'))
  const large = Buffer.alloc(8 * 1024 * 1024, 'x')
  for (let at = 0; at < 9; at += 1) await writeFile(join(root, `large${at}`), large)
  await writeFile(join(root, 'larger'), Buffer.alloc(large.length + 1))
  const hashBefore = await hashTree(root)
  expect((await failureOf(apply(`${EDIT}\n*** Delete File: folder`))).code).toBe('not_a_regular_file')
  expect((await failureOf(apply(`${EDIT}\n*** Add File: folder\n+x`))).code).toBe('not_a_regular_file')
  expect((await failureOf(apply(`${EDIT}\n*** Delete File: larger`))).code).toBe('file_too_large')
  const all = Array.from({ length: 9 }, (_, at) => `*** Delete File: large${at}`).join('\n')
  expect(await failureOf(apply(all))).toMatchObject({
    code: 'file_too_large',
    message: 'the files of the patch have more than 67108864 bytes together: split the patch',
  })
  expect(await hashTree(root)).toBe(hashBefore)
})

test('of the records of finished patches the newest 1,000 are kept, and every one of an unfinished patch', async () => {
  const { state, apply } = await makePlace({ f: 'a\n' })
  await mkdir(state, { recursive: true })
  const names = Array.from({ length: 1002 }, (_, at) => `${String(at).padStart(4, '0')}.done.json`)
  for (const [at, name] of names.entries()) {
    await writeFile(join(state, name), '')
    await utimes(join(state, name), at, at)
  }
  await writeFile(join(state, 'unfinished.json'), '')
  await apply(EDIT)
  const left = await readdir(state)
  expect(left).toHaveLength(1001)
  expect(left).toContain('unfinished.json')
  expect(names.filter((name) => !left.includes(name))).toEqual(names.slice(0, 3))
})

test('a record that cannot be written stops the patch before any change, and the model is not told where it is', async () => {
  const { root, state, apply } = await makePlace({ f: 'a\n' })
  await writeFile(state, 'not a folder')
  const hashBefore = await hashTree(root)
  expect(await failureOf(apply(EDIT))).toMatchObject({
    code: 'file_unwritable',
    message: 'a part of the record of this patch is not a folder',
  })
  expect(await hashTree(root)).toBe(hashBefore)
})

test('fault T17: a patch that is put back leaves no folder that it made, and each that was there or is in use', async () => {
  const { root, workspace, apply } = await makePlace({ file: 'x\n', 'old/kept.txt': 'k\n' })
  const body = '*** Add File: new/dir/a\n+x\n*** Add File: old/dir/b\n+x\n*** Add File: file/c\n+x'
  const { message } = await failureOf(apply(body))
  expect(message).toContain('nothing is changed, what had been written was put back')
  expect((await readdir(root, { recursive: true })).toSorted()).toEqual(['file', 'old', 'old/kept.txt'])
  const replaceFile = workspace.replaceFile.bind(workspace)
  workspace.replaceFile = async (...given) => {
    await replaceFile(...given)
    await writeFile(join(root, 'new/by-somebody'), '')
  }
  await failureOf(apply(body))
  expect((await readdir(root, { recursive: true })).toSorted()).toEqual([
    'file',
    'new',
    'new/by-somebody',
    'old',
    'old/kept.txt',
  ])
})
