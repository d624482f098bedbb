import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url)
const PAGES = [
  'README.md',
  'docs/architecture.md',
  ...globSync('docs/guides/*.md', { cwd: fileURLToPath(root) }).sort(),
]
const EXAMPLES = globSync('examples/*.ts', { cwd: fileURLToPath(root) }).sort()

const SNIPPETS = PAGES.flatMap((page) => listSnippets(page).map((snippet) => ({ page, ...snippet })))

test.for(SNIPPETS)('$page has the code of a file ($name) and what it prints', ({ page, code, output }) => {
  const file = EXAMPLES.find((path) => read(path) === code)
  if (file === undefined) throw new Error(`${page} has code that is in no file of examples/:\n${code}`)
  expect(runExample(file)).toBe(output)
})

test('every example is shown on a page, under its name', () => {
  for (const file of EXAMPLES) expect(SNIPPETS.map(({ code }) => code)).toContain(read(file))
  const misnamed = SNIPPETS.filter(({ name, code }) => name !== null && read(name) !== code)
  expect(misnamed.map(({ page, name }) => `${page}: ${name}`)).toEqual([])
})

// Other tests hold that file to the machine: test/unit/chart.
test('the README shows the chart from docs/, with words for whoever cannot see it', () => {
  expect(read('README.md')).toMatch(/!\[[^\]]{20,}\]\(docs\/loop\.svg\)/u)
  expect(read('docs/loop.svg')).toContain('</svg>')
})

interface Snippet {
  /** The file that a comment before the code names; null: none does. */
  readonly name: string | null
  readonly code: string
  /** What the block right after it says; nothing without one. */
  readonly output: string
}

function listSnippets(page: string): readonly Snippet[] {
  const blocks = /(?:<!-- (examples\/[\w-]+\.ts)\b[^>]*-->\n)?```ts\n([^]*?)```\n(?:\n```\n([^]*?)```\n)?/gu
  return [...read(page).matchAll(blocks)].map(([, name = null, code = '', output = '']) => ({
    name,
    code,
    output,
  }))
}

function runExample(path: string): string {
  const hooks = new URL('test/resolve-source.ts', root).href
  return execFileSync(process.execPath, ['--import', hooks, fileURLToPath(new URL(path, root))], {
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  })
}

function read(path: string): string {
  return readFileSync(new URL(path, root), 'utf8')
}
