import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url)

function read(path: string): string {
  return readFileSync(new URL(path, root), 'utf8')
}

test('the code in the README is the example, and prints what the README says', () => {
  const [, code, output] = /```ts\n([^]*?)```\n\n```\n([^]*?)```/u.exec(read('README.md')) ?? []
  expect(code).toBe(read('examples/read-a-response.ts'))
  expect(runExample('read-a-response.ts')).toBe(output)
})

function runExample(name: string): string {
  const hooks = new URL('test/resolve-source.ts', root).href
  const file = fileURLToPath(new URL(`examples/${name}`, root))
  return execFileSync(process.execPath, ['--import', hooks, file], {
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  })
}
