import { execFileSync } from 'node:child_process'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { afterEach, expect, test, vi } from 'vitest'

import { FrameStamp } from '../../src/frames/frame-stamp.ts'
import { defaultStorePath } from '../../src/journal/default-store-path.ts'
import { openStore } from '../../src/journal/open-store.ts'
import { ManualClock } from '../manual-clock.ts'
import { everythingElse } from '../scripted-model.ts'
import { deltaFrame, endedFrame, sampleLog, stateFrame } from './sample-frames.ts'
import { beginLog, collect, openedStore, tempFolder, tempStore } from './store-kit.ts'

// Real processes and files, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 })

const clock = new ManualClock()

afterEach(() => void vi.useRealTimers())

test('what was committed and observed is read back by another store, letter for letter', async () => {
  const store = tempStore()
  const frames = sampleLog('run_1')
  const journal = store.create('run_1', clock)
  await journal.commit(frames.slice(0, 3))
  for (const frame of frames.slice(3, -2)) journal.observe(frame)
  await journal.commit(frames.slice(-2))
  await journal.close()
  expect([...openedStore(store.path).read('run_1')]).toEqual(frames)
})

test('a frame is in the file before a reader sees it', async () => {
  const store = tempStore()
  const other = openedStore(store.path)
  const { stamp, started } = beginLog('run_1')
  const journal = store.create('run_1', clock)
  const seen = (async () => {
    const stored: boolean[] = []
    for await (const { seq } of journal.log.read()) stored.push([...other.read('run_1')].length > seq)
    return stored
  })()
  await journal.commit([started])
  for (let at = 0; at < 5; at += 1) {
    journal.observe(deltaFrame(stamp, 'a'))
    await everythingElse()
  }
  const committed = journal.commit([deltaFrame(stamp, 'b'), deltaFrame(stamp, 'c')])
  expect(journal.log.frames).toHaveLength(6)
  await committed
  expect(journal.log.frames).toHaveLength(8)
  await journal.close()
  expect(await seen).toEqual(Array.from({ length: 8 }, () => true))
})

test('observations are written within the turn, before the frames of a commit that follows', async () => {
  const store = tempStore()
  const { stamp, started } = beginLog('run_1')
  const journal = store.create('run_1', clock)
  await journal.commit([started])
  journal.observe(deltaFrame(stamp, 'a'))
  expect([...store.read('run_1')]).toHaveLength(1)
  await everythingElse()
  expect([...store.read('run_1')]).toHaveLength(2)
  journal.observe(deltaFrame(stamp, 'b'))
  await journal.commit([deltaFrame(stamp, 'c')])
  expect([...store.read('run_1')].map(({ seq }) => seq)).toEqual([0, 1, 2, 3])
})

test('what is to be done once readers were shown something waits until it is written, or cannot be', async () => {
  let isFull = false
  const store = tempStore({
    aroundWrite: (_, execute) => {
      if (isFull) throw new Error('no space')
      return execute()
    },
  })
  const { stamp, started } = beginLog('run_1')
  const journal = store.create('run_1', clock)
  const shown: number[] = []
  const note = (): void => void shown.push(journal.log.length)
  journal.whenShown?.(note)
  expect(shown).toEqual([0])
  const committed = journal.commit([started])
  journal.whenShown?.(note)
  expect(shown).toEqual([0])
  await committed
  expect(shown).toEqual([0, 1])
  isFull = true
  journal.observe(deltaFrame(stamp, 'a'))
  journal.whenShown?.(note)
  await everythingElse()
  expect(shown).toEqual([0, 1, 1])
})

test('runs that commit in one turn share one transaction', async () => {
  const statements: string[] = []
  const store = tempStore({
    aroundWrite: (sql, execute) => {
      statements.push(sql)
      return execute()
    },
  })
  const journals = Array.from({ length: 20 }, (_, at) => store.create(`run_${at}`, clock))
  statements.length = 0
  await Promise.all(journals.map((journal, at) => journal.commit([beginLog(`run_${at}`).started])))
  expect(statements.filter((sql) => sql === 'COMMIT')).toHaveLength(1)
  expect(store.list()).toHaveLength(20)
})

test('what nobody waits for is synced within 50 ms', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let syncs = 0
  const store = tempStore({
    aroundWrite: (sql, execute) => {
      if (sql.includes('syncs')) syncs += 1
      return execute()
    },
  })
  const { stamp, started } = beginLog('run_1')
  const journal = store.create('run_1', clock)
  await journal.commit([started])
  journal.observe(deltaFrame(stamp, 'a'))
  await everythingElse()
  vi.advanceTimersByTime(49)
  expect(syncs).toBe(0)
  vi.advanceTimersByTime(1)
  expect(syncs).toBe(1)
  journal.observe(deltaFrame(stamp, 'b'))
  await journal.commit([deltaFrame(stamp, 'c')])
  vi.advanceTimersByTime(500)
  expect(syncs).toBe(1)
})

test('a run is not trusted any more when what it wrote cannot be synced', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const store = tempStore({
    aroundWrite: (sql, execute) => {
      if (sql.includes('syncs')) throw new Error('fsync failed')
      return execute()
    },
  })
  const { stamp, started } = beginLog('run_1')
  const journal = store.create('run_1', clock)
  await journal.commit([started])
  const next = journal.next()
  journal.observe(deltaFrame(stamp, 'a'))
  await everythingElse()
  vi.advanceTimersByTime(50)
  await expect(next).rejects.toMatchObject({ code: 'store_unusable' })
  let isLaunched = false
  journal.start('late', () => {
    isLaunched = true
    return Promise.resolve()
  })
  await expect(journal.next()).rejects.toMatchObject({ code: 'store_unusable' })
  await journal.close()
  expect(isLaunched).toBe(false)
})

test('a list says of each run where it is and who drives it', async () => {
  const store = tempStore()
  const { stamp, started } = beginLog('run_1')
  const journal = store.create('run_1', clock)
  await journal.commit([started, stateFrame(stamp, 'working.executing.running', 2)])
  const owner = { pid: process.pid, host: expect.any(String), since: clock.now() }
  const listed = {
    runId: 'run_1',
    kind: 'run',
    startedAt: 1_000_000,
    updatedAt: 1_000_000,
    state: 'working.executing.running',
    status: 'open',
    turn: 2,
    model: 'sample-1',
    frames: 2,
  }
  expect(openedStore(store.path).list()).toEqual([{ ...listed, owner }])
  await journal.commit([endedFrame(stamp, 'done')])
  await journal.close()
  expect(store.list()).toEqual([{ ...listed, state: 'done', status: 'ended', frames: 3, owner: null }])
})

test('a run that is taken up has its frames, and goes on where its log ends', async () => {
  const store = tempStore()
  const frames = sampleLog('run_1')
  const first = store.create('run_1', clock)
  await first.commit(frames.slice(0, 30))
  await first.close()
  const taken = store.take('run_1', clock)
  expect(taken.frames).toEqual(frames.slice(0, 30))
  expect(taken.journal.log.frames).toEqual(frames.slice(0, 30))
  await taken.journal.commit(frames.slice(30))
  await taken.journal.close()
  expect(await collect(taken.journal.log.read())).toEqual(frames)
  expect([...openedStore(store.path).read('run_1')]).toEqual(frames)
})

test('an id that is taken, and one that is not there, are refused by name', async () => {
  const store = tempStore()
  const journal = store.create('run_1', clock)
  expect(() => store.create('run_1', clock)).toThrow(expect.objectContaining({ code: 'run_exists' }))
  await journal.commit([beginLog('run_1').started])
  await journal.close()
  expect(() => store.create('run_1', clock)).toThrow(expect.objectContaining({ code: 'run_exists' }))
  expect(() => store.take('run_2', clock)).toThrow(expect.objectContaining({ code: 'run_unknown' }))
  expect(() => [...store.read('run_2')]).toThrow(expect.objectContaining({ code: 'run_unknown' }))
})

test('a run that ended before its first frame leaves nothing behind', async () => {
  const store = tempStore()
  await store.create('run_1', clock).close()
  expect(store.list()).toEqual([])
  expect(() => store.take('run_1', clock)).toThrow(expect.objectContaining({ code: 'run_unknown' }))
  const journal = store.create('run_1', clock)
  await journal.commit([beginLog('run_1').started])
  expect(store.list()).toHaveLength(1)
})

test('a frame that is not the next of its run is not written', async () => {
  const store = tempStore()
  const { stamp, started } = beginLog('run_1')
  const journal = store.create('run_1', clock)
  await journal.commit([started])
  stamp.seq()
  await expect(journal.commit([deltaFrame(stamp, 'a')])).rejects.toThrow('frame 2 of run_1 is not the next')
  expect([...store.read('run_1')]).toHaveLength(1)
})

test('only its owner may read the file and the folder that was made for it', async () => {
  const folder = join(tempFolder(), 'new', 'loopchart')
  const store = openedStore(join(folder, 'runs.db'))
  await store.create('run_1', clock).commit([beginLog('run_1').started])
  const modes = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777] as const)
  expect(Object.fromEntries(modes)).toEqual({
    'runs.db': 0o600,
    'runs.db-wal': 0o600,
    'runs.db-shm': 0o600,
    'runs.db-leases': 0o700,
  })
  expect([statSync(folder).mode & 0o777, statSync(dirname(folder)).mode & 0o777]).toEqual([0o700, 0o700])
})

test('a store that is closed leaves one file and an empty folder of leases', async () => {
  const folder = tempFolder()
  const store = openStore(join(folder, 'runs.db'))
  await store.create('run_1', clock).commit([beginLog('run_1').started])
  store.close()
  store.close()
  expect(new Set(readdirSync(folder, { recursive: true, encoding: 'utf8' }))).toEqual(
    new Set(['runs.db', 'runs.db-leases']),
  )
  expect(() => store.list()).toThrow(expect.objectContaining({ code: 'store_unusable' }))
})

test('fault K12: a store of a newer release and a file without a version are refused by name and left alone', () => {
  const folder = tempFolder()
  const newer = join(folder, 'newer.db')
  openStore(newer).close()
  const database = new DatabaseSync(newer)
  database.exec('UPDATE store SET version = 2')
  database.close()
  expect(() => openStore(newer)).toThrow(
    expect.objectContaining({ code: 'log_version', message: expect.stringContaining('version 2') }),
  )
  const foreign = join(folder, 'foreign.db')
  const other = new DatabaseSync(foreign)
  other.exec('CREATE TABLE store (name TEXT); CREATE TABLE notes (text TEXT)')
  other.close()
  const empty = join(folder, 'empty.db')
  writeFileSync(empty, '')
  const before = readdirSync(folder).map((name) => statSync(join(folder, name)).size)
  for (const path of [foreign, empty]) {
    expect(() => openStore(path)).toThrow(expect.objectContaining({ code: 'log_version' }))
  }
  expect(readdirSync(folder).map((name) => statSync(join(folder, name)).size)).toEqual(before)
})

test('a file that is not a database is refused and left alone', () => {
  const path = join(tempFolder(), 'notes.txt')
  writeFileSync(path, 'notes '.repeat(500))
  expect(() => openStore(path)).toThrow(expect.objectContaining({ code: 'log_corrupt' }))
  expect(statSync(path).size).toBe(3000)
})

test('the changes of a store whose main file is gone are not taken for those of a new one', () => {
  const path = join(tempFolder(), 'runs.db')
  writeFileSync(`${path}-wal`, 'left over')
  expect(() => openStore(path)).toThrow(expect.objectContaining({ code: 'store_unusable' }))
})

test('runs are kept under the state folder of the user by default', () => {
  expect(defaultStorePath({ XDG_STATE_HOME: '/state' })).toBe('/state/loopchart/runs.db')
  expect(defaultStorePath({ HOME: '/home/a' })).toBe('/home/a/.local/state/loopchart/runs.db')
  expect(defaultStorePath({ HOME: '/home/a', XDG_STATE_HOME: 'not/absolute' })).toBe(
    '/home/a/.local/state/loopchart/runs.db',
  )
})

/** Whether a process that imports a file, and does something with it, has loaded SQLite. */
function loadsSqlite(file: string, then = ''): boolean {
  const url = new URL(`../../src/${file}`, import.meta.url).href
  const code = `const m = await import('${url}'); ${then}; console.log(process.moduleLoadList.some((name) => /sqlite/.test(name)))`
  const args = ['--input-type=module', '-e', code]
  return execFileSync(process.execPath, args, { encoding: 'utf8' }).trim() === 'true'
}

test('SQLite is loaded by the first store and not before', () => {
  const path = join(tempFolder(), 'runs.db')
  expect(loadsSqlite('index.ts')).toBe(false)
  expect(loadsSqlite('journal/open-store.ts')).toBe(false)
  expect(loadsSqlite('journal/open-store.ts', `m.openStore(${JSON.stringify(path)}).close()`)).toBe(true)
})

test('frames of one run are not those of another with the same store', async () => {
  const store = tempStore()
  const logs = ['run_1', 'run_2', 'run_3'].map(sampleLog)
  const journals = ['run_1', 'run_2', 'run_3'].map((runId) => store.create(runId, clock))
  await Promise.all(journals.map((journal, at) => journal.commit(logs[at] ?? [])))
  expect(['run_1', 'run_2', 'run_3'].map((runId) => [...store.read(runId)])).toEqual(logs)
})

test('a journal that is closed takes nothing more', async () => {
  const store = tempStore()
  const stamp = new FrameStamp('run_1', () => 0)
  const journal = store.create('run_1', clock)
  await journal.commit([beginLog('run_1').started])
  await journal.close()
  await journal.close()
  stamp.seq()
  journal.observe(deltaFrame(stamp, 'late'))
  await everythingElse()
  await expect(journal.commit([deltaFrame(stamp, 'late')])).rejects.toMatchObject({ code: 'store_unusable' })
  expect([...store.read('run_1')]).toHaveLength(1)
})

test('a journal that has failed writes nothing of what it had not written, and what it wrote is whole', async () => {
  const store = tempStore()
  const { stamp, started } = beginLog('run_1')
  const journal = store.create('run_1', clock)
  await journal.commit([started])
  journal.observe(deltaFrame(stamp, 'never written'))
  stamp.seq()
  journal.observe(deltaFrame(stamp, 'behind a gap'))
  await expect(journal.commit([stateFrame(stamp, 'working', 1)])).rejects.toThrow('not the next')
  await new Promise((resolve) => setImmediate(resolve))
  await journal.close().catch(() => undefined)
  expect([...openedStore(store.path).read('run_1')]).toEqual([started])
  expect(journal.log.frames).toEqual([started])
})
