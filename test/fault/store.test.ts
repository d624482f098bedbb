import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, test, vi } from 'vitest'

import { agent } from '../../src/agent.ts'
import { LoopchartError } from '../../src/errors.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { openStore, type SqliteStore } from '../../src/journal/open-store.ts'
import type { AroundWrite } from '../../src/journal/store-file.ts'
import { restoreRun } from '../../src/loop/restore-run.ts'
import { run } from '../../src/loop/run.ts'
import { sampleLog } from '../journal/sample-frames.ts'
import { openedStore, tempFolder } from '../journal/store-kit.ts'
import { ManualClock } from '../manual-clock.ts'
import { need } from '../need.ts'
import {
  ADD,
  callsAnswer,
  everythingElse,
  scriptedModel,
  textAnswer,
  watchedTool,
} from '../scripted-model.ts'

// Real processes and files, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 })

const SQLITE_IOERR_FSYNC = 1034
const SQLITE_FULL = 13

/** Fails the n-th statement that writes, before it is done or after: then nobody knows whether it was. */
function failingAt(n: number, when: 'before' | 'after', errcode: number): AroundWrite {
  let count = 0
  return (_, execute) => {
    count += 1
    const error = Object.assign(new Error('disk error'), { code: 'ERR_SQLITE_ERROR', errcode })
    if (count === n && when === 'before') throw error
    const result = execute()
    if (count === n) throw error
    return result
  }
}

interface Attempt {
  readonly code: string | null
  readonly shown: readonly Frame[]
  readonly sent: number
  readonly ran: number
}

/** One turn with a call, one with the answer; what came of it, and what the world saw. */
async function attempt(store: SqliteStore): Promise<Attempt> {
  const model = scriptedModel([callsAnswer(1, [ADD]), textAnswer(2, 'it is 5')])
  const { tool, ran } = watchedTool('add')
  const made = agent({ model, tools: [tool], clock: new ManualClock(), random: () => 0.5 })
  const shown: Frame[] = []
  let code: string | null = null
  try {
    const live = run(made, 'what is 2+3?', { runId: 'run_1', store })
    for await (const frame of live) shown.push(frame)
    await live.result
  } catch (error) {
    code = error instanceof LoopchartError ? error.code : String(error)
  }
  await everythingElse()
  return { code, shown, sent: model.sent.length, ran: ran.length }
}

async function countWrites(): Promise<number> {
  let count = 0
  const path = join(tempFolder(), 'runs.db')
  const store = openedStore(path, {
    aroundWrite: (_, execute) => {
      count += 1
      return execute()
    },
  })
  expect(await attempt(store)).toMatchObject({ code: null, sent: 2, ran: 1 })
  return count
}

test.for([
  ['K04', 'before', SQLITE_FULL, 'store_full'],
  ['K04', 'after', SQLITE_FULL, 'store_full'],
  ['K05', 'before', SQLITE_IOERR_FSYNC, 'store_unusable'],
  ['K05', 'after', SQLITE_IOERR_FSYNC, 'store_unusable'],
] as const)(
  'fault %s: a run stops by name at a write that fails, whichever it is, and nothing that was shown is lost (%s, %i)',
  async ([, when, errcode, expected]) => {
    const writes = await countWrites()
    expect(writes).toBeGreaterThan(20)
    const codes = new Set<string | null>()
    for (let n = 1; n <= writes; n += 1) {
      const path = join(tempFolder(), 'runs.db')
      const store = openStore(path, { aroundWrite: failingAt(n, when, errcode) })
      const { code, shown, sent, ran } = await attempt(store)
      codes.add(code)
      store.close()
      const again = openStore(path)
      const stored = again.list().length === 0 ? [] : [...again.read('run_1')]
      expect(stored.slice(0, shown.length), `write ${n}`).toEqual(shown)
      // What was launched had been written and shown.
      expect(sent).toBeLessThanOrEqual(shown.filter(({ type }) => type === 'request_sent').length)
      expect(ran).toBeLessThanOrEqual(shown.filter(({ type }) => type === 'tool_started').length)
      expect(await lastRestored(again)).toBe(stored.length - 1)
      again.close()
    }
    // The last writes give the run back, after it has ended: a failure there ends nothing.
    expect(codes).toEqual(new Set([expected, null]))
  },
)

/** Takes the run up and folds its log; -1: there is none. */
async function lastRestored(store: SqliteStore): Promise<number> {
  if (store.list().length === 0) return -1
  const { journal, frames } = store.take('run_1', new ManualClock())
  await journal.close()
  return restoreRun(frames).last.seq
}

test('fault K04: on a disk that is full, a run stops, keeps what was shown, and goes on when there is room', (context) => {
  need(context, 'root')
  const folder = tempFolder()
  const child = fileURLToPath(new URL('../journal/full-disk-child.ts', import.meta.url))
  const printed = onDisk('size=2m', folder, [process.execPath, child, folder])
  const { published, whileFull, ...rest } = JSON.parse(printed) as Record<string, number>
  expect(rest).toEqual({
    stop: 'store_full',
    after: 'store_full',
    next: 'store_full',
    isWhole: true,
    resumed: 1,
  })
  expect(published).toBeGreaterThan(10)
  expect(whileFull).toBeGreaterThanOrEqual(published ?? 0)
})

test('fault K13: a place that cannot be written to is refused before anything is sent', async () => {
  const folder = tempFolder()
  writeFileSync(join(folder, 'file'), '')
  expect(() => openStore(join(folder, 'file', 'runs.db'))).toThrow(
    expect.objectContaining({ code: 'store_unusable' }),
  )
  mkdirSync(join(folder, 'runs.db'))
  expect(() => openStore(join(folder, 'runs.db'))).toThrow(
    expect.objectContaining({ code: 'store_unusable' }),
  )
  const store = openedStore(join(folder, 'other.db'), { aroundWrite: failingAt(1, 'before', 8) })
  expect(await attempt(store)).toEqual({ code: 'store_unusable', shown: [], sent: 0, ran: 0 })
})

/** What opening stores in a folder that may only be read says. Root may write anywhere but where nobody can. */
function refusalsOfReadOnly(folder: string): readonly string[] {
  const url = new URL('../../src/journal/open-store.ts', import.meta.url).href
  const code = `const { openStore } = await import('${url}')
    for (const path of ['/runs.db', '/new/runs.db']) {
      try { openStore(process.argv[1] + path) } catch ({ code, message }) { console.log(code, /EROFS|EACCES/.test(message)) }
    }`
  const open = [process.execPath, '--input-type=module', '-e', code, folder]
  const isRoot = process.getuid?.() === 0
  if (!isRoot) chmodSync(folder, 0o500)
  const [file = '', ...args] = open
  const printed = isRoot ? onDisk('ro', folder, open) : execFileSync(file, args, { encoding: 'utf8' })
  return printed.trim().split('\n')
}

/** Runs a command with a disk of its own in a folder, which only root can make. */
function onDisk(options: string, folder: string, command: readonly string[]): string {
  const mount = `mount -t tmpfs -o ${options} tmpfs "$0" && exec "$@"`
  const [file, ...args] = ['unshare', '-m', 'sh', '-c', mount, folder, ...command]
  return execFileSync(file, args, { encoding: 'utf8' })
}

test('fault K13: a folder that may only be read is refused before anything is sent', () => {
  expect(refusalsOfReadOnly(tempFolder())).toEqual(['store_unusable true', 'store_unusable true'])
})

test('fault K05: a store that failed is opened anew by its next use', async () => {
  const path = join(tempFolder(), 'runs.db')
  const frames = sampleLog('run_1')
  let isBroken = false
  const store = openedStore(path, {
    aroundWrite: (sql, execute) => {
      if (isBroken && sql === 'COMMIT') {
        throw Object.assign(new Error('disk error'), {
          code: 'ERR_SQLITE_ERROR',
          errcode: SQLITE_IOERR_FSYNC,
        })
      }
      return execute()
    },
  })
  const journal = store.create('run_1', new ManualClock())
  const other = store.create('run_2', new ManualClock())
  await journal.commit(frames.slice(0, 10))
  isBroken = true
  await expect(journal.commit(frames.slice(10, 20))).rejects.toMatchObject({ code: 'store_unusable' })
  // What the other run wrote and was not synced may be lost with this: it is not trusted either.
  await expect(other.commit(sampleLog('run_2'))).rejects.toMatchObject({ code: 'store_unusable' })
  expect(journal.log.frames).toHaveLength(10)
  isBroken = false
  await expect(journal.commit(frames.slice(10, 20))).rejects.toMatchObject({ code: 'store_unusable' })
  await journal.close()
  const taken = store.take('run_1', new ManualClock())
  expect(taken.frames).toEqual(frames.slice(0, 10))
  await taken.journal.commit(frames.slice(10))
  expect([...store.read('run_1')]).toEqual(frames)
})
