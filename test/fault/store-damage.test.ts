import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test, vi } from 'vitest'

import { LoopchartError } from '../../src/errors.ts'
import { formatFrame } from '../../src/frames/format-frame.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { openStore } from '../../src/journal/open-store.ts'
import { sampleLog } from '../journal/sample-frames.ts'
import { openedStore, tempFolder } from '../journal/store-kit.ts'
import { ManualClock } from '../manual-clock.ts'

// Real processes and files, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 })

const RUNS = ['run_1', 'run_2']
const NAMES = new Set(['log_corrupt', 'log_version', 'run_unknown', 'store_unusable'])
// Every bit would take minutes; two primes meet every page in many places.
const STRIDE = 149

/** A store with two runs, closed: all of it is in one file. */
async function makeFile(path: string): Promise<Buffer> {
  const store = openStore(path)
  for (const runId of RUNS) {
    const journal = store.create(runId, new ManualClock())
    const frames = sampleLog(runId)
    for (let at = 0; at < frames.length; at += 7) await journal.commit(frames.slice(at, at + 7))
    await journal.close()
  }
  store.close()
  return readFileSync(path)
}

/** The frames that a damaged file still gives, or the name of the error. */
function readDamaged(path: string, bytes: Uint8Array, runId: string): readonly Frame[] | string {
  for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
  writeFileSync(path, bytes)
  try {
    const store = openStore(path)
    try {
      return [...store.read(runId)]
    } finally {
      store.close()
    }
  } catch (error) {
    if (error instanceof LoopchartError && NAMES.has(error.code)) return error.code
    throw error
  }
}

const LINES = new Map(RUNS.map((runId) => [runId, sampleLog(runId).map(formatFrame).join('\n')]))

/** A name, or the whole log as it was. */
function isRight(result: readonly Frame[] | string, runId: string): boolean {
  return typeof result === 'string' || result.map(formatFrame).join('\n') === LINES.get(runId)
}

test('fault K06: a flipped bit anywhere in the file is a named error or changes nothing, and never a wrong frame', async () => {
  const folder = tempFolder()
  const bytes = await makeFile(join(folder, 'whole.db'))
  const path = join(folder, 'damaged.db')
  const found = new Map<string, number>()
  for (let at = 0, round = 0; at < bytes.length; at += STRIDE, round += 1) {
    const damaged = Buffer.from(bytes)
    damaged[at] = (damaged[at] ?? 0) ^ (1 << (round % 8))
    const runId = RUNS[round % 2] ?? ''
    const result = readDamaged(path, damaged, runId)
    expect(isRight(result, runId), `bit ${round % 8} of byte ${at}`).toBe(true)
    const name = typeof result === 'string' ? result : 'unharmed'
    found.set(name, (found.get(name) ?? 0) + 1)
  }
  expect(found.get('log_corrupt')).toBeGreaterThan(100)
})

test('fault K06: a file that is cut off anywhere is a named error, never a shorter log', async () => {
  const folder = tempFolder()
  const bytes = await makeFile(join(folder, 'whole.db'))
  const path = join(folder, 'damaged.db')
  for (let length = 0; length < bytes.length; length += 1777) {
    const results = RUNS.map((runId) => readDamaged(path, bytes.subarray(0, length), runId))
    const areRight = results.map((result, at) => isRight(result, RUNS[at] ?? ''))
    expect(areRight, `cut at ${length}`).toEqual([true, true])
    expect(results.some((result) => typeof result === 'string')).toBe(true)
  }
})

test('fault K06: damage in what is not yet part of the main file costs whole steps at most, as a crash would', async () => {
  const folder = tempFolder()
  const path = join(folder, 'whole.db')
  const frames = sampleLog('run_1')
  const store = openedStore(path)
  const journal = store.create('run_1', new ManualClock())
  for (const frame of frames) await journal.commit([frame])
  const copy = join(folder, 'copy.db')
  const wal = readFileSync(`${path}-wal`)
  for (let at = 0; at < wal.length; at += 9973) {
    rmSync(`${copy}-shm`, { force: true })
    copyFileSync(path, copy)
    const damaged = Buffer.from(wal)
    damaged[at] = (damaged[at] ?? 0) ^ 4
    writeFileSync(`${copy}-wal`, damaged)
    const reader = openStore(copy)
    const left = reader.list().length === 0 ? [] : [...reader.read('run_1')]
    expect(left).toEqual(frames.slice(0, left.length))
    reader.close()
  }
})

test('damage is told with the run and the frame, and the other runs are still read', async () => {
  const folder = tempFolder()
  const path = join(folder, 'runs.db')
  const bytes = await makeFile(path)
  // Everywhere: what was moved within the file leaves copies behind.
  const place = '"run_id":"run_1","seq":1,'
  for (let at = bytes.indexOf(place); at !== -1; at = bytes.indexOf(place, at + 1)) bytes.write('X', at + 10)
  writeFileSync(path, bytes)
  const store = openedStore(path)
  expect(() => [...store.read('run_1')]).toThrow(
    expect.objectContaining({
      code: 'log_corrupt',
      message: expect.stringMatching(/^run run_1, frame \d+: /u),
    }),
  )
  expect(() => store.take('run_1', new ManualClock())).toThrow(
    expect.objectContaining({ code: 'log_corrupt' }),
  )
  expect(store.list()).toMatchObject([{ runId: 'run_1', owner: null }, { runId: 'run_2' }])
  expect([...store.read('run_2')]).toEqual(sampleLog('run_2'))
})
