import { strict as assert } from 'node:assert'

import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { unifiedDiff } from '../../../src/tools/workspace/unified-diff.ts'

test('a difference is shown with three lines around it', () => {
  const before = '1\n2\n3\n4\n5\n6\n7\n8\n9\n'
  expect(unifiedDiff(before, before.replace('5\n', 'five\n'))).toBe(
    '@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n',
  )
  expect(unifiedDiff(before, before)).toBe('')
  expect(unifiedDiff('', 'a\n')).toBe('@@ -0,0 +1,1 @@\n+a\n')
  expect(unifiedDiff('a', 'a\n')).toBe('@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n')
})

test('what is too long to compare line by line is shown as removed and added', () => {
  const before = Array.from({ length: 1500 }, (_, at) => `a${at}\n`).join('')
  const after = Array.from({ length: 1500 }, (_, at) => `b${at}\n`).join('')
  expect(unifiedDiff(before, after).split('\n')).toHaveLength(3002)
})

test('the old text and the difference make the new text', () => {
  const text = fc
    .tuple(fc.array(fc.constantFrom('a', 'b', 'c', '', 'd d'), { maxLength: 14 }), fc.boolean())
    .map(([lines, isEnded]) => lines.join('\n') + (isEnded ? '\n' : ''))
  const broken = fc.check(
    fc.property(text, text, (before, after) => applied(before, unifiedDiff(before, after)) === after),
    { numRuns: 2000, seed: 6 },
  )
  expect(broken.counterexample).toBeNull()
})

/** Trusts nothing but the numbers and marks of the hunks, and checks that what they remove is there. */
function applied(before: string, diff: string): string {
  const old = before.match(/[^\n]*\n|[^\n]+$/gu) ?? []
  const lines: string[] = []
  let at = 0
  const shown = diff.replaceAll('\n\\ No newline at end of file\n', '\0\n').match(/[^\n]*\n/gu) ?? []
  for (const line of shown) {
    const head = /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@\n$/u.exec(line)
    const text = line.slice(1).replace('\0\n', '')
    if (head !== null) {
      const start = Number(head[1]) - (head[2] === '0' ? 0 : 1)
      lines.push(...old.slice(at, start))
      at = start
      assert(lines.length === Number(head[3]) - (head[4] === '0' ? 0 : 1), 'the new place is wrong')
      continue
    }
    if (!line.startsWith('+')) {
      assert(text === old[at], 'what is removed is not there')
      at += 1
    }
    if (!line.startsWith('-')) lines.push(text)
  }
  return [...lines, ...old.slice(at)].join('')
}
