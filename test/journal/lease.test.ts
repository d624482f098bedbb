import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test, vi } from 'vitest'

import { systemClock } from '../../src/clock.ts'
import { FrameStamp } from '../../src/frames/frame-stamp.ts'
import { openStore } from '../../src/journal/open-store.ts'
import { everythingElse } from '../scripted-model.ts'
import { deltaFrame } from './sample-frames.ts'
import { beginLog, openedStore, StoreProcess, tempFolder, tempStore, thrownBy } from './store-kit.ts'

// Real processes and files, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 })

const PAIRS = 50

test('fault K08: of two processes that take up a run at once, exactly one wins, fifty times', async () => {
  const path = join(tempFolder(), 'runs.db')
  const store = openedStore(path)
  const pair = [new StoreProcess(path), new StoreProcess(path)]
  for (let round = 0; round < PAIRS; round += 1) {
    const runId = `run_${round}`
    const journal = store.create(runId, systemClock)
    await journal.commit([beginLog(runId).started])
    await journal.close()
    const answers = await Promise.all(pair.map((process) => process.ask({ ask: 'take', runId })))
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([null, 'run_locked']))
    const winner = pair[answers.findIndex(({ ok }) => ok)]
    expect(answers.find(({ ok }) => !ok)?.owner).toEqual({
      pid: winner?.pid,
      host: expect.any(String),
      since: expect.any(Number),
    })
  }
})

test('fault K08: of two processes that create a run at once, exactly one does', async () => {
  const path = join(tempFolder(), 'runs.db')
  const pair = [new StoreProcess(path), new StoreProcess(path)]
  for (let round = 0; round < PAIRS; round += 1) {
    const runId = `run_${round}`
    const answers = await Promise.all(pair.map((process) => process.ask({ ask: 'create', runId })))
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([null, 'run_exists']))
  }
  expect(openedStore(path).list()).toHaveLength(PAIRS)
})

test('fault K08: a run is free as soon as its owner is killed', async () => {
  const path = join(tempFolder(), 'runs.db')
  const owner = new StoreProcess(path)
  await owner.ask({ ask: 'create', runId: 'run_1' })
  await owner.ask({ ask: 'append', runId: 'run_1', frames: 25 })
  const store = openedStore(path)
  expect(thrownBy(() => store.take('run_1', systemClock))).toMatchObject({
    code: 'run_locked',
    owner: { pid: owner.pid },
  })
  await owner.kill()
  expect(store.list()).toMatchObject([{ owner: null, frames: 26 }])
  const { frames, journal } = store.take('run_1', systemClock)
  expect(frames).toHaveLength(26)
  expect(store.list()).toMatchObject([{ owner: { pid: process.pid } }])
  await journal.close()
})

test('fault K08: an owner that is only stopped keeps its run', async () => {
  const path = join(tempFolder(), 'runs.db')
  const owner = new StoreProcess(path)
  await owner.ask({ ask: 'create', runId: 'run_1' })
  owner.signal('SIGSTOP')
  const store = openedStore(path)
  for (let attempt = 0; attempt < 3; attempt += 1) {
    expect(thrownBy(() => store.take('run_1', systemClock))).toMatchObject({
      code: 'run_locked',
      owner: { pid: owner.pid },
    })
  }
  // The store is not locked with the run: other runs go on.
  await store.create('run_2', systemClock).commit([beginLog('run_2').started])
  owner.signal('SIGCONT')
  expect(await owner.ask({ ask: 'append', runId: 'run_1', frames: 10 })).toMatchObject({
    ok: true,
    value: 11,
  })
})

test('a refusal says who drives the run, where, and since when', async () => {
  const store = tempStore()
  await store.create('run_1', systemClock).commit([beginLog('run_1').started])
  const error = thrownBy(() => openedStore(store.path).take('run_1', systemClock))
  expect(error).toMatchObject({ code: 'run_locked', owner: { pid: process.pid } })
  expect(String(error)).toMatch(/run run_1 is driven by process \d+ on \S+ since \d{4}-\d\d-\d\dT/u)
})

test('two stores on one file in one process own runs apart, and one of them a run', async () => {
  const store = tempStore()
  const other = openedStore(store.path)
  const journal = store.create('run_1', systemClock)
  await journal.commit([beginLog('run_1').started])
  expect(thrownBy(() => store.take('run_1', systemClock))).toMatchObject({ code: 'run_locked' })
  expect(thrownBy(() => other.take('run_1', systemClock))).toMatchObject({ code: 'run_locked' })
  // Looking at a lock must not end it.
  expect(thrownBy(() => other.take('run_1', systemClock))).toMatchObject({ code: 'run_locked' })
  await journal.close()
  const taken = other.take('run_1', systemClock)
  expect(thrownBy(() => store.take('run_1', systemClock))).toMatchObject({ code: 'run_locked' })
  await taken.journal.close()
})

test('fault K08: an owner that was taken for dead can write nothing once another has the run', async () => {
  const path = join(tempFolder(), 'runs.db')
  const stale = openedStore(path)
  const { stamp, started } = beginLog('run_1')
  const journal = stale.create('run_1', systemClock)
  await journal.commit([started])
  // Somebody removes the lock files by hand: what the lease promises is broken, the epoch still holds.
  const leases = `${path}-leases`
  rmSync(leases, { recursive: true })
  const { journal: next } = openedStore(path).take('run_1', systemClock)
  await next.commit([deltaFrame(new FrameStamp('run_1', () => 0, started), 'mine')])
  journal.observe(deltaFrame(stamp, 'stale'))
  await everythingElse()
  expect(journal.log.frames).toHaveLength(1)
  await expect(journal.next()).rejects.toMatchObject({ code: 'run_locked' })
  await expect(journal.commit([deltaFrame(stamp, 'stale')])).rejects.toMatchObject({ code: 'run_locked' })
  await journal.close()
  expect([...stale.read('run_1')]).toMatchObject([{ seq: 0 }, { seq: 1, delta: 'mine' }])
  expect(stale.list()).toMatchObject([{ owner: { pid: process.pid } }])
})

test('a stale owner is refused alone: runs that commit with it in one transaction go on', async () => {
  const path = join(tempFolder(), 'runs.db')
  const store = openedStore(path)
  const [one, two] = [beginLog('run_1'), beginLog('run_2')]
  const stale = store.create('run_1', systemClock)
  const sound = store.create('run_2', systemClock)
  await Promise.all([stale.commit([one.started]), sound.commit([two.started])])
  rmSync(`${path}-leases`, { recursive: true })
  openedStore(path).take('run_1', systemClock)
  const [refused, taken] = await Promise.allSettled([
    stale.commit([deltaFrame(one.stamp, 'a')]),
    sound.commit([deltaFrame(two.stamp, 'b')]),
  ])
  expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'run_locked' } })
  expect(taken.status).toBe('fulfilled')
  expect(sound.log.frames).toHaveLength(2)
})

test('lock files of processes that are gone are cleared away, those of the living are not', async () => {
  const path = join(tempFolder(), 'runs.db')
  const [dead, living] = [new StoreProcess(path), new StoreProcess(path)]
  await dead.ask({ ask: 'create', runId: 'run_1' })
  await living.ask({ ask: 'create', runId: 'run_2' })
  await dead.kill()
  expect(readdirSync(`${path}-leases`)).toHaveLength(2)
  const store = openStore(path)
  store.take('run_1', systemClock)
  expect(readdirSync(`${path}-leases`)).toHaveLength(2)
  expect(thrownBy(() => store.take('run_2', systemClock))).toMatchObject({ owner: { pid: living.pid } })
  store.close()
  expect(readdirSync(`${path}-leases`)).toHaveLength(1)
  expect(existsSync(path)).toBe(true)
})

test('two processes read whole frames in order while a third writes them', async () => {
  const path = join(tempFolder(), 'runs.db')
  const writer = new StoreProcess(path)
  const readers = [new StoreProcess(path), new StoreProcess(path)]
  await writer.ask({ ask: 'create', runId: 'run_1' })
  const reading = readers.map((reader) => reader.ask({ ask: 'read', runId: 'run_1', until: 501 }))
  expect(await writer.ask({ ask: 'append', runId: 'run_1', frames: 500 })).toMatchObject({
    ok: true,
    value: 501,
  })
  for (const answer of await Promise.all(reading)) expect(answer).toMatchObject({ ok: true, value: 501 })
})

test('fault K07: what a killed process said was committed is in the store', async () => {
  const path = join(tempFolder(), 'runs.db')
  const store = openedStore(path)
  for (let round = 0; round < 4; round += 1) {
    const writer = new StoreProcess(path)
    const runId = `run_${round}`
    await writer.ask({ ask: 'create', runId })
    const answer = await writer.ask({ ask: 'append', runId, frames: 10 * round })
    const dying = writer.ask({ ask: 'append', runId, frames: 5000 })
    dying.catch(() => undefined)
    await everythingElse()
    await writer.kill()
    const { frames, journal } = store.take(runId, systemClock)
    expect(frames.length).toBeGreaterThanOrEqual(answer.value)
    expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, at) => at))
    await journal.close()
  }
})
