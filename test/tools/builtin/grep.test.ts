import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

import { describe, expect, test, vi } from 'vitest'

import { openArtifacts } from '../../../src/tools/artifacts/artifact-store.ts'
import { grepTool } from '../../../src/tools/builtin/grep.ts'
import { openWorkspace } from '../../../src/tools/workspace/workspace.ts'
import { runTool } from '../../unit/tools/run-tool.ts'
import { grepIn, grepText, makeFolder, writeTree } from '../search/grep-in.ts'

function openFiles(): number {
  return readdirSync('/proc/self/fd').length
}

describe.each(['auto', 're2js'] as const)('with the engine %s', (engine) => {
  test('lines come sorted by the code points of their path, then by number', async () => {
    const folder = makeFolder()
    writeTree(folder, {
      'b/x.txt': 'foo\n',
      'a/z.txt': 'foo\nbar\nfoo\n',
      'a-b/x.txt': 'foo\n',
      'a.txt': 'foo\n',
      '\u{1F600}.txt': 'foo\n',
      '\u{E000}.txt': 'foo\n',
      'Z.txt': 'foo',
    })
    expect(await grepText(folder, { pattern: 'foo' }, engine)).toBe(
      'Z.txt:1:foo\na-b/x.txt:1:foo\na.txt:1:foo\na/z.txt:1:foo\na/z.txt:3:foo\nb/x.txt:1:foo\n' +
        '\u{E000}.txt:1:foo\n\u{1F600}.txt:1:foo\n',
    )
  })

  test('context is marked with dashes, and groups are kept apart', async () => {
    const folder = makeFolder()
    writeTree(folder, { 'a.txt': '1\nfoo\n3\n4\n5\nfoo\nfoo\n', 'b.txt': 'foo' })
    expect(await grepText(folder, { pattern: 'foo', context_lines: 1 }, engine)).toBe(
      'a.txt-1-1\na.txt:2:foo\na.txt-3-3\n--\na.txt-5-5\na.txt:6:foo\na.txt:7:foo\n--\nb.txt:1:foo\n',
    )
  })

  test('a folder with the name of a private key is searched, and a file of that name is not', async () => {
    const folder = makeFolder()
    writeTree(folder, { 'id_generator/main.py': 'foo\n', 'keys/id_backup': 'foo\n' })
    expect(await grepText(folder, { pattern: 'foo' }, engine)).toBe('id_generator/main.py:1:foo\n')
  })

  test('hidden, vendored, secret, linked, binary and huge files are left out', async () => {
    const folder = makeFolder()
    const outside = makeFolder()
    writeTree(outside, { 'out.txt': 'foo\n', 'sub/out.txt': 'foo\n' })
    writeTree(folder, {
      'plain.txt': 'foo\n',
      '.hidden': 'foo\n',
      '.git/config': 'foo\n',
      'sub/.env': 'foo\n',
      'node_modules/x.js': 'foo\n',
      'sub/node_modules/y/z.js': 'foo\n',
      'sub/server.pem': 'foo\n',
      id_rsa: 'foo\n',
      binary: 'foo\n\0',
      'late-nul': `foo\n${'x'.repeat(8190)}\0`,
      'nul-at-8191': `foo\n${'x'.repeat(8187)}\0`,
      huge: `foo\n${'x\n'.repeat(2 * 1024 * 1024)}`,
      largest: `foo\n${'x\n'.repeat(2 * 1024 * 1024 - 2)}`,
      'long-line': `foo${'x'.repeat(64 * 1024 - 2)}\nfoo\n`,
      'longest-line': `a\nfoo${'x'.repeat(64 * 1024 - 3)}\n${'x\n'.repeat(99)}`,
      invalid: Buffer.from([0x66, 0x6f, 0x6f, 0xff, 0x0a]),
      'ignored.txt': 'foo\n',
      '.gitignore': 'ignored.txt\n',
      '.ignore': 'ignored.txt\n',
    })
    symlinkSync(join(outside, 'out.txt'), join(folder, 'link.txt'))
    symlinkSync(join(outside, 'sub'), join(folder, 'link-folder'))
    symlinkSync('plain.txt', join(folder, 'inner-link.txt'))
    execFileSync('mkfifo', [join(folder, 'pipe')])
    expect(await grepText(folder, { pattern: 'foo' }, engine)).toBe(
      'ignored.txt:1:foo\nlargest:1:foo\nlate-nul:1:foo\nlong-line:2:foo\n' +
        `longest-line:2:foo${'x'.repeat(497)} [line cut]\nplain.txt:1:foo\n`,
    )
  })

  test('a file or folder that is named is searched, be it hidden or vendored', async () => {
    const folder = makeFolder()
    writeTree(folder, { '.github/ci.yml': 'foo\n', '.eslintrc': 'foo\n', 'node_modules/a/index.js': 'foo\n' })
    const at = (path: string): Promise<string> => grepText(folder, { pattern: 'foo', path }, engine)
    expect(await at('.github')).toBe('.github/ci.yml:1:foo\n')
    expect(await at('.eslintrc')).toBe('.eslintrc:1:foo\n')
    expect(await at('node_modules/a')).toBe('node_modules/a/index.js:1:foo\n')
  })

  test.each([
    ['../x', 'path_outside_workspace'],
    ['/etc', 'path_outside_workspace'],
    ['missing', 'path_not_found'],
    ['missing/deep', 'path_not_found'],
    ['a.txt/deep', 'path_not_found'],
    ['.env', 'path_refused'],
    ['out-file', 'path_outside_workspace'],
    ['out-folder', 'path_outside_workspace'],
    ['to-secret', 'path_refused'],
    ['huge', 'file_too_large'],
    ['pipe', 'not_a_regular_file'],
  ])('the path %s is refused with %s', async (path, code) => {
    const folder = makeFolder()
    const outside = makeFolder()
    writeTree(outside, { 'out.txt': 'foo\n' })
    writeTree(folder, { 'a.txt': 'foo\n', '.env': 'foo\n', huge: Buffer.alloc(4 * 1024 * 1024 + 1, 'x') })
    symlinkSync(join(outside, 'out.txt'), join(folder, 'out-file'))
    symlinkSync(outside, join(folder, 'out-folder'))
    symlinkSync('.env', join(folder, 'to-secret'))
    execFileSync('mkfifo', [join(folder, 'pipe')])
    expect(await grepText(folder, { pattern: 'foo', path }, engine)).toMatch(`${code}: `)
  })

  test('include goes by name, or by path when it has a slash', async () => {
    const folder = makeFolder()
    writeTree(folder, { 'a.ts': 'foo\n', 'src/b.ts': 'foo\n', 'src/c.js': 'foo\n', 'src/.d.ts': 'foo\n' })
    const of = (include: string, path = '.'): Promise<string> =>
      grepText(folder, { pattern: 'foo', include, path }, engine)
    expect(await of('*.ts')).toBe('a.ts:1:foo\nsrc/b.ts:1:foo\n')
    expect(await of('*.{js,ts}', 'src')).toBe('src/b.ts:1:foo\nsrc/c.js:1:foo\n')
    expect(await of('.*')).toBe('[no line matches]\n')
    expect(await of('src/*.ts')).toBe('src/b.ts:1:foo\n')
    expect(await of('*.ts', 'src/c.js')).toBe('[no line matches]\n')
    expect(await of('[')).toMatch('pattern_invalid')
  })

  test('the first lines are given, with how many more there are', async () => {
    const folder = makeFolder()
    writeTree(folder, { 'b.txt': 'foo\n'.repeat(60), 'a.txt': 'foo\n'.repeat(70) })
    const text = await grepText(folder, { pattern: 'foo', max_results: 100 }, engine)
    expect(text.split('\n')).toHaveLength(102)
    expect(text).toContain('b.txt:30:foo\n[30 more matching lines left out; ')
    expect(await grepText(folder, { pattern: 'foo', max_results: 130 }, engine)).not.toContain('left out')
  })

  test('a long line is cut after 500 characters', async () => {
    const folder = makeFolder()
    writeTree(folder, { 'a.txt': `${'\u{1F600}'.repeat(501)}\n${'y'.repeat(500)}\r\n` })
    expect(await grepText(folder, { pattern: '.' }, engine)).toBe(
      `a.txt:1:${'\u{1F600}'.repeat(500)} [line cut]\na.txt:2:${'y'.repeat(500)}\n`,
    )
  })

  test('200,000 matching lines are counted, and one more is too many', async () => {
    const folder = makeFolder()
    writeTree(folder, { 'a.txt': 'x\n'.repeat(150_000), 'b/c.txt': 'x\n'.repeat(50_000) })
    expect(await grepText(folder, { pattern: 'x', max_results: 1 }, engine)).toContain(
      '[199999 more matching',
    )
    writeFileSync(join(folder, 'd.txt'), 'x')
    expect(await grepText(folder, { pattern: 'x' }, engine)).toBe(
      'search_failed: too many lines match, narrow the pattern or the path',
    )
  }, 30_000)

  test('lines of more than 64 MiB in all are too many', async () => {
    const folder = makeFolder()
    const content = `${'x'.repeat(60_000)}\n`.repeat(60)
    writeTree(folder, Object.fromEntries(Array.from({ length: 19 }, (_, at) => [`${at}.txt`, content])))
    expect(await grepText(folder, { pattern: 'x' }, engine)).toMatch('search_failed: too many lines match')
  }, 30_000)

  test('a result over 512 KiB is cut, and an artifact has the whole', async () => {
    const folder = makeFolder()
    writeTree(folder, { 'a.txt': `${'\u{1F600}'.repeat(480)}\n`.repeat(2000) })
    const large = await grepIn(folder, { pattern: '.', max_results: 1000 }, engine)
    expect(large.artifacts[0]).toMatchObject({ found: 2000, truncated: true, artifact: { truncated: false } })
    expect(large.stdout).toContain('bytes left out: artifact_fetch with id')
  })

  test('a workspace that is gone is said to be gone', async () => {
    const folder = makeFolder()
    const workspace = await openWorkspace(folder)
    const grep = grepTool({ workspace, artifacts: openArtifacts(`${folder}-artifacts`), engine })
    rmSync(folder, { recursive: true })
    const result = await runTool(grep, { args: '{"pattern":"x"}' })
    expect(result.error?.code).toBe('workspace_missing')
  })

  test('no descriptor is left open', async () => {
    const folder = makeFolder()
    writeTree(folder, { 'a/b.txt': 'foo\n', 'c.txt': 'foo\n' })
    await grepText(folder, { pattern: 'foo' }, engine)
    const workspace = await openWorkspace(folder)
    const grep = grepTool({ workspace, artifacts: openArtifacts(`${folder}-artifacts`), engine })
    const before = openFiles()
    for (let time = 0; time < 10; time += 1) await runTool(grep, { args: '{"pattern":"foo"}' })
    // What was only read is closed without anybody waiting for it.
    await vi.waitFor(() => expect(openFiles()).toBeLessThanOrEqual(before))
  })
})

test('a search asks nobody, touches its path and holds for its workspace', async () => {
  const workspace = await openWorkspace(makeFolder())
  mkdirSync(join(workspace.root, 'src'))
  const grep = grepTool({ workspace, artifacts: openArtifacts('/nowhere') })
  expect(grep).toMatchObject({ name: 'grep', readOnly: true, scope: workspace.root })
  const prepared = await grep.prepare({ pattern: 'x', path: './src/' })
  if (!prepared.ok) throw new Error(prepared.message)
  expect(prepared.call.needsApproval()).toBeNull()
  expect(await prepared.call.touches()).toEqual([{ kind: 'path', path: 'src', access: 'read', isTree: true }])
})

test.each([
  [{}, 'pattern'],
  [{ pattern: '' }, 'pattern'],
  [{ pattern: 'x'.repeat(1001) }, 'pattern'],
  [{ pattern: 'x', context_lines: 11 }, 'context_lines'],
  [{ pattern: 'x', max_results: 1001 }, 'max_results'],
  [{ pattern: 'x', max_results: 0 }, 'max_results'],
  [{ pattern: 'x', literal: 'yes' }, 'literal'],
  [{ pattern: 'x', glob: '*' }, 'glob'],
])('arguments %j are refused by the name of the field', async (args, field) => {
  const workspace = await openWorkspace(makeFolder())
  const grep = grepTool({ workspace, artifacts: openArtifacts('/nowhere') })
  const result = await runTool(grep, { args: JSON.stringify(args) })
  expect(result.outcome).toBe('bad_arguments')
  expect(result.error?.message).toContain(field)
})
