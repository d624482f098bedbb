import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url)

/** Packages that only some users need; whoever imports the package root does not pay for them. */
const LAZY_PACKAGES = ['zod', 'ajv', 'execa', 'pino', 'hono']

test('each subpath exports exactly the names in exported-names.txt', async () => {
  const lines: string[] = []
  for (const [specifier, source] of listEntries()) {
    const names = Object.keys((await import(fileURLToPath(source))) as object)
    lines.push(specifier, ...names.toSorted().map((name) => `  ${name}`))
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./exported-names.txt')
})

test('importing the package root loads none of the packages that only some users need', () => {
  const loaded = listLoadedBy(new URL('src/index.ts', root).href)
  expect(loaded.filter((url) => url.endsWith('/src/index.ts'))).toHaveLength(1)
  expect(packagesAmong(loaded)).toEqual([])
})

test('the check of loaded packages sees a package that was loaded', () => {
  expect(packagesAmong(listLoadedBy('ajv'))).toEqual(['ajv'])
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

/** The URL of every module that a fresh process loads for one import. */
function listLoadedBy(specifier: string): readonly string[] {
  const script = `
    import { registerHooks } from 'node:module'
    const urls = []
    registerHooks({
      load(url, context, nextLoad) {
        urls.push(url)
        return nextLoad(url, context)
      },
    })
    await import(${JSON.stringify(specifier)})
    console.log(JSON.stringify(urls))`
  const child = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: fileURLToPath(root),
    encoding: 'utf8',
    timeout: 30_000,
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  expect(child.stderr).toBe('')
  return JSON.parse(child.stdout) as readonly string[]
}

function packagesAmong(urls: readonly string[]): readonly string[] {
  return LAZY_PACKAGES.filter((name) => urls.some((url) => url.includes(`/node_modules/${name}/`)))
}
