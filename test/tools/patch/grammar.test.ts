import { expect, test } from 'vitest'

import { LoopchartError } from '../../../src/errors.ts'
import { parsePatch } from '../../../src/tools/patch/parse-patch.ts'
import { planChanges } from '../../../src/tools/patch/plan-changes.ts'
import { resolvePatch } from '../../../src/tools/patch/resolve-patch.ts'
import { parseWorkspacePath } from '../../../src/tools/workspace/workspace-path.ts'
import type { Workspace } from '../../../src/tools/workspace/workspace.ts'
import { CONFLICT_CASES } from './conflict-cases.ts'
import { FILE_CASES } from './file-cases.ts'
import { INVALID_CASES } from './invalid-cases.ts'
import { UPDATE_CASES } from './update-cases.ts'

const WORKSPACE = { parse: parseWorkspacePath } as Workspace

function apply(files: Readonly<Record<string, string>>, patch: string): Record<string, string | null> {
  const contents = new Map(
    Object.entries(files).map(([path, text]) => [path, { bytes: Buffer.from(text), mode: 0o644 }]),
  )
  const changes = planChanges(resolvePatch(WORKSPACE, parsePatch(patch)), contents)
  return Object.fromEntries(changes.map(({ path, after }) => [path.path, after?.bytes.toString() ?? null]))
}

function refusalOf(work: () => unknown): { code: string; message: string } {
  try {
    work()
  } catch (error) {
    if (error instanceof LoopchartError) return { code: error.code, message: error.message }
    throw error
  }
  return { code: 'none', message: 'it was accepted' }
}

const toCrlf = (text: string): string => text.replaceAll('\n', '\r\n')
const withoutFinal = (text: string): string => text.replace(/\r?\n$/, '')

interface Variant {
  readonly name: string
  readonly file: (text: string) => string
  readonly patch: (text: string) => string
}

const same = (text: string): string => text

const VARIANTS: readonly Variant[] = [
  { name: 'LF', file: same, patch: same },
  { name: 'CRLF', file: toCrlf, patch: same },
  { name: 'LF, no final newline', file: withoutFinal, patch: same },
  { name: 'CRLF, no final newline', file: (text) => withoutFinal(toCrlf(text)), patch: same },
  { name: 'byte order mark', file: (text) => `\u{FEFF}${text}`, patch: same },
  { name: 'patch in CRLF', file: same, patch: toCrlf },
]

test('the table has at least 300 cases, and no two of a list have the same title', () => {
  const lists = [UPDATE_CASES, FILE_CASES, INVALID_CASES, CONFLICT_CASES]
  for (const list of lists) expect(new Set(list.map(([title]) => title)).size).toBe(list.length)
  const own = lists.reduce((sum, { length }) => sum + length, 0)
  expect(own + UPDATE_CASES.length * (VARIANTS.length - 1)).toBeGreaterThanOrEqual(300)
})

for (const { name, file, patch } of VARIANTS) {
  test.each(UPDATE_CASES)(`${name}: %s`, (_, old, body, updated) => {
    const text = patch(`*** Begin Patch\n*** Update File: f\n${body}\n*** End Patch`)
    expect(apply({ f: file(old) }, text)).toEqual({ f: file(updated) })
  })
}

test.each(FILE_CASES)('%s', (_, files, patch, changed) => {
  expect(apply(files, patch)).toEqual(changed)
})

test.each(INVALID_CASES)('refused: %s', (_, patch, message) => {
  const refusal = refusalOf(() => apply({ f: 'a\n' }, patch))
  expect(refusal.message).toContain(message)
  expect(refusal.code).toBe('patch_invalid')
})

test.each(CONFLICT_CASES)('does not fit: %s', (_, files, body, code, message) => {
  const refusal = refusalOf(() => apply(files, `*** Begin Patch\n${body}\n*** End Patch`))
  expect(refusal.message).toContain(message)
  expect(refusal.code).toBe(code)
})

test('a file that is not valid UTF-8 cannot be updated, but moved and deleted', () => {
  const contents = new Map([['f', { bytes: Buffer.from([0x61, 0xff, 0x0a]), mode: 0o644 }]])
  const plan = (body: string): unknown =>
    planChanges(resolvePatch(WORKSPACE, parsePatch(`*** Begin Patch\n${body}\n*** End Patch`)), contents)
  expect(refusalOf(() => plan('*** Update File: f\n-a\n+b'))).toEqual({
    code: 'patch_conflict',
    message: 'f (patch line 2) is not a text file: it is not valid UTF-8',
  })
  expect(plan('*** Update File: f\n*** Move to: g')).toMatchObject([
    { after: { bytes: Buffer.from([0x61, 0xff, 0x0a]) } },
    { after: null },
  ])
  expect(plan('*** Delete File: f')).toMatchObject([{ after: null }])
})

test('a hunk of many equal lines in a file of many more is refused in linear time', () => {
  const patch = `*** Begin Patch\n*** Update File: f\n@@\n${' a\n'.repeat(100_000)}-b\n*** End Patch`
  const refusal = refusalOf(() => apply({ f: 'a\n'.repeat(400_000) }, patch))
  expect(refusal.message).toContain('line 100001: expected "b", found "a"')
})
