import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import * as entry from '../../../src/tools/index.ts'

const root = new URL('../../../', import.meta.url)

test('the entry of the room lists what a user needs and nothing else', () => {
  expect(Object.keys(entry).toSorted()).toEqual([
    'builtinTools',
    'instructions',
    'lintTools',
    'tool',
    'toolResult',
  ])
})

test('the code in the guide is the example, and prints what the guide says', () => {
  const guide = readFileSync(new URL('docs/guides/tools.md', root), 'utf8')
  const [, code, output] = /```ts\n([^]*?)```\n\n```\n([^]*?)```/u.exec(guide) ?? []
  const file = new URL('examples/tools.ts', root)
  expect(code).toBe(readFileSync(file, 'utf8'))
  // From its sources: a fresh clone has nothing that is built.
  const parameters = ['--import', new URL('test/resolve-source.ts', root).href, fileURLToPath(file)]
  const env = { ...process.env, NO_COLOR: '1' }
  expect(execFileSync(process.execPath, parameters, { encoding: 'utf8', env })).toBe(output)
})

test.each([
  ['the entry loads neither zod nor ajv', '', ''],
  [
    'a tool with raw JSON Schema loads ajv',
    "entry.tool({ name: 'a', description: 'a', parameters: { type: 'object' }, execute: () => '' })",
    'ajv',
  ],
])('what only some users need is loaded when they need it: %s', (_, code, expected) => {
  const script = `
    import { registerHooks } from 'node:module'
    const urls = []
    registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) })
    const entry = await import('./src/tools/index.ts')
    ${code}
    const isLoaded = (name) => urls.some((url) => url.includes('/node_modules/' + name + '/'))
    console.log(['ajv', 'zod'].filter(isLoaded).join())`
  const cwd = fileURLToPath(root)
  const flags = ['--input-type=module', '--eval', script]
  expect(execFileSync(process.execPath, flags, { cwd, encoding: 'utf8' }).trim()).toBe(expected)
})
