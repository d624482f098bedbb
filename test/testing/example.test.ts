import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url)

test('the example project passes its own tests under node --test', { timeout: 120_000 }, () => {
  const child = spawnSync(process.execPath, ['--test', '--test-reporter=tap'], {
    cwd: fileURLToPath(new URL('examples/test-your-loop/', root)),
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      NODE_OPTIONS: `--import=${new URL('test/resolve-source.ts', root).href}`,
    },
    timeout: 110_000,
  })
  expect(child.stderr).toBe('')
  expect(child.stdout).toContain('\n# pass 3\n')
  expect(child.stdout).toContain('\n# fail 0\n')
  expect(child.status).toBe(0)
})
