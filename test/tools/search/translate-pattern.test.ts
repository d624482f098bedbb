import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { translatePattern } from '../../../src/tools/search/translate-pattern.ts'
import { grepText, makeFolder, writeTree } from './grep-in.ts'

const raw = String.raw

test.each<readonly [pattern: string, matching: readonly string[], others: readonly string[]]>([
  ['foo', ['foo', 'xfoox'], ['FOO', 'fo']],
  ['(?i)foo', ['FOO', 'fOo'], ['bar']],
  ['a(?i)b|c', ['aB', 'C'], ['AB']],
  ['(?i:a)b', ['Ab'], ['AB']],
  ['(?i)a(?-i)b', ['Ab'], ['AB']],
  ['(?i)k', ['k', 'K', '\u{212A}'], ['c']],
  ['(?i)σ', ['Σ', 'ς'], ['s']],
  ['(?i)ß', ['ß', 'ẞ'], ['SS']],
  ['(?i)[^k]', ['x'], ['K', '\u{212A}']],
  [raw`\d`, ['7'], ['٣', 'x']],
  [raw`\D`, ['٣', 'x'], ['7']],
  [raw`^\w+$`, ['a_9Z'], ['é', 'a-b']],
  [raw`\W`, ['é', '-'], ['a']],
  [raw`a\sb`, ['a b', 'a\tb', 'a\vb', 'a\fb'], ['a\u{A0}b']],
  [raw`^\S+$`, ['\u{A0}'], ['a b']],
  [raw`\bfoo\b`, ['a foo.', 'éfooé'], ['afoo', 'foo_']],
  ['^$', [''], ['x']],
  ['foo$', ['foo', 'foo\r'], ['foo ']],
  ['^.$', ['é', '\u{1F600}', 'x\r'], ['ab', '\r']],
  ['[^x]$', ['ab\r'], ['ax\r']],
  ['[]a]', [']', 'a'], ['b']],
  ['[^]a]', ['b'], [']']],
  ['[a-]', ['-', 'a'], ['b']],
  [raw`[\w.-]+@`, ['a.b-c@'], ['!@']],
  [raw`[\]\\\-]`, [']', '\\', '-'], ['a']],
  [raw`\x41\x{1F600}\u00e9\u{e9}`, ['A\u{1F600}éé'], ['A']],
  [raw`\.\*\+\?\(\)\[\]\{\}\^\$\|\\\/\-`, ['.*+?()[]{}^$|\\/-'], ['x']],
  ['foo() {', ['foo {'], ['foo() x']],
  [raw`foo\(\) \{`, ['foo() {'], ['foo() x']],
  ['a{b', ['a{b'], ['ab']],
  ['x}', ['x}'], ['x']],
  ['a{2,3}b', ['aab'], ['ab']],
  ['^a{2}$', ['aa'], ['aaa']],
  ['a{3,}', ['aaaa'], ['aa']],
  ['a+?b*?c??', ['a'], ['b']],
  ['(?<name>a)(?P<other>b)', ['ab'], ['a']],
  ['(a|b)(?:c|)', ['a', 'bc'], ['c']],
  ['a||b', ['', 'x'], []],
  ['-e', ['-e'], ['e']],
  ['--files', ['--files'], ['files']],
  ['(?:a+)+$', ['aaa'], ['aaab']],
  [raw`[\t-\r]`, ['a\tb'], ['ab']],
  ['&&', ['a && b'], ['a & b']],
])('%s is understood by both engines alike', async (pattern, matching, others) => {
  const folder = makeFolder()
  // Each in a file of its own: an empty line at the end of a file is none.
  const lines = [...matching, ...others]
  writeTree(folder, Object.fromEntries(lines.map((line, at) => [`${at}`.padStart(2, '0'), `${line}\n`])))
  for (const engine of ['auto', 're2js'] as const) {
    const text = await grepText(folder, { pattern }, engine)
    const found = text.split('\n').flatMap((line) => /^(\d\d):1:/.exec(line)?.slice(1, 2) ?? [])
    expect(
      found.map((name) => lines[Number(name)]),
      engine,
    ).toEqual(matching)
  }
})

test.each([
  ['a(?=b)', 'look-around'],
  ['a(?!b)', 'look-around'],
  ['(?<=a)b', 'look-around'],
  ['(?<!a)b', 'look-around'],
  [raw`(a)\1`, 'back-reference'],
  ['(?s)a.b', 'group of an unknown kind'],
  ['(?>a)', 'group of an unknown kind'],
  ['(?#comment)', 'group of an unknown kind'],
  ['(?R)', 'group of an unknown kind'],
  [raw`\p{L}`, 'Unicode property'],
  [raw`\Aa\z`, 'use ^'],
  [raw`\Bfoo`, 'no word boundary'],
  [raw`\<foo\>`, raw`use \b`],
  [raw`\Qa.b\E`, 'set literal'],
  [raw`a\nb`, 'line break'],
  ['a\nb', 'line break'],
  [raw`a\x0ab`, 'line break'],
  [raw`\x{d800}`, 'no character'],
  [raw`\x{110000}`, 'no character'],
  [raw`\y`, 'unknown escape'],
  [raw`\é`, 'unknown escape'],
  ['a\\', 'backslash at its end'],
  ['(a', '( without its )'],
  ['a)', ') without its ('],
  ['[a', 'no end'],
  ['[]', 'no end'],
  ['[[:alpha:]]', '[ in a class'],
  ['[a[b]]', '[ in a class'],
  ['[a-z&&b]', 'operation on sets'],
  ['[z-a]', 'runs backwards'],
  [raw`[\d-z]`, 'range from or to a class'],
  [raw`[^\d\D]`, 'nothing is in'],
  [raw`[a\b]`, 'word boundary in a class'],
  ['*a', 'repetition of nothing'],
  ['a|+', 'repetition of nothing'],
  ['{2}', 'repetition of nothing'],
  ['a**', 'repetition of a repetition'],
  ['a++', 'repetition of a repetition'],
  ['a{2}{3}', 'repetition of a repetition'],
  ['^*', 'repetition of ^'],
  [raw`\b+`, 'repetition of ^'],
  ['a{,3}', 'write {0,3}'],
  ['a{3,2}', 'wrong way round'],
  ['a{1001}', 'count above 1000'],
  ['(?:a{100}){100}', 'more than 1000 parts'],
  [`${'('.repeat(60)}a${')'.repeat(60)}`, 'more than 50 deep'],
  ['\u{D800}', 'half of a character'],
])('%s is refused with what to do instead', (pattern, words) => {
  const translate = (): unknown => translatePattern(pattern, { isLiteral: false, isCaseIgnored: false })
  expect(translate).toThrow(expect.objectContaining({ code: 'pattern_invalid' }) as Error)
  expect(translate).toThrow(words)
})

test.each(['.*', 'a(b', '[', '\\', '(?=x)', '^a$', '{2}', '\u{1F600}', '--'])(
  '%s as plain text finds itself and no more',
  async (pattern) => {
    const folder = makeFolder()
    writeTree(folder, { 'a.txt': `x${pattern}y\nxy\n` })
    for (const engine of ['auto', 're2js'] as const) {
      expect(await grepText(folder, { pattern, literal: true }, engine)).toBe(`a.txt:1:x${pattern}y\n`)
    }
  },
)

test('plain text without case finds the other case', async () => {
  const folder = makeFolder()
  writeTree(folder, { 'a.txt': 'FOO.\nfoox\n' })
  expect(await grepText(folder, { pattern: 'foo.', literal: true, ignore_case: true })).toBe('a.txt:1:FOO.\n')
})

test('what a pattern is translated to has only letters, digits and ASCII syntax in it', () => {
  const { ripgrep, re2 } = translatePattern('é-\u{1F600}\0 "x"', { isLiteral: true, isCaseIgnored: true })
  expect([ripgrep, re2]).toEqual([ripgrep, ripgrep])
  expect(ripgrep).toMatch(/^[\w\\{}[\]-]+$/)
})

test('a range through the line break goes around it', () => {
  const { ripgrep } = translatePattern(raw`[\t-\r]`, { isLiteral: false, isCaseIgnored: false })
  expect(ripgrep).toContain(raw`[\x{9}\x{b}-\x{d}]`)
})

test('fault T18: no text of a model becomes a RegExp', () => {
  const root = fileURLToPath(new URL('../../../', import.meta.url))
  const files = globSync('src/tools/{builtin,search}/**/*.ts', { cwd: root })
  expect(files.length).toBeGreaterThan(10)
  for (const file of files) {
    expect(readFileSync(`${root}${file}`, 'utf8'), file).not.toMatch(
      /\bRegExp\(|\.(?:match|search|matchAll)\((?!\/)/,
    )
  }
})
