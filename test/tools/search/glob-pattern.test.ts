import { expect, test } from 'vitest'

import { compileGlob, compileGlobParts } from '../../../src/tools/search/glob-pattern.ts'
import { endOf } from '../workspace/fresh-workspace.ts'

test.each([
  ['*.ts', 'a.ts *.ts', '.ts .a.ts a/b.ts a.tsx a.ts/'],
  ['*', 'a a.b', '.a a/b'],
  ['**', 'a a/b a/b/c', '.a a/.b .a/b'],
  ['**/*.ts', 'a.ts a/b.ts a/b/c.ts', '.h/a.ts a/.h.ts a.js'],
  ['a/**/b', 'a/b a/x/b a/x/y/b', 'ab a/.x/b a/b/c'],
  ['a/**/**/b', 'a/b a/x/y/b', 'a/.x/b'],
  ['src/**', 'src/a src/a/b', 'src x/a src/.a'],
  ['a**b', 'ab axyb', 'a/b'],
  ['?b', 'ab \u{1f600}b', '.b b aab /b'],
  ['[ab]c', 'ac bc', 'cc abc'],
  ['[!ab]c', 'cc', 'ac bc .c /c'],
  ['[^ab]c', 'cc', 'ac .c'],
  ['x[!ab]', 'x. xc', 'x/ xa'],
  ['[+-9]x', '+x 0x', '.x /x'],
  ['x[]a]', 'x] xa', 'xb'],
  ['x[a-]', 'xa x-', 'xb'],
  ['x[\\]]', 'x]', 'x\\'],
  ['[日月]本', '日本', '本'],
  ['*?x', 'ax abx', '.x x'],
  ['*{.a,b}', 'x.a b xb', '.a'],
  ['{a,b/{c,d}}.t[sx]', 'a.ts b/c.tx b/d.ts', 'c.ts b.ts a.tt'],
  ['{,a}b', 'b ab', 'aab'],
  ['{a}', 'a', '{a}'],
  ['[{]a,b[}]', '{a,b}', 'a b'],
  ['\\{a,b\\}', '{a,b}', 'a b'],
  ['\\*\\?\\[', '*?[', 'a?['],
  ['.env*', '.env .env.local', 'x.env env'],
  ['**/.github/*.yml', '.github/a.yml x/.github/b.yml', '.github/.a.yml .x/.github/a.yml'],
  ['./a//b', 'a/b', 'a//b ./a/b'],
  ['a.(b|c)+$', 'a.(b|c)+$', 'a.b axb'],
])('%s fits %s and not %s', async (pattern, fitting, others) => {
  const isMatch = await compileGlob(pattern)
  expect(fitting.split(' ').filter((path) => !isMatch(path))).toEqual([])
  expect(others.split(' ').filter((path) => isMatch(path))).toEqual([])
})

test.each([
  '',
  '/',
  './',
  '/a',
  '..',
  'a/../b',
  '{../a,b}',
  '{a',
  'a}',
  '{a,{b}',
  '[a',
  '[]',
  '[!]',
  '[a/b]',
  '[b-a]',
  'a\\',
  'a\ud800',
  'a'.repeat(1025),
  `${'a/'.repeat(128)}b`,
  '{a,b}'.repeat(8),
  `${'{'.repeat(9)}a${'}'.repeat(9)}`,
  `{${'a,'.repeat(128)}}`,
  `${'{a,b}'.repeat(6)}${'x'.repeat(500)}`,
])('%j is no pattern', async (pattern) => {
  expect(await endOf(() => compileGlob(pattern))).toBe('pattern_invalid')
})

test.each([
  ['**', '.env a/.env .git/config a/b', ''],
  ['src/**', 'src/.env src/.x/a src/a', 'src .env'],
  ['**/*.ts', '.h/a.ts a/.h.ts .ts a.ts', 'a.js'],
  ['*', '.a a', 'a/b .a/b'],
  ['?env', '.env', 'env /env'],
  ['[!a]env', '.env', 'aenv /env'],
])('with hidden names matched, %s fits %s and not %s', async (pattern, fitting, others) => {
  const isMatch = await compileGlob(pattern, { isHiddenMatched: true })
  expect(fitting.split(' ').filter((path) => !isMatch(path))).toEqual([])
  expect(others.split(' ').filter((path) => isMatch(path))).toEqual([])
})

test('a pattern with as many names as there may be is compiled', async () => {
  const isMatch = await compileGlob(`${'a/'.repeat(127)}b`)
  expect(isMatch(`${'a/'.repeat(127)}b`)).toBe(true)
})

test('a folder is looked into only when something below it can fit', async () => {
  const { canMatchBelow } = await compileGlobParts('src/**/.x/*.ts')
  const folders = ['src', 'src/a', 'src/a/.x', 'lib', 'src/.y', '.x', 'src/.x/a']
  expect(folders.filter((folder) => canMatchBelow(folder))).toEqual(['src', 'src/a', 'src/a/.x'])
})

test('fault T18: a pattern made to be slow takes no longer than its path', async () => {
  const isMatch = await compileGlob(`${'*a'.repeat(200)}b`)
  const begun = performance.now()
  expect(isMatch('a'.repeat(250))).toBe(false)
  expect(performance.now() - begun).toBeLessThan(2000)
})
