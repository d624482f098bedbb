import { openSync, symlinkSync, closeSync, ftruncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { openArtifacts } from '../../../src/tools/artifacts/artifact-store.ts'
import { readFileTool } from '../../../src/tools/builtin/read-file.ts'
import type { Tool } from '../../../src/tools/tool.ts'
import { readEnvelope, runTool } from '../../unit/tools/run-tool.ts'
import { endOf, freshWorkspace, type FreshWorkspace } from '../workspace/fresh-workspace.ts'
import { prepared, run } from './ask-tool.ts'

const MIB = 1024 * 1024

async function readerOf(
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<FreshWorkspace & { readonly reader: Tool }> {
  const fresh = await freshWorkspace(files)
  const artifacts = openArtifacts(join(fresh.base, 'artifacts'))
  return { ...fresh, reader: readFileTool({ workspace: fresh.workspace, artifacts }) }
}

test('a file is read exactly, to its last line end, and the facts say what was read', async () => {
  const { reader } = await readerOf({ 'dir/a.txt': 'one\r\ntwo\n\nfour\n', 'b.txt': 'no end', empty: '' })
  expect(await run(reader, { path: 'dir/a.txt' })).toMatchObject({
    stdout: 'one\r\ntwo\n\nfour\n',
    exitCode: 0,
    artifacts: [
      {
        path: 'dir/a.txt',
        bytes: 15,
        truncated: false,
        start_line: 1,
        end_line: 4,
        total_lines: 4,
        artifact: null,
      },
    ],
  })
  const facts = { bytes: 6, start_line: 1, end_line: 1, total_lines: 1 }
  expect(await run(reader, { path: './b.txt' })).toMatchObject({ stdout: 'no end', artifacts: [facts] })
  const none = { bytes: 0, start_line: 0, end_line: 0, total_lines: 0 }
  expect(await run(reader, { path: 'empty' })).toMatchObject({ stdout: '', artifacts: [none] })
})

test.each([
  [2, 3, 'two\nthree\n', [2, 3]],
  [undefined, 1, 'one\n', [1, 1]],
  [4, undefined, 'four', [4, 4]],
  [1, 99, 'one\ntwo\nthree\nfour', [1, 4]],
  [4, 4, 'four', [4, 4]],
])('lines %s to %s are %j', async (from, to, text, [first, last]) => {
  const { reader } = await readerOf({ 'a.txt': 'one\ntwo\nthree\nfour' })
  const range = {
    ...(from === undefined ? {} : { start_line: from }),
    ...(to === undefined ? {} : { end_line: to }),
  }
  expect(await run(reader, { path: 'a.txt', ...range })).toMatchObject({
    stdout: text,
    artifacts: [{ start_line: first, end_line: last, total_lines: 4, bytes: 18 }],
  })
})

test('lines that are not there are an error that says how many there are', async () => {
  const { reader } = await readerOf({ 'a.txt': 'one\ntwo\n' })
  await expect(run(reader, { path: 'a.txt', start_line: 3 })).rejects.toMatchObject({
    code: 'tool_arguments_invalid',
    message: 'start_line is 3, a.txt has 2 lines',
  })
  expect(await endOf(() => run(reader, { path: 'a.txt', start_line: 2, end_line: 1 }))).toBe(
    'tool_arguments_invalid',
  )
  expect((await reader.prepare({ path: 'a.txt', start_line: 0 })).ok).toBe(false)
})

test('lines that lie across the pieces in which a file is read come out whole', async () => {
  const lines = Array.from({ length: 40_000 }, (_, at) => `${at + 1} ${'x'.repeat(at % 60)}\n`)
  const { reader } = await readerOf({ 'a.txt': lines.join('') })
  for (const [from, to] of [
    [1, 9000],
    [7000, 18_000],
    [39_999, 40_000],
  ] as const) {
    const { stdout } = await run(reader, { path: 'a.txt', start_line: from, end_line: to })
    expect(stdout === lines.slice(from - 1, to).join('')).toBe(true)
  }
})

test('text over 512 KiB is cut in the middle and the whole is kept, also when it is one line', async () => {
  const { reader } = await readerOf({
    'one-line': 'x'.repeat(2 * MIB),
    lines: 'line of text\n'.repeat(100_000),
  })
  for (const path of ['one-line', 'lines']) {
    const { stdout, artifacts } = await run(reader, { path })
    expect(Buffer.byteLength(stdout)).toBeLessThan(513 * 1024)
    expect(stdout).toContain('artifact_fetch')
    const [facts] = artifacts
    expect(facts).toMatchObject({ truncated: true, artifact: { truncated: false, bytes: facts?.['bytes'] } })
  }
})

test('a file over 16 MiB is read by ranges, up to 256 MiB', { timeout: 60_000 }, async () => {
  const { reader, root } = await readerOf({ 'big.txt': 'first\n' })
  const file = openSync(join(root, 'big.txt'), 'r+')
  writeSync(file, Buffer.alloc(17 * MIB, 'abc\n'), 0, 17 * MIB, 6)
  await expect(run(reader, { path: 'big.txt' })).rejects.toMatchObject({
    code: 'file_too_large',
    message: 'big.txt has 17825798 bytes, more than 16777216; give start_line and end_line',
  })
  const { stdout, artifacts } = await run(reader, {
    path: 'big.txt',
    start_line: 4_456_449,
    end_line: 4_456_449,
  })
  expect(stdout).toBe('abc\n')
  expect(artifacts).toMatchObject([{ total_lines: 4_456_449 }])
  expect(await endOf(() => run(reader, { path: 'big.txt', start_line: 1 }))).toBe('file_too_large')
  ftruncateSync(file, 257 * MIB)
  closeSync(file)
  expect(await endOf(() => run(reader, { path: 'big.txt', end_line: 1 }))).toBe('file_too_large')
})

test('a binary file is refused, and broken text is shown with a note', async () => {
  const { reader } = await readerOf({
    'a.bin': Buffer.from('PNG\0data'),
    'b.txt': Buffer.from([0x61, 0xff, 0x0a]),
  })
  await expect(run(reader, { path: 'a.bin' })).rejects.toMatchObject({
    code: 'file_unreadable',
    message: 'a.bin is a binary file, it has a NUL byte; only text can be read',
  })
  expect((await run(reader, { path: 'b.txt' })).stdout).toContain('a\ufffd\n')
})

test('a secret file is asked about each time, a plain or protected one is not', async () => {
  const { reader } = await readerOf({ '.env': 'KEY=1' })
  const askedFor = async (path: string): Promise<unknown> =>
    (await prepared(reader, { path })).needsApproval()
  expect(await askedFor('.env')).toEqual({ reason: 'secret_file', isEachTime: true })
  expect(await askedFor('a/../.env')).toBeNull()
  expect(await askedFor('a.txt')).toBeNull()
  expect(await askedFor('.github/ci.yml')).toBeNull()
  const call = await prepared(reader, { path: './.env', start_line: 2 })
  expect(await call.touches()).toEqual([{ kind: 'path', path: '.env', access: 'read' }])
  expect(await call.preview()).toBe('read .env, lines 2 to the last')
  expect(await (await prepared(reader, { path: '../x' })).touches()).toBe('unreadable')
})

test('a refused path reaches the model as an error that names no folder of the host', async () => {
  const { reader, root } = await readerOf({ '.env': 'KEY=1' })
  symlinkSync('.env', join(root, 'notes'))
  const result = await runTool(reader, { name: 'read', args: '{"path":"notes"}' })
  expect(result).toMatchObject({ outcome: 'error', error: { code: 'path_refused' } })
  expect(result.output).not.toContain(root)
  const { stdout, error } = readEnvelope(result.output)
  expect(stdout).toBe('')
  expect(error).toBe(
    'the tool failed: notes leads to a secret file through a link; ask for that file by its real name',
  )
  expect(await runTool(reader, { args: '{"path":"../x"}' })).toMatchObject({
    error: { code: 'path_outside_workspace' },
  })
})

test('a call that is cancelled stops reading', async () => {
  const { reader } = await readerOf({ 'a.txt': 'a' })
  await expect(run(reader, { path: 'a.txt' }, AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop')
})
