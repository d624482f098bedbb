import { readFileSync } from 'node:fs'

import { expect, test } from 'vitest'

import { ERROR_CODES } from '../../src/errors.ts'

test('docs/errors.md lists every error code exactly once and no other', () => {
  const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
  expect(codesListedIn(page).toSorted()).toEqual([...ERROR_CODES].toSorted())
})

test('no error code is written twice in the list of codes', () => {
  expect(new Set(ERROR_CODES).size).toBe(ERROR_CODES.length)
})

test('a code counts as listed only as the first cell of a table row', () => {
  const page = [
    'Text about `usage`.',
    '| code | what happened | what to do |',
    '| --- | --- | --- |',
    '| `usage` | `other` happened | nothing |',
    '|`usage`| again | nothing |',
    '| bare_word | without marks | nothing |',
  ].join('\n')
  expect(codesListedIn(page)).toEqual(['usage', 'usage', 'bare_word'])
})

function codesListedIn(page: string): readonly string[] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|')[1]?.replaceAll('`', '').trim() ?? '')
    .filter((cell) => cell !== 'code' && !/^:?-+:?$/.test(cell))
}
