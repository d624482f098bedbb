import { expect, test } from 'vitest'

import { agent } from '../../src/agent.ts'
import { LoopchartError } from '../../src/errors.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import type { RunJournal } from '../../src/journal/run-store.ts'
import { openStore } from '../../src/journal/open-store.ts'
import { run } from '../../src/loop/run.ts'
import { scriptedModel, textAnswer } from '../scripted-model.ts'
import { openedStore, tempFolder, tempStore } from '../journal/store-kit.ts'
import { ManualClock } from '../manual-clock.ts'
import {
  askingAgent,
  changedStore,
  GatedModel,
  seqs,
  serviceKit,
  SSE,
  streamOf,
  talkingAgent,
  until,
  upTo,
} from './service-kit.ts'

const CALL = 'call_1_0'

test('a service that stops begins nothing, lets go of its runs, and tells its readers', async () => {
  const gate = new GatedModel()
  const kit = serviceKit(gate.made)
  const runId = await kit.start()
  const client = await streamOf(kit, runId)
  await client.frames((frame) => frame.type === 'response_headers')
  const goodbye = client.next()
  const closed = kit.service.close()
  expect((await kit.ask('/runs', { body: { input: 'x' } })).status).toBe(503)
  expect((await kit.ask(`/runs/${runId}/frames`, { headers: SSE })).status).toBe(503)
  expect(await kit.json('/healthz')).toEqual({ status: 'closing' })
  await closed
  expect(await goodbye).toEqual({ id: null, event: 'closing', data: '{}' })
  expect(await client.next()).toBeNull()
  expect(kit.store.find(runId)).toMatchObject({ status: 'open', owner: null })
  expect((await kit.ask(`/runs/${runId}/steer`, { body: { text: 'x' } })).status).toBe(503)
  await kit.service.close()
})

test('a service stops in time although a run cannot be let go of, because its store never answers', async () => {
  const clock = new ManualClock()
  const store = tempStore()
  const hanging = changedStore(store, { create: (...said) => hangingJournal(store.create(...said)) })
  const kit = serviceKit(talkingAgent(), { clock, store: hanging })
  const runId = await kit.start()
  await until(() => (store.find(runId)?.frames ?? 0) > 0)
  let isClosed = false
  const closed = kit.service.close().finally(() => (isClosed = true))
  await new Promise((resolve) => setImmediate(resolve))
  clock.advance(3_000)
  await new Promise((resolve) => setImmediate(resolve))
  expect(isClosed).toBe(false)
  clock.advance(2_000)
  await closed
})

/** A journal that takes its first step and is never done with another. */
function hangingJournal(journal: RunJournal): RunJournal {
  let commits = 0
  return new Proxy(journal, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (name !== 'commit') return value.bind(target) as unknown
      return (frames: readonly Frame[]) => {
        commits += 1
        return commits === 1 ? target.commit(frames) : new Promise(() => undefined)
      }
    },
  })
}

test('a service that starts again goes on with the runs that it began, and with no others', async () => {
  const gate = new GatedModel()
  const store = tempStore()
  const before = serviceKit(gate.made, { store })
  const runId = await before.start()
  const done = serviceKit(talkingAgent(), { store })
  const endedId = await done.start()
  await until(() => store.find(endedId)?.status === 'ended')
  await before.service.close()
  const theirs = run(new GatedModel().made, 'mine', { runId: 'not-of-the-service', store })
  await until(() => store.find('not-of-the-service') !== null)
  await theirs.suspend()
  const lines: string[] = []
  const agents = { other: gate.made }
  const other = serviceKit(gate.made, { store, agents, log: (line) => lines.push(line) })
  expect(await other.service.resumeAll()).toEqual([])
  expect(lines).toEqual([])
  const after = serviceKit(gate.made, { store })
  expect(await after.json(`/runs/${runId}`)).toMatchObject({ status: 'suspended', agent: 'default' })
  expect(await after.json('/runs/not-of-the-service')).toMatchObject({ status: 'stored', agent: null })
  expect(await after.service.resumeAll()).toEqual([runId])
  expect(await after.service.resumeAll()).toEqual([])
  await until(() => gate.requests === 2)
  gate.end()
  await until(() => store.find(runId)?.status === 'ended')
  expect((await after.ask('/runs/not-of-the-service/cancel', { body: {} })).status).toBe(409)
})

test('a reader of a run that is let go of and taken up again has every frame once', async () => {
  const gate = new GatedModel()
  const store = tempStore()
  const first = serviceKit(gate.made, { store })
  const runId = await first.start()
  const kit = serviceKit(gate.made, { store })
  // Reads from the store of one that is driven elsewhere.
  const client = await streamOf(kit, runId)
  const reading = client.frames()
  await until(() => gate.requests === 1)
  gate.say('before ')
  await until(() => (store.find(runId)?.frames ?? 0) > 8)
  await first.service.close()
  expect((await kit.ask(`/runs/${runId}/steer`, { body: { text: 'go on' } })).status).toBe(200)
  await until(() => gate.requests === 2)
  gate.say('after')
  gate.end()
  await until(() => gate.requests === 3)
  gate.end()
  const frames = await reading
  expect(seqs(frames)).toEqual(upTo(store.find(runId)?.frames ?? 0))
  expect(frames.at(-1)?.type).toBe('run_ended')
  expect(frames.filter(({ type }) => type === 'run_resumed')).toHaveLength(1)
})

test('a reader of a run that nobody drives is woken when it is taken up, and not only when the store is looked at', async () => {
  const clock = new ManualClock()
  const gate = new GatedModel()
  const before = serviceKit(gate.made)
  const runId = await before.start()
  await until(() => gate.requests === 1)
  await before.service.close()
  const kit = serviceKit(gate.made, { store: before.store, clock })
  const total = before.store.find(runId)?.frames ?? 0
  const client = await streamOf(kit, runId)
  expect(await client.frames(({ seq }) => seq === total - 1)).toHaveLength(total)
  const next = client.next()
  expect(await kit.service.resumeAll()).toEqual([runId])
  expect(JSON.parse((await next)?.data ?? '')).toMatchObject({ seq: total, type: 'run_resumed' })
})

test('a run that the provider sends away for long is taken up again when its time has come, under its reader', async () => {
  const clock = new ManualClock()
  const retryAt = clock.now() + 3_600_000
  const fault = {
    code: 'provider_rate_limited',
    message: 'later',
    provider: null,
    isRetryable: true,
    retryAt,
  }
  const model = scriptedModel([fault, textAnswer(1, 'at last')])
  const kit = serviceKit(agent({ model, clock }), { clock })
  const runId = await kit.start()
  const client = await streamOf(kit, runId)
  const reading = client.frames()
  await until(async () => (await kit.json(`/runs/${runId}`))['status'] === 'suspended')
  expect(await kit.json(`/runs/${runId}`)).toMatchObject({
    state: 'working.backingOff',
    suspension: { reason: 'retry_later', retry_at: retryAt },
  })
  clock.advance(3_600_000)
  const frames = await reading
  expect(seqs(frames)).toEqual(upTo(kit.store.find(runId)?.frames ?? 0))
  expect(kit.store.find(runId)?.state).toBe('done')
})

test('a run that waits for a yes over a restart is taken up by it', async () => {
  const store = tempStore()
  const { made } = askingAgent()
  const before = serviceKit(made, { store })
  const runId = await before.start()
  await until(() => store.find(runId)?.state.endsWith('awaitingApproval') === true)
  await before.service.close()
  const { made: again, ran } = askingAgent()
  const after = serviceKit(again, { store })
  const answers = await Promise.all([
    after.ask(`/runs/${runId}/approve`, { body: { call: CALL } }),
    after.ask(`/runs/${runId}/approve`, { body: { call: CALL } }),
  ])
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
  await until(() => store.find(runId)?.status === 'ended')
  expect(ran).toHaveLength(1)
})

test('a run that another process drives is followed, and takes no command from here: 409 with who drives it', async () => {
  const path = `${tempFolder()}/runs.db`
  const gate = new GatedModel()
  const theirs = serviceKit(gate.made, { store: openedStore(path) })
  const runId = await theirs.start()
  const kit = serviceKit(gate.made, { store: openedStore(path) })
  const refused = await kit.ask(`/runs/${runId}/cancel`, { body: {} })
  expect(refused.status).toBe(409)
  expect(await refused.json()).toMatchObject({ error: { code: 'run_locked' }, owner: { pid: process.pid } })
  expect(await kit.service.resumeAll()).toEqual([])
  const reading = (await streamOf(kit, runId)).frames()
  await until(() => gate.requests === 1)
  gate.end()
  await until(() => kit.store.find(runId)?.status === 'ended')
  expect(seqs(await reading)).toEqual(upTo(kit.store.find(runId)?.frames ?? 0))
})

test('a run whose log cannot be read is 500 with its code: asking again does not help', async () => {
  const whole = tempStore()
  const { id: runId, result } = run(agent({ model: scriptedModel([textAnswer(1, 'hi')]) }), 'go', {
    store: whole,
  })
  await result
  const other = serviceKit(talkingAgent(), {
    store: changedStore(whole, { cursor: damaged, read: damaged }),
  })
  for (const path of [`/runs/${runId}`, `/runs/${runId}/frames`, `/runs/${runId}/log`]) {
    const answer = await other.ask(path)
    expect([path, answer.status, await answer.json()]).toMatchObject([
      path,
      500,
      { error: { code: 'log_corrupt', message: 'frame 3: it is missing' } },
    ])
  }
})

test('a full disk is 503 with its code: for a new run, and for a command', async () => {
  let isFull = false
  const store = tempStore({
    aroundWrite: (_, execute) => {
      if (isFull) throw Object.assign(new Error('database or disk is full'), { errcode: 13 })
      return execute()
    },
  })
  const lines: string[] = []
  const { made, ran } = askingAgent()
  const kit = serviceKit(made, { store, log: (line) => lines.push(line) })
  const runId = await kit.start()
  await until(() => store.find(runId)?.state.endsWith('awaitingApproval') === true)
  isFull = true
  const begun = await kit.ask('/runs', { body: { input: 'x' } })
  expect([begun.status, await begun.json()]).toMatchObject([503, { error: { code: 'store_full' } }])
  const approved = await kit.ask(`/runs/${runId}/approve`, { body: { call: CALL } })
  expect([approved.status, await approved.json()]).toMatchObject([503, { error: { code: 'store_full' } }])
  isFull = false
  expect(ran).toEqual([])
  expect(lines.join('\n')).toContain(`run ${runId} broke off`)
  expect((await kit.ask(`/runs/${runId}/approve`, { body: { call: CALL } })).status).toBe(200)
  await until(() => store.find(runId)?.status === 'ended')
})

test('a run that ends while its reader is about to wait is read to its end', async () => {
  const kit = serviceKit(talkingAgent(['a']))
  for (let at = 0; at < 30; at += 1) {
    const runId = await kit.start()
    const client = await streamOf(kit, runId)
    const frames: Frame[] = []
    for (let event = await client.next(); event?.event === 'frame'; event = await client.next()) {
      frames.push(JSON.parse(event.data) as Frame)
      for (let turn = 0; turn < at % 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(frames.at(-1)?.type).toBe('run_ended')
    expect(seqs(frames)).toEqual(upTo(frames.length))
  }
})

test('a store that is closed under a service is an error and not an answer', async () => {
  const store = openStore(`${tempFolder()}/runs.db`)
  const kit = serviceKit(talkingAgent(), { store })
  const runId = await kit.start()
  await until(() => store.find(runId)?.status === 'ended')
  store.close()
  expect((await kit.ask('/runs')).status).toBeGreaterThanOrEqual(500)
  expect((await kit.ask('/runs', { body: { input: 'x' } })).status).toBeGreaterThanOrEqual(500)
})

function damaged(): never {
  throw new LoopchartError('log_corrupt', 'frame 3: it is missing')
}
