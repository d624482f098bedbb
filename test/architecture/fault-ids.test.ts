import { readdirSync, readFileSync } from 'node:fs'

import { expect, test } from 'vitest'

const tests = new URL('../', import.meta.url)

/** The faults that this release promises to withstand, by the letter of their list. T19 is about a tool that is not there. */
const FAULTS: readonly string[] = [
  ...numbered('T', 1, 22).filter((id) => id !== 'T19'),
  ...numbered('P', 1, 14),
  ...numbered('P', 20, 35),
  ...numbered('S', 1, 17),
]

test('every fault has a test that is named after it', () => {
  const titles = readdirSync(tests, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => readFileSync(new URL(path, tests), 'utf8'))
    .join('\n')
  const named = new Set([...titles.matchAll(/fault ([A-Z]\d{2})\b/gu)].map(([, id]) => id))
  expect(FAULTS.filter((id) => !named.has(id))).toEqual([])
})

function numbered(letter: string, from: number, to: number): readonly string[] {
  return Array.from({ length: to - from + 1 }, (_, at) => `${letter}${String(from + at).padStart(2, '0')}`)
}
