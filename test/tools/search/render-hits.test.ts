import { rmSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { renderHits } from '../../../src/tools/search/render-hits.ts'
import { openWorkspace } from '../../../src/tools/workspace/workspace.ts'
import { makeFolder, writeTree } from './grep-in.ts'

const SETTINGS = { contextLines: 0, hitsMax: 100, signal: new AbortController().signal }

function hit(line: number, text: string): { line: number; bytes: Uint8Array } {
  return { line, bytes: Buffer.from(text) }
}

test('a line is shown only if it is in the file that the path leads to now', async () => {
  const folder = makeFolder()
  writeTree(folder, { 'a.txt': 'one\ntwo\n', 'b.txt': 'one\n' })
  const workspace = await openWorkspace(folder)
  rmSync(join(folder, 'b.txt'))
  const files = [
    { path: 'a.txt', hits: [hit(1, 'one'), hit(2, 'something else'), hit(3, 'two')] },
    { path: 'b.txt', hits: [hit(1, 'one')] },
  ]
  expect(await renderHits(workspace, files, SETTINGS)).toEqual(['a.txt:1:one'])
})

test('what is not UTF-8 in the lines around is shown as U+FFFD', async () => {
  const folder = makeFolder()
  writeTree(folder, { a: Buffer.from([0xff, 0x0a, 0x78, 0x0a]) })
  const files = [{ path: 'a', hits: [hit(2, 'x')] }]
  const text = await renderHits(await openWorkspace(folder), files, { ...SETTINGS, contextLines: 1 })
  expect(text).toEqual(['a-1-\u{FFFD}\na:2:x'])
})
