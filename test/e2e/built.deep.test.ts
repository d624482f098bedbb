import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { beforeEach, expect, test } from 'vitest'

import { lazyPackagesAmong, listLoaded } from '../architecture/list-loaded.ts'
import { need } from '../need.ts'

// Most tests run the sources. These hold what is built of them, into other files, to the same.

/** Own files and those of dependencies that the package root may consist of: each takes time to load. */
const FILES_MAX = 40

const root = new URL('../../', import.meta.url)
const NAMES = readFileSync(new URL('test/architecture/exported-names.txt', root), 'utf8')
const SUBPATHS = NAMES.split('\n').filter((line) => line.startsWith('loopchart'))

beforeEach((context) => need(context, 'build'))

test('each built entry exports exactly the names in exported-names.txt', async () => {
  const names = await evaluate(`
    for (const subpath of ${JSON.stringify(SUBPATHS)}) {
      console.log(subpath)
      for (const name of Object.keys(await import(subpath)).sort()) console.log('  ' + name)
    }`)
  expect(names).toBe(NAMES)
})

test.for(['loopchart', 'loopchart/machine', 'loopchart/frames'])(
  'importing %s as it is built loads few files, and no package that only some users need',
  (subpath) => {
    const loaded = listLoaded(subpath)
    expect(loaded.filter((url) => url.includes('/dist/src/'))).not.toEqual([])
    expect(lazyPackagesAmong(loaded)).toEqual([])
    expect(loaded.filter((url) => url.startsWith('file:')).length).toBeLessThanOrEqual(FILES_MAX)
  },
)

test('importing the package root does not load the validator of frames, which is for who reads logs', () => {
  expect(listLoaded('loopchart').filter((url) => url.includes('validate-frame'))).toEqual([])
  expect(listLoaded('loopchart/frames').filter((url) => url.includes('validate-frame'))).toHaveLength(1)
})

test('the built command loads commander for --version, and nothing of the package root', () => {
  const loaded = listLoaded(new URL('dist/src/cli/main.js', root).href, '--version')
  expect(lazyPackagesAmong(loaded)).toEqual(['commander'])
  expect(loaded.filter((url) => url.endsWith('/chunks/core.js'))).toEqual([])
})

test('the chart that runs is the file that is there to be read, comments included', () => {
  const chart = new URL('dist/machines/loop.machine.js', root)
  expect(listLoaded('loopchart')).toContain(chart.href)
  expect(readFileSync(chart, 'utf8')).toMatch(/^\s*\/\/ [A-Z]/m)
})

test('what only needs frames or the history of conversations loads nothing of the rest of the package root', () => {
  for (const subpath of ['loopchart/frames', 'loopchart/history']) {
    const loaded = listLoaded(subpath)
    expect(loaded.filter((url) => /\/(chunks\/core\.js$|machines\/|node_modules\/)/.test(url))).toEqual([])
  }
})

test('an error is a LoopchartError, whichever subpath throws it', async () => {
  const printed = await evaluate(`
    import { LoopchartError } from 'loopchart'
    import { parseFrame } from 'loopchart/frames'
    import { parseContextBundle } from 'loopchart/history'
    import { createService } from 'loopchart/server'
    import { parseScript } from 'loopchart/testing'
    import { builtinTools } from 'loopchart/tools'
    const wrong = {
      frames: () => parseFrame('{'),
      history: () => parseContextBundle(''),
      server: () => createService({ agents: {}, limits: { runs: 0 } }),
      testing: () => parseScript(''),
      tools: () => builtinTools(),
    }
    for (const [subpath, act] of Object.entries(wrong)) {
      try {
        await act()
      } catch (error) {
        console.log(subpath, error instanceof LoopchartError)
      }
    }`)
  expect(printed).toBe('frames true\nhistory true\nserver true\ntesting true\ntools true\n')
})

test('every source is in one built file only, so that its classes and its state are there once', () => {
  const places = new Map<string, string[]>()
  for (const path of globSync('dist/src/**/*.js', { cwd: fileURLToPath(root) })) {
    const text = readFileSync(new URL(path, root), 'utf8')
    for (const [, source = ''] of text.matchAll(/^\/\/#region (src\/.+)$/gm)) {
      places.set(source, [...(places.get(source) ?? []), path])
    }
  }
  expect(places.get('src/errors.ts')).toEqual(['dist/src/chunks/base.js'])
  expect([...places].filter(([, paths]) => paths.length > 1)).toEqual([])
})

test('every example prints with the built package what it prints with the sources', async () => {
  const hooks = new URL('test/resolve-source.ts', root).href
  const examples = globSync('examples/*.ts', { cwd: fileURLToPath(root) }).sort()
  expect(examples.length).toBeGreaterThan(20)
  for (const path of examples) {
    const [built, source] = await Promise.all([runNode(path), runNode('--import', hooks, path)])
    expect({ path, printed: built }).toEqual({ path, printed: source })
  }
})

async function evaluate(code: string): Promise<string> {
  return runNode('--input-type=module', '--eval', code)
}

async function runNode(...parameters: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, parameters, {
    cwd: fileURLToPath(root),
    timeout: 60_000,
    env: { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1' },
  })
  return stdout
}
