import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { globTool } from '../../../src/tools/builtin/glob.ts'
import { readEnvelope, runTool } from '../../unit/tools/run-tool.ts'
import { endOf, freshWorkspace } from '../workspace/fresh-workspace.ts'
import { run } from './ask-tool.ts'

const FILES = {
  'a.ts': '',
  'src/b.ts': '',
  'src/deep/c.ts': '',
  'src/deep/c.js': '',
  'src/.hidden/d.ts': '',
  '.github/ci.yml': '',
  '.git/HEAD': '',
  'node_modules/x/e.ts': '',
}

test.each([
  ['**/*.ts', 'a.ts\nsrc/b.ts\nsrc/deep/c.ts\n'],
  ['*.ts', 'a.ts\n'],
  ['src/**', 'src/b.ts\nsrc/deep/c.js\nsrc/deep/c.ts\n'],
  ['src/', 'src/b.ts\nsrc/deep/c.js\nsrc/deep/c.ts\n'],
  ['src/*/c.{js,ts}', 'src/deep/c.js\nsrc/deep/c.ts\n'],
  ['src/.hidden/*', 'src/.hidden/d.ts\n'],
  ['.*/*', '.github/ci.yml\n'],
  ['.git/*', '.git/HEAD\n'],
  ['node_modules/**/*.ts', 'node_modules/x/e.ts\n'],
  ['{node_modules,src}/*/*.ts', 'node_modules/x/e.ts\nsrc/deep/c.ts\n'],
  ['**/nothing', '[no file fits]\n'],
])('%s finds what it says', async (pattern, expected) => {
  const { workspace } = await freshWorkspace(FILES)
  expect((await run(globTool({ workspace }), { pattern })).stdout).toBe(expected)
})

test('a pattern is looked for below a folder, and the paths found begin at the workspace', async () => {
  const { workspace } = await freshWorkspace(FILES)
  const tool = globTool({ workspace })
  expect(await run(tool, { pattern: '**/*.ts', path: 'src/deep' })).toMatchObject({
    stdout: 'src/deep/c.ts\n',
    artifacts: [{ path: 'src/deep', found: 1, left_out: 0 }],
  })
  const result = await runTool(tool, { args: '{"pattern":"*.ts"}' })
  expect(readEnvelope(result.output).stdout).toBe('a.ts\n')
})

test('links are found by their names and never followed', async () => {
  const { workspace, root } = await freshWorkspace(FILES)
  symlinkSync('src', join(root, 'link'))
  symlinkSync('/etc', join(root, 'out'))
  const tool = globTool({ workspace })
  expect((await run(tool, { pattern: '{link,out}{,/**}' })).stdout).toBe('link\nout\n')
  expect(await endOf(() => run(tool, { pattern: '*', path: 'out' }))).toBe('path_outside_workspace')
})

test('after 1000 files the rest is counted', async () => {
  const { workspace, root } = await freshWorkspace()
  for (let at = 0; at < 1003; at += 1) writeFileSync(join(root, `f${String(at).padStart(4, '0')}`), '')
  const { stdout } = await run(globTool({ workspace }), { pattern: 'f*' })
  expect(stdout.split('\n').slice(999)).toEqual(['f0999', '[files left out: 3; use a narrower pattern]', ''])
})

test('a pattern that cannot be read is refused before anything is looked at', async () => {
  const { workspace } = await freshWorkspace()
  for (const pattern of ['{a', '../*', '/etc/*', '[a']) {
    expect(await endOf(() => run(globTool({ workspace }), { pattern }))).toBe('pattern_invalid')
  }
})
