import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { listDirTool } from '../../../src/tools/builtin/list-dir.ts'
import { readEnvelope, runTool } from '../../unit/tools/run-tool.ts'
import { endOf, freshWorkspace } from '../workspace/fresh-workspace.ts'
import { prepared, run } from './ask-tool.ts'

test('a folder is listed in one order, with sizes, marks of folders and where links lead', async () => {
  const { workspace, root } = await freshWorkspace({
    'b.txt': 'hello',
    'a/x.txt': '',
    'B.txt': '',
    '.hidden': '',
  })
  symlinkSync('/etc/passwd', join(root, 'link'))
  execFileSync('mkfifo', [join(root, 'pipe')])
  const lister = listDirTool({ workspace })
  const listed = 'B.txt\t0\na/\nb.txt\t5\nlink -> /etc/passwd\npipe\t[not a regular file]\n'
  expect(await run(lister, {})).toMatchObject({
    stdout: `${listed}[hidden entries not shown: 1; hidden: true shows them]\n`,
    artifacts: [{ path: '.', entries: 5, hidden: 1, left_out: 0 }],
  })
  expect((await run(lister, { path: '.', hidden: true })).stdout).toBe(`.hidden\t0\n${listed}`)
  const result = await runTool(lister, { name: 'ls', args: '' })
  expect(readEnvelope(result.output).stdout).toContain('b.txt\t5')
})

test('a deeper list goes into folders, but not into links, .git and node_modules', async () => {
  const { workspace, root } = await freshWorkspace({
    'a/b/c.txt': '',
    'a.txt': '',
    'node_modules/x/index.js': '',
    '.git/HEAD': '',
  })
  symlinkSync('a', join(root, 'link'))
  const lister = listDirTool({ workspace })
  expect((await run(lister, { depth: 2, hidden: true })).stdout).toBe(
    '.git/\na/\na/b/\na.txt\t0\nlink -> a\nnode_modules/\n',
  )
  expect((await run(lister, { depth: 3 })).stdout).toContain('a/b/c.txt\t0\n')
  expect((await run(lister, { path: 'node_modules', depth: 2 })).stdout).toBe('x/\nx/index.js\t0\n')
  expect((await lister.prepare({ depth: 65 })).ok).toBe(false)
})

test('after 1000 entries the rest is counted', async () => {
  const { workspace, root } = await freshWorkspace()
  for (let at = 0; at < 1010; at += 1) writeFileSync(join(root, `f${String(at).padStart(4, '0')}`), '')
  const lister = listDirTool({ workspace })
  const { stdout, artifacts } = await run(lister, {})
  expect(stdout.split('\n').slice(999)).toEqual([
    'f0999\t0',
    '[entries left out: 10; list a folder in it, or use glob]',
    '',
  ])
  expect(artifacts).toMatchObject([{ entries: 1010, left_out: 10 }])
})

test('a name with a line end cannot pass for two entries', async () => {
  const { workspace, root } = await freshWorkspace({ 'a\nb/\u202e.txt': '' })
  mkdirSync(join(root, 'empty'))
  const lister = listDirTool({ workspace })
  expect((await run(lister, { depth: 2 })).stdout).toBe('"a\\nb"/\n"a\\nb/\\u202e.txt"\t0\nempty/\n')
  expect((await run(lister, { path: 'empty' })).stdout).toBe('[the folder is empty]\n')
})

test('what is no folder, or is outside, is refused', async () => {
  const { workspace, root, base } = await freshWorkspace({ 'a.txt': '' })
  mkdirSync(join(base, 'outside'))
  symlinkSync('../outside', join(root, 'out'))
  const lister = listDirTool({ workspace })
  expect(await endOf(() => run(lister, { path: 'a.txt' }))).toBe('path_not_found')
  expect(await endOf(() => run(lister, { path: 'nothing' }))).toBe('path_not_found')
  expect(await endOf(() => run(lister, { path: 'out' }))).toBe('path_outside_workspace')
  const call = await prepared(lister, { path: '..' })
  expect(await call.touches()).toBe('unreadable')
  expect(call.needsApproval()).toBeNull()
})
