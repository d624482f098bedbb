import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, onTestFinished, test, vi } from 'vitest'

// Each test starts a vitest of its own.
vi.setConfig({ testTimeout: 60_000 })

const VITEST = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url))
const REPORTER = fileURLToPath(new URL('../../scripts/closing-line-reporter.ts', import.meta.url))

test('a green run without skipped tests ends with one line that has no third number', () => {
  const lines = linesOf({ 'a.test.ts': `test('one', () => {}); test('two', () => {})` })
  expect(lines).toEqual(['2 passed, 0 failed'])
})

test('a skipped test is listed with its full title and its reason before the closing line', () => {
  const lines = linesOf({
    'a.test.ts': `
      test('one', () => {})
      describe('a matrix', () => { test('a long\\ntitle', (context) => context.skip('no such part')) })`,
  })
  expect(lines).toEqual(['not run: a matrix > a long title (no such part)', '1 passed, 0 failed, 1 skipped'])
})

test('a failing test, a file that does not load and an error outside a test each count as failed', () => {
  const lines = linesOf({
    'a.test.ts': `test('one', () => { throw new Error('red') }); test('two', () => {})`,
    'b.test.ts': `throw new Error('does not load')`,
    'c.test.ts': `test('three', async () => { void Promise.reject(new Error('stray')); await 0 })`,
  })
  expect(lines).toEqual(['2 passed, 3 failed'])
})

test('a hook that throws counts as failed and its tests are listed as not run', () => {
  const lines = linesOf({
    'a.test.ts': `describe('rows', () => { beforeAll(() => { throw new Error('red') }); test('one', () => {}) })`,
  })
  expect(lines).toEqual([
    'not run: rows > one (a hook or the file around it failed)',
    '0 passed, 1 failed, 1 skipped',
  ])
})

function linesOf(files: Readonly<Record<string, string>>): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'loopchart-reporter-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const { stdout } = spawnSync(
    process.execPath,
    [VITEST, 'run', '--root', folder, '--globals', `--reporter=${REPORTER}`],
    { encoding: 'utf8', timeout: 60_000, env: { ...process.env, VITEST: undefined, NO_COLOR: '1' } },
  )
  return stdout.split('\n').filter((line) => line !== '')
}
