import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { readSources } from './read-sources.ts'

const LINES_MAX = 400

const REQUIRED = [
  'README.md',
  'docs',
  'fixtures',
  'machines',
  'package.json',
  'schemas',
  'src',
  'test',
  'tsconfig.json',
]

const OPTIONAL = [
  /^\./,
  /^(package-lock\.json|LICENSE|CHANGELOG\.md|SECURITY\.md|llms\.txt|scripts|bench|examples)$/,
  /^(.+\.config\.ts|tsconfig\..+\.json|knip\.json)$/,
]

const root = new URL('../../', import.meta.url)

test('the top level holds every part that a reader looks for there', () => {
  expect(missingFrom(listTopLevel())).toEqual([])
})

test('the top level holds nothing without a place in the layout', () => {
  expect(strayIn(listTopLevel())).toEqual([])
})

test('the layout check finds a missing part and a stray one', () => {
  const names = [
    ...REQUIRED.filter((name) => name !== 'docs'),
    '.github',
    'vitest.config.ts',
    'lib',
    'notes.md',
  ]
  expect(missingFrom(names)).toEqual(['docs'])
  expect(strayIn(names)).toEqual(['lib', 'notes.md'])
})

test('the lock file names no place that packages come from', () => {
  expect(registriesIn(readFileSync(new URL('package-lock.json', root), 'utf8'))).toEqual([])
})

test('the lock file check finds an entry with its place', () => {
  expect(
    registriesIn('{\n "resolved": "https://example.com/a.tgz",\n "resolved":"http://b"\n}'),
  ).toHaveLength(2)
})

test(`no file in src/ or machines/ is longer than ${LINES_MAX} lines`, () => {
  expect(tooLongIn(readSources())).toEqual([])
})

test('no file in src/ or machines/ holds a note about work that is left to do', () => {
  expect(notesIn(readSources())).toEqual([])
})

test('the checks of source files find a long file and a note, but not in a generated folder', () => {
  const long = '\n'.repeat(LINES_MAX + 1)
  const sources = new Map([
    ['src/stream/a.ts', long],
    ['src/stream/b.ts', '\n'.repeat(LINES_MAX)],
    ['src/stream/c.ts', 'x()\n// TODO: later\n'],
    ['src/stream/d.ts', 'const todo = "FIXME_NOT"\n'],
    ['src/protocol/generated/a.ts', `// FIXME${long}`],
  ])
  expect(tooLongIn(sources)).toEqual(['src/stream/a.ts: 401 lines'])
  expect(notesIn(sources)).toEqual(['src/stream/c.ts:2: // TODO: later'])
})

/** What git would keep; without git, what is there apart from what installing, building and testing make. */
function listTopLevel(): readonly string[] {
  const git = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: fileURLToPath(root),
    encoding: 'utf8',
    timeout: 30_000,
  })
  const paths = git.status === 0 ? git.stdout.split('\0').filter((path) => path !== '') : []
  if (paths.length > 0) return [...new Set(paths.map((path) => path.split('/', 1)[0] ?? path))].sort()
  const made = /^(node_modules|dist|coverage|reports|.+\.tgz)$/
  return readdirSync(root).filter((name) => !made.test(name))
}

function missingFrom(names: readonly string[]): readonly string[] {
  return REQUIRED.filter((name) => !names.includes(name))
}

function strayIn(names: readonly string[]): readonly string[] {
  return names.filter((name) => !REQUIRED.includes(name) && !OPTIONAL.some((form) => form.test(name)))
}

function registriesIn(lockFile: string): readonly string[] {
  return lockFile.split('\n').filter((line) => /"resolved":\s*"http/.test(line))
}

function tooLongIn(sources: ReadonlyMap<string, string>): readonly string[] {
  return [...writtenByHand(sources)]
    .map(([path, source]) => ({ path, lines: source.replace(/\n$/, '').split('\n').length }))
    .filter(({ lines }) => lines > LINES_MAX)
    .map(({ path, lines }) => `${path}: ${lines} lines`)
}

function notesIn(sources: ReadonlyMap<string, string>): readonly string[] {
  return [...writtenByHand(sources)].flatMap(([path, source]) =>
    source
      .split('\n')
      .map((line, index) => ({ line: line.trim(), number: index + 1 }))
      .filter(({ line }) => /\b(TODO|FIXME)\b/.test(line))
      .map(({ line, number }) => `${path}:${number}: ${line}`),
  )
}

function writtenByHand(sources: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...sources].filter(([path]) => !path.includes('/generated/')))
}
