import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { LoopchartError } from '../../../src/errors.ts'
import { applyHunks } from '../../../src/tools/patch/apply-hunks.ts'
import { applyPatch } from '../../../src/tools/patch/apply-patch.ts'
import { parsePatch } from '../../../src/tools/patch/parse-patch.ts'
import { PatchRecords } from '../../../src/tools/patch/patch-records.ts'
import { joinText, splitText } from '../../../src/tools/patch/text-lines.ts'
import { openWorkspace } from '../../../src/tools/workspace/workspace.ts'
import { makePatch, type Files } from './make-patch.ts'
import { hashTree, makeTree } from './tree.ts'

// Few different lines, so that hunks fit at several places and context must grow.
const line = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      'a',
      'b',
      'c',
      '',
      ' a',
      '}',
      '  return',
      'é',
      '*** End Patch',
      '@@ a',
      '-',
      '+',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => text.replaceAll(/[\n\r]/g, ' ')),
  },
)

const text = (lineEnd: string): fc.Arbitrary<string> =>
  fc
    .record({ lines: fc.array(line, { maxLength: 24 }), isEnded: fc.boolean() })
    .map(({ lines, isEnded }) => lines.join(lineEnd) + (isEnded && lines.length > 0 ? lineEnd : ''))

/** A text and one that was made of it by a few edits, with the same line ends; or two that have nothing in common. */
const pair = fc.constantFrom('\n', '\r\n').chain((lineEnd) => {
  const edited = fc
    .record({
      lines: fc.array(line, { minLength: 1, maxLength: 40 }),
      edits: fc.array(fc.record({ at: fc.nat(60), drop: fc.nat(3), add: fc.array(line, { maxLength: 3 }) }), {
        maxLength: 5,
      }),
      ends: fc.tuple(fc.boolean(), fc.boolean()),
      hasBom: fc.boolean(),
    })
    .map(({ lines, edits, ends, hasBom }) => {
      const next = [...lines]
      for (const { at, drop, add } of edits) next.splice(at % (next.length + 1), drop, ...add)
      const write = (all: readonly string[], isEnded: boolean): string =>
        `${hasBom ? '\u{FEFF}' : ''}${all.join(lineEnd)}${isEnded && all.length > 0 ? lineEnd : ''}`
      return { old: write(lines, ends[0]), next: write(next, ends[1]) }
    })
  const unrelated = fc.record({ old: text(lineEnd), next: text(lineEnd) })
  return fc.oneof({ weight: 3, arbitrary: edited }, { weight: 1, arbitrary: unrelated })
})

function applied(old: string, patch: string): string {
  const [section] = parsePatch(patch).sections
  if (section?.kind !== 'update') throw new TypeError('the patch has no update')
  return applyHunks('f', old, section.hunks)
}

test('taken apart and put together, any text is the same', () => {
  const piece = fc.constantFrom('a', '\n', '\r\n', '\r', '\u{FEFF}', 'é')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const given = pieces.join('')
      expect(joinText(splitText(given))).toBe(given)
    }),
    { numRuns: 3000 },
  )
})

test('applying the difference of two texts to the old one gives the new one, byte for byte', () => {
  let updates = 0
  fc.assert(
    fc.property(pair, ({ old, next }) => {
      const patch = makePatch({ f: old }, { f: next })
      if (patch === null) return
      updates += 1
      expect(applied(old, patch)).toBe(next)
    }),
    { numRuns: 3000 },
  )
  expect(updates).toBeGreaterThan(2000)
})

const withLf = (given: string): string => given.replaceAll('\r\n', '\n')

const endsOf = (given: string): ReadonlySet<string> => new Set(given.match(/\r?\n/g))

test('with mixed line ends, lines that stay keep theirs, and no kind of line end is invented', () => {
  const mixed = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n')), { minLength: 1, maxLength: 24 })
  fc.assert(
    fc.property(mixed, fc.array(line, { maxLength: 24 }), (rows, lines) => {
      const old = rows.map((row) => row.join('')).join('')
      const next = lines.map((each) => `${each}\n`).join('')
      const patch = makePatch({ f: withLf(old) }, { f: next })
      if (patch === null) return
      const result = applied(old, patch)
      const differing = rows.findIndex(([each], at) => each !== lines[at])
      const kept = rows.slice(0, differing === -1 ? rows.length : differing)
      expect(withLf(result)).toBe(next)
      expect(result.startsWith(kept.map((row) => row.join('')).join(''))).toBe(true)
      expect([...endsOf(result)].filter((end) => !endsOf(old).has(end))).toEqual([])
    }),
    { numRuns: 1000 },
  )
})

const PATHS = ['a.txt', 'b.txt', 'd/c.txt', 'd/e/f.txt', 'new.txt'] as const

const trees = fc
  .tuple(
    ...PATHS.map(() =>
      fc.oneof(
        pair,
        pair.map(({ old }) => ({ old, next: null })),
        pair.map(({ next }) => ({ old: null, next })),
      ),
    ),
  )
  .map((pairs): { before: Files; after: Files } => ({
    before: Object.fromEntries(PATHS.map((path, at) => [path, pairs[at]?.old ?? null])),
    after: Object.fromEntries(PATHS.map((path, at) => [path, pairs[at]?.next ?? null])),
  }))

const signal = new AbortController().signal

test('applied to files, a patch of several files gives exactly the new files', async () => {
  await fc.assert(
    fc.asyncProperty(trees, async ({ before, after }) => {
      const patch = makePatch(before, after)
      if (patch === null) return
      const root = await makeTree(before)
      const host = { workspace: await openWorkspace(root), records: new PatchRecords(await makeTree({})) }
      await applyPatch(host, parsePatch(patch), { key: 'k', signal })
      for (const path of PATHS) {
        const found = await readFile(join(root, path), 'utf8').catch(() => null)
        expect(found).toBe(after[path] ?? null)
      }
    }),
    { numRuns: 60 },
  )
})

test('fault T17: a patch of several files with one hunk that does not fit changes nothing on disk', async () => {
  let refused = 0
  await fc.assert(
    fc.asyncProperty(trees, fc.nat(), async ({ before, after }, seed) => {
      const patch = makePatch(before, after)
      const broken = patch === null ? null : breakOneLine(patch, seed)
      if (broken === null) return
      const root = await makeTree(before)
      const state = await makeTree({})
      const host = { workspace: await openWorkspace(root), records: new PatchRecords(join(state, 'patches')) }
      const hashBefore = await hashTree(root)
      const failure = await applyPatch(host, parsePatch(broken), { key: 'k', signal }).catch(
        (error: unknown) => error,
      )
      expect(failure).toBeInstanceOf(LoopchartError)
      expect((failure as LoopchartError).code).toBe('patch_conflict')
      expect(await hashTree(root)).toBe(hashBefore)
      expect(await hashTree(state)).toBe(await hashTree(await makeTree({})))
      refused += 1
    }),
    { numRuns: 100 },
  )
  expect(refused).toBeGreaterThan(50)
})

/** The same patch with one old line of an update that no file has; null when it has no old line. */
function breakOneLine(patch: string, seed: number): string | null {
  const lines = patch.split('\n')
  const inHunk = (at: number): boolean =>
    lines
      .slice(0, at)
      .findLast((each) => each.startsWith('*** '))
      ?.startsWith('*** Update') === true
  const old = lines.flatMap((each, at) => (/^[ -]/.test(each) && inHunk(at) ? [at] : []))
  const at = old[seed % Math.max(1, old.length)]
  if (at === undefined) return null
  lines[at] = `${lines[at]} that no file has`
  return lines.join('\n')
}
