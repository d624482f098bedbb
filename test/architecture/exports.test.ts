import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url)

test('each subpath exports exactly the names in exported-names.txt', async () => {
  const lines: string[] = []
  for (const [specifier, source] of listEntries()) {
    const names = Object.keys((await import(fileURLToPath(source))) as object)
    lines.push(specifier, ...names.toSorted().map((name) => `  ${name}`))
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./exported-names.txt')
})

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
}

/** Specifier and source file of every code entry in package.json. */
function listEntries(): readonly (readonly [string, URL])[] {
  const text = readFileSync(new URL('package.json', root), 'utf8')
  const { name, exports } = JSON.parse(text) as Manifest
  return Object.entries(exports).flatMap(([subpath, target]) => {
    if (typeof target === 'string') return []
    const source = target.default.replace(/^\.\/dist\//, './').replace(/\.js$/, '.ts')
    return [[name + subpath.slice(1), new URL(source, root)] as const]
  })
}
