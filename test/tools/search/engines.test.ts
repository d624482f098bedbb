import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'

import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import type { JsonObject } from '../../../src/protocol/json.ts'
import { translatePattern } from '../../../src/tools/search/translate-pattern.ts'
import { anyArguments, anyTree } from './arbitrary-search.ts'
import { grepBoth, makeFolder, needRipgrep, writeTree } from './grep-in.ts'

// A search takes some milliseconds in each engine; SEARCH_RUNS is for those who want to look longer.
const RUNS = Number(process.env['SEARCH_RUNS'] ?? 30)

test(
  'ripgrep and RE2 give the same bytes on any tree for any pattern',
  { timeout: 30_000 + RUNS * 1000 },
  async (context) => {
    const program = await needRipgrep(context)
    const counts = { searches: 0, found: 0 }
    const calls = fc.array(anyArguments, { minLength: 4, maxLength: 8, size: 'max' })
    const property = fc.asyncProperty(anyTree, calls, async (tree, calls) => {
      const folder = makeFolder()
      try {
        writeTree(folder, tree)
        for (const args of calls) {
          const text = await grepBoth(folder, args)
          if (text.startsWith('pattern_invalid')) continue
          expect(isTaken(program, args), `ripgrep takes ${JSON.stringify(args)}`).toBe(true)
          counts.searches += 1
          if (text !== '[no line matches]\n') counts.found += 1
        }
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    })
    await fc.assert(property, { numRuns: RUNS })
    // Or the test would say nothing.
    expect(counts.found).toBeGreaterThan(counts.searches / 10)
  },
)

/** Or the tool would do with RE2 what ripgrep refuses, and would be compared with itself. */
function isTaken(program: string, { pattern, literal, ignore_case }: JsonObject): boolean {
  const { ripgrep } = translatePattern(pattern as string, {
    isLiteral: literal === true,
    isCaseIgnored: ignore_case === true,
  })
  return spawnSync(program, ['--regex-size-limit=100M', '-e', ripgrep, '/dev/null']).status !== 2
}
