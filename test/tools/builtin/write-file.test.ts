import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { writeFileTool } from '../../../src/tools/builtin/write-file.ts'
import type { Tool } from '../../../src/tools/tool.ts'
import { readEnvelope, runTool } from '../../unit/tools/run-tool.ts'
import { endOf, freshWorkspace, type FreshWorkspace } from '../workspace/fresh-workspace.ts'
import { prepared, run } from './ask-tool.ts'

async function writerOf(
  files: Readonly<Record<string, string>> = {},
  isAutoEdit = false,
): Promise<FreshWorkspace & { readonly writer: Tool }> {
  const fresh = await freshWorkspace(files)
  return { ...fresh, writer: writeFileTool({ workspace: fresh.workspace, isAutoEdit }) }
}

test('a file is created with its folders, then replaced, and the answer says which', async () => {
  const { writer, root } = await writerOf()
  expect(await run(writer, { path: 'a/b.txt', content: 'grüße\n' })).toMatchObject({
    stdout: 'created a/b.txt: 8 bytes, 1 line\n',
    artifacts: [{ path: 'a/b.txt', action: 'created', bytes: 8, lines: 1 }],
  })
  expect(await run(writer, { path: 'a/b.txt', content: 'x\ny' })).toMatchObject({
    stdout: 'replaced a/b.txt: 3 bytes, 2 lines\n',
  })
  expect(readFileSync(join(root, 'a/b.txt'), 'utf8')).toBe('x\ny')
  expect(await run(writer, { path: 'empty', content: '' })).toMatchObject({
    stdout: 'created empty: 0 bytes, 0 lines\n',
  })
})

test('what cannot be written is refused and the model is told why', async () => {
  const { writer, root } = await writerOf({ 'a.txt': 'a' })
  const result = await runTool(writer, { args: '{"path":"a.txt/b","content":"x"}' })
  expect(result).toMatchObject({ outcome: 'error', error: { code: 'file_unwritable' } })
  expect(readEnvelope(result.output).error).toBe('the tool failed: a part of a.txt/b is not a folder')
  const ended = (path: string, content = 'x'): Promise<unknown> => endOf(() => run(writer, { path, content }))
  expect(await ended('.')).toBe('not_a_regular_file')
  expect(await ended('/etc/x')).toBe('path_outside_workspace')
  expect(await ended('a.txt', 'half \ud800')).toBe('tool_arguments_invalid')
  expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('a')
})

test('who is asked depends on the file and on whether edits are automatic', async () => {
  const { writer } = await writerOf()
  const { writer: auto } = await writerOf({}, true)
  expect(await needOf(writer, 'a.txt')).toEqual({ reason: 'write', isEachTime: false })
  expect(await needOf(auto, 'a.txt')).toBeNull()
  for (const each of [writer, auto]) {
    expect(await needOf(each, '.env')).toEqual({ reason: 'secret_file', isEachTime: true })
    expect(await needOf(each, '.git/config')).toEqual({ reason: 'protected_file', isEachTime: true })
    expect(await needOf(each, '.GitHub/workflows/x.yml')).toEqual({
      reason: 'protected_file',
      isEachTime: true,
    })
    expect(await needOf(each, '../x')).toBeNull()
  }
})

async function needOf(writer: Tool, path: string): Promise<unknown> {
  return (await prepared(writer, { path, content: '' })).needsApproval()
}

test('two writes to one file conflict, however its path is written', async () => {
  const { writer, workspace } = await writerOf()
  expect(writer).toMatchObject({ idempotent: true, readOnly: false, scope: workspace.root })
  const call = await prepared(writer, { path: './a//b.txt', content: '' })
  expect(call.conflicts()).toEqual(['a/b.txt'])
  expect(await call.touches()).toEqual([{ kind: 'path', path: 'a/b.txt', access: 'write' }])
  const other = await prepared(writer, { path: '../b.txt', content: '' })
  expect(await other.touches()).toBe('unreadable')
  expect(other.conflicts()).toBeNull()
})

test('a person is shown the difference to the file, or the content of a new one', async () => {
  const { writer, root } = await writerOf({ 'a.txt': '1\n2\n3\n', '.env': 'KEY=old', 'nul.txt': 'a\0' })
  symlinkSync('a.txt', join(root, 'link'))
  const shown = async (path: string, content: string): Promise<string | null> =>
    (await prepared(writer, { path, content })).preview()
  expect(await shown('a.txt', '1\ntwo\n3\n')).toBe(
    'replace a.txt: 8 bytes, 3 lines\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n',
  )
  expect(await shown('a.txt', '1\n2\n3\n')).toBe('replace a.txt: 6 bytes, 3 lines\n[nothing changes]\n')
  expect(await shown('new/b.txt', 'text\n')).toBe('create new/b.txt: 5 bytes, 1 line\ntext\n')
  expect(await shown('.env', 'KEY=new')).toBe(
    'replace .env: 7 bytes, 1 line; the old content is not shown\nKEY=new',
  )
  expect(await shown('nul.txt', 'b')).toContain('the old content is not shown\nb')
  expect(await shown('link', 'x')).toBe(
    'replace the link link: 1 byte, 1 line; the old content is not shown\nx',
  )
})

test('a long preview says how much of it is left out', async () => {
  const { writer } = await writerOf()
  const call = await prepared(writer, { path: 'a.txt', content: `begin${'x'.repeat(50_000)}end` })
  const shown = (await call.preview()) ?? ''
  expect(shown.length).toBeLessThanOrEqual(4000)
  expect(shown).toMatch(
    /^create a\.txt: 50008 bytes, 1 line\nbegin.*\n\[\.\.\. \d+ characters left out \.\.\.\]\n.*end$/u,
  )
})

test('of a file that is secret to read, only the new content is shown, also when it is protected to write', async () => {
  const files = { '.npmrc': 'TOKEN', '.git/config': 'TOKEN', '.envrc': 'TOKEN', '.github/ci.yml': 'old' }
  const { writer, root } = await writerOf(files)
  const shown = async (path: string): Promise<string | null> =>
    (await prepared(writer, { path, content: 'new' })).preview()
  for (const path of ['.npmrc', '.git/config', '.envrc']) {
    expect(await shown(path)).toBe(`replace ${path}: 3 bytes, 1 line; the old content is not shown\nnew`)
  }
  expect(await shown('.github/ci.yml')).toContain('-old')
  expect(await run(writer, { path: '.npmrc', content: 'new' })).toMatchObject({ exitCode: 0 })
  symlinkSync('.git', join(root, 'to-git'))
  expect(await endOf(() => run(writer, { path: 'to-git/config', content: 'new' }))).toBe('path_refused')
})

test('what a terminal would obey, or nobody would see, is spelled out in the preview', async () => {
  const { writer } = await writerOf({ 'a.txt': 'one\r\n' })
  const shown = async (path: string, content: string): Promise<string | null> =>
    (await prepared(writer, { path, content })).preview()
  expect(await shown('q', 'ok\n\u001b[2J\u202egnp\ttab')).toBe(
    'create q: 17 bytes, 2 lines\nok\n\\u001b[2J⟦U+202E⟧gnp\ttab',
  )
  expect(await shown('a.txt', 'one\n')).toContain('-one\\r\n+one\n')
})
