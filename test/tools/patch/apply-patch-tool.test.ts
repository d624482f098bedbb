import { hash } from 'node:crypto'
import { readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { applyPatchTool } from '../../../src/tools/builtin/apply-patch.ts'
import { ToolResult } from '../../../src/tools/tool-result.ts'
import type { ToolContext } from '../../../src/tools/tool-settings.ts'
import type { PreparedCall, Tool } from '../../../src/tools/tool.ts'
import { openWorkspace } from '../../../src/tools/workspace/workspace.ts'
import { makeTree } from './tree.ts'

async function makeTool(
  files: Readonly<Record<string, string>> = {},
  isAutoEdit = false,
): Promise<{ readonly tool: Tool; readonly root: string }> {
  const root = await makeTree(files)
  const stateFolder = await makeTree({})
  return { tool: applyPatchTool({ workspace: await openWorkspace(root), stateFolder, isAutoEdit }), root }
}

async function prepare(tool: Tool, body: string): Promise<PreparedCall> {
  const prepared = await tool.prepare({ patch: `*** Begin Patch\n${body}\n*** End Patch` })
  if (!prepared.ok) throw new Error(prepared.message)
  return prepared.call
}

const context = {
  signal: new AbortController().signal,
  callId: 'c',
  key: 'k',
  onOutput: () => {},
} as unknown as ToolContext

const ALL = `*** Add File: ./n.txt
+one
+two
*** Update File: src/a.ts
@@
-a
+b
+c
*** Update File: old.txt
*** Move to: d/new.txt
*** Delete File: gone.txt`

const FILES = { 'src/a.ts': 'a\n', 'old.txt': 'o\n', 'gone.txt': 'g\n' }

const sha = (text: string): string => hash('sha256', text)

test('the answer names each file in the order of the patch, and the artifacts have its hashes', async () => {
  const { tool, root } = await makeTool(FILES)
  const call = await prepare(tool, ALL)
  const result = await call.execute(context)
  if (!ToolResult.is(result)) throw new TypeError('not a tool result')
  expect(result.stdout).toBe('A n.txt\nM src/a.ts\nR old.txt -> d/new.txt\nD gone.txt\n')
  expect(result.artifacts).toEqual([
    { path: 'n.txt', before: null, after: sha('one\ntwo\n') },
    { path: 'src/a.ts', before: sha('a\n'), after: sha('b\nc\n') },
    { path: 'd/new.txt', before: null, after: sha('o\n') },
    { path: 'old.txt', before: sha('o\n'), after: null },
    { path: 'gone.txt', before: sha('g\n'), after: null },
  ])
  expect(await readFile(join(root, 'd/new.txt'), 'utf8')).toBe('o\n')
})

const write = (path: string) => ({ kind: 'path', path, access: 'write' })

const read = (path: string) => ({ kind: 'path', path, access: 'read' })

test('a call says what it touches, a move both paths, and what it reads besides', async () => {
  const { tool } = await makeTool()
  const call = await prepare(tool, ALL)
  expect(await call.touches()).toEqual([
    write('n.txt'),
    read('src/a.ts'),
    write('src/a.ts'),
    read('old.txt'),
    write('old.txt'),
    write('d/new.txt'),
    write('gone.txt'),
  ])
  expect(call.conflicts()).toEqual(['n.txt', 'src/a.ts', 'old.txt', 'd/new.txt', 'gone.txt'])
})

test('the example in the description is a patch that can be read', async () => {
  const { tool } = await makeTool()
  const example = /\*\*\* Begin Patch\n[^]*?\n\*\*\* End Patch/.exec(tool.description)?.[0] ?? ''
  const prepared = await tool.prepare({ patch: example })
  if (!prepared.ok) throw new Error(prepared.message)
  expect(prepared.call.conflicts()).toEqual([
    'docs/notes.md',
    'src/price.ts',
    'src/old-name.ts',
    'src/new-name.ts',
    'src/unused.ts',
  ])
})

const WRITE = { reason: 'write', isEachTime: false }
const SECRET = { reason: 'secret_file', isEachTime: true }
const PROTECTED = { reason: 'protected_file', isEachTime: true }

test.each([
  ['a plain file', '*** Add File: a.txt', WRITE, null],
  ['a secret file', '*** Add File: a.txt\n*** Delete File: .env', SECRET, SECRET],
  [
    'a protected file',
    '*** Update File: .git/hooks/pre-commit\n-a\n*** Add File: a.txt',
    PROTECTED,
    PROTECTED,
  ],
  ['a protected and a secret file', '*** Add File: .github/x\n*** Add File: key.pem', SECRET, SECRET],
  ['a move from a secret file', '*** Update File: .env\n*** Move to: a.txt', SECRET, SECRET],
  ['a move to a protected file', '*** Update File: a\n*** Move to: .husky/pre-push', PROTECTED, PROTECTED],
  ['a path out of the workspace', '*** Add File: ../a\n*** Delete File: .env', null, null],
  ['a patch that cannot be read', '*** Change File: .env', null, null],
])('what must be asked about %s depends on the strictest path', async (_, body, asked, askedAutoEdit) => {
  expect((await prepare((await makeTool({}, false)).tool, body)).needsApproval()).toEqual(asked)
  expect((await prepare((await makeTool({}, true)).tool, body)).needsApproval()).toEqual(askedAutoEdit)
})

test('a path out of the workspace, or a patch that cannot be read, has no touches that a rule could allow', async () => {
  const { tool } = await makeTool()
  for (const body of ['*** Add File: ../a', '*** Change File: a']) {
    const call = await prepare(tool, body)
    expect(await call.touches()).toBe('unreadable')
    expect(call.conflicts()).toBe(null)
    await expect(call.execute(context)).rejects.toMatchObject({ name: 'LoopchartError' })
  }
})

test('the preview has a line for each file and then the patch itself', async () => {
  const { tool } = await makeTool()
  const call = await prepare(tool, ALL)
  expect(await call.preview()).toBe(
    `add ./n.txt +2\nupdate src/a.ts +2 -1\nmove old.txt -> d/new.txt\ndelete gone.txt\n\n*** Begin Patch\n${ALL}\n*** End Patch`,
  )
})

test('a long preview is cut in its middle, says how much is left out, and still lists every file', async () => {
  const { tool } = await makeTool()
  const call = await prepare(tool, `*** Add File: long.txt\n${'+line\n'.repeat(5000)}*** Delete File: .env`)
  const shown = (await call.preview()) ?? ''
  expect(shown.length).toBeLessThanOrEqual(8100)
  expect(shown.startsWith('add long.txt +5000\ndelete .env\n\n*** Begin Patch\n')).toBe(true)
  expect(shown).toMatch(/\n\[\.\.\. \d+ characters left out \.\.\.\]\n/)
  expect(shown.endsWith('*** Delete File: .env\n*** End Patch')).toBe(true)
})

test('a list of files too long to show is cut visibly, too, and leaves room for the patch', async () => {
  const { tool } = await makeTool()
  const body = Array.from({ length: 100 }, (_, at) => `*** Delete File: ${'folder/'.repeat(20)}${at}`).join(
    '\n',
  )
  const shown = (await (await prepare(tool, body)).preview()) ?? ''
  expect(shown.length).toBeLessThanOrEqual(8100)
  expect(shown.match(/characters left out/g)).toHaveLength(2)
  expect(shown).toContain('*** Begin Patch')
})

test('the tool may be run again after a crash, and its calls take effect in the workspace', async () => {
  const { tool, root } = await makeTool()
  expect(tool).toMatchObject({ name: 'apply_patch', idempotent: true, readOnly: false, scope: root })
  expect(await tool.prepare({ patch: '' })).toMatchObject({ ok: false })
  expect(await tool.prepare({ patch: 'x', more: 1 })).toMatchObject({ ok: false })
})

test('a file that is secret to read and protected to write can be patched once somebody has agreed', async () => {
  const files = { '.npmrc': 'x=1\n', '.git/config': 'x=1\n', '.envrc': 'x=1\n', '.env': 'x=1\n' }
  for (const path of Object.keys(files)) {
    const { tool, root } = await makeTool(files)
    const call = await prepare(tool, `*** Update File: ${path}\n@@\n-x=1\n+x=2`)
    expect(call.needsApproval()).toMatchObject({ isEachTime: true })
    await call.execute(context)
    expect([path, await readFile(join(root, path), 'utf8')]).toEqual([path, 'x=2\n'])
  }
})

test('a plain path that leads to such a file through a link is refused, and so is a link itself', async () => {
  const files = { '.npmrc': 'x=1\n', '.git/config': 'x=1\n' }
  const { tool, root } = await makeTool(files)
  await symlink('.git', join(root, 'to-git'))
  await symlink('.npmrc', join(root, 'to-npmrc'))
  await symlink('.git/config', join(root, '.envrc'))
  for (const [path, code] of [
    ['to-git/config', 'path_refused'],
    ['to-npmrc', 'path_refused'],
    ['.envrc', 'patch_conflict'],
  ]) {
    const call = await prepare(tool, `*** Update File: ${path}\n@@\n-x=1\n+x=2`)
    await expect(call.execute(context)).rejects.toMatchObject({ code })
  }
  expect(await readFile(join(root, '.git/config'), 'utf8')).toBe('x=1\n')
})

test('a call touches the places that its paths lead to through links as well', async () => {
  const { tool, root } = await makeTool({ 'private/a': 'x\n' })
  await symlink('private', join(root, 'pub'))
  const call = await prepare(tool, '*** Update File: pub/a\n@@\n-x\n+y\n*** Add File: pub/new/b\n+x')
  expect(await call.touches()).toEqual([
    read('pub/a'),
    read('private/a'),
    write('pub/a'),
    write('private/a'),
    write('pub/new/b'),
    write('private/new/b'),
  ])
})

test('what a terminal would obey, or nobody would see, is spelled out in the preview', async () => {
  const { tool } = await makeTool()
  const call = await prepare(tool, '*** Add File: x\n+\u001b[2Jhi\u202e\rlo')
  expect(await call.preview()).toBe(
    'add x +1\n\n*** Begin Patch\n*** Add File: x\n+\\u001b[2Jhi⟦U+202E⟧\\rlo\n*** End Patch',
  )
})
