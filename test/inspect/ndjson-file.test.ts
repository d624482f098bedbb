import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { inspectionOf } from '../../src/inspect/inspection.ts'
import { ndjsonFile } from '../../src/inspect/ndjson-file.ts'
import { tempFolder } from '../journal/store-kit.ts'
import { readLog } from '../replay/read-log.ts'
import { written } from './inspect-kit.ts'

const EVENTS = [...inspectionOf(readLog('calls-and-approval'))]

test('a file has every event on a line of its own, and only its owner may read it', () => {
  const path = join(tempFolder(), 'run.ndjson')
  const file = ndjsonFile(path)
  for (const event of EVENTS) file.inspect(event)
  // Before it is closed: a process that dies now leaves all of it.
  expect(linesOf(path)).toEqual(written(EVENTS))
  file.close()
  file.close()
  expect(linesOf(path)).toEqual(written(EVENTS))
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('an earlier stream in the file is gone, its readers too, and nothing is written once it is closed', () => {
  const path = join(tempFolder(), 'run.ndjson')
  writeFileSync(path, 'earlier\n', { mode: 0o644 })
  const file = ndjsonFile(path)
  for (const event of EVENTS.slice(0, 2)) file.inspect(event)
  file.close()
  for (const event of EVENTS) file.inspect(event)
  expect(linesOf(path)).toEqual(written(EVENTS.slice(0, 2)))
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('a file that cannot be opened is refused at once', () => {
  expect(() => ndjsonFile(join(tempFolder(), 'none', 'run.ndjson'))).toThrow(
    expect.objectContaining({ code: 'output_unwritable' }),
  )
})

test.skipIf(!existsSync('/dev/full'))(
  'a disk that is full does not stop a run, and is told of at the end',
  () => {
    const file = ndjsonFile('/dev/full')
    for (const event of EVENTS) file.inspect(event)
    expect(() => file.close()).toThrow(expect.objectContaining({ code: 'output_unwritable' }))
  },
)

function linesOf(path: string): readonly unknown[] {
  const text = readFileSync(path, 'utf8')
  expect(text.endsWith('\n')).toBe(true)
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
}
