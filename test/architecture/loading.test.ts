import { readFileSync } from 'node:fs'

import { expect, test } from 'vitest'

import { lazyPackagesAmong, listLoaded } from './list-loaded.ts'

const INSTALLED_MAX = 50

const root = new URL('../../', import.meta.url)

test.for(['src/index.ts', 'src/machine.ts', 'src/frames/index.ts'])(
  'importing %s loads none of the packages that only some users need',
  (path) => {
    const loaded = listLoaded(new URL(path, root).href)
    expect(loaded.filter((url) => url.endsWith(`/${path}`))).toHaveLength(1)
    expect(lazyPackagesAmong(loaded)).toEqual([])
  },
)

test('--version loads commander and no other package that only some users need', () => {
  expect(lazyPackagesAmong(listLoaded(new URL('src/cli/main.ts', root).href, '--version'))).toEqual([
    'commander',
  ])
})

test('the check of loaded packages sees packages that were loaded, by import and by require', () => {
  expect(lazyPackagesAmong(listLoaded('hono'))).toEqual(['hono'])
  const required = `data:text/javascript,process.getBuiltinModule('node:module').createRequire('${import.meta.url}')('ajv')`
  expect(lazyPackagesAmong(listLoaded(required))).toEqual(['ajv'])
})

test(`installing the package brings at most ${INSTALLED_MAX} packages, itself included`, () => {
  const lock = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: true }>>
  }
  const installed = Object.values(lock.packages).filter(({ dev }) => dev !== true)
  expect(installed.length).toBeGreaterThan(10)
  expect(installed.length).toBeLessThanOrEqual(INSTALLED_MAX)
})

test('an agent that asks nothing special of its requests loads none of the packages that only some need', () => {
  expect(lazyPackagesAmong(listLoaded(new URL('./plain-agent.ts', import.meta.url).href))).toEqual([])
})
