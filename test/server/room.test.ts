import { expect, test } from 'vitest'

import { agent } from '../../src/agent.ts'
import { tempFolder, openedStore, tempStore } from '../journal/store-kit.ts'
import { ManualClock } from '../manual-clock.ts'
import { scriptedModel, textAnswer } from '../scripted-model.ts'
import { changedStore, GatedModel, serviceKit, talkingAgent, until } from './service-kit.ts'

test('runs beyond the limit that a start would go on with go on when others have ended', async () => {
  const store = tempStore()
  const before = serviceKit(new GatedModel().made, { store })
  const ids = [await before.start(), await before.start(), await before.start()]
  await before.service.close()
  const lines: string[] = []
  const kit = serviceKit(talkingAgent(), {
    store,
    limits: { runs: 1, requestsPerSecond: 1_000 },
    log: (line) => lines.push(line),
  })
  expect(await kit.service.resumeAll()).toHaveLength(1)
  await until(() => ids.every((id) => store.find(id)?.status === 'ended'))
  expect(lines).toEqual([])
})

test('a run whose time has come while there is no room goes on when there is', async () => {
  const clock = new ManualClock()
  const retryAt = clock.now() + 3_600_000
  const fault = {
    code: 'provider_rate_limited',
    message: 'later',
    provider: null,
    isRetryable: true,
    retryAt,
  }
  const gate = new GatedModel()
  const agents = {
    default: agent({ model: scriptedModel([fault, textAnswer(1, 'at last')]), clock }),
    gated: gate.made,
  }
  const kit = serviceKit(agents.default, {
    agents,
    clock,
    limits: { runs: 1, requestsPerSecond: 1_000 },
  })
  const runId = await kit.start()
  await until(async () => (await kit.json(`/runs/${runId}`))['status'] === 'suspended')
  const other = await kit.start('x', { body: { input: 'x', agent: 'gated' } })
  await until(() => gate.requests === 1)
  clock.advance(3_600_000)
  gate.end()
  await until(() => kit.store.find(other)?.status === 'ended')
  await until(() => kit.store.find(runId)?.status === 'ended')
  expect(kit.store.find(runId)?.state).toBe('done')
})

test('a service that is stopped while it takes runs up says nothing of those that it leaves', async () => {
  const store = tempStore()
  const gate = new GatedModel()
  const before = serviceKit(gate.made, { store })
  for (let at = 0; at < 5; at += 1) await before.start()
  await before.service.close()
  const lines: string[] = []
  const kit = serviceKit(gate.made, { store, log: (line) => lines.push(line) })
  const resuming = kit.service.resumeAll()
  await kit.service.close()
  expect((await resuming).length).toBeLessThan(5)
  expect(lines).toEqual([])
})

test('of two services on one store that are asked under one key at once, one begins the run and both name it', async () => {
  const path = `${tempFolder()}/runs.db`
  const [one, two] = [openedStore(path), openedStore(path)]
  const a = serviceKit(talkingAgent(), { store: one })
  // The other one has looked before the first has begun.
  const late = changedStore(two, {
    find: (runId) => (isLate ? null : two.find(runId)),
  })
  let isLate = true
  const b = serviceKit(talkingAgent(), { store: late })
  const asked = { body: { input: 'x' }, headers: { 'idempotency-key': 'k' } }
  const first = await a.ask('/runs', asked)
  const second = b.ask('/runs', asked)
  await new Promise((resolve) => setImmediate(resolve))
  isLate = false
  expect([first.status, (await second).status]).toEqual([201, 200])
  expect(await (await second).json()).toMatchObject({
    run_id: ((await first.json()) as object)['run_id' as never],
  })
})

test('a run that is looked at beside many others is told as it is, and not as far as it was read', async () => {
  const store = tempStore()
  const kit = serviceKit(talkingAgent(Array.from({ length: 1_500 }, () => 'x')), { store })
  const long = await kit.start()
  await until(() => store.find(long)?.status === 'ended')
  const short = serviceKit(talkingAgent(), { store })
  const ids: string[] = []
  for (let at = 0; at < 65; at += 1) ids.push(await short.start())
  await until(() => ids.every((id) => store.find(id)?.status === 'ended'))
  const [told] = await Promise.all([long, ...ids].map((id) => kit.json(`/runs/${id}`)))
  expect(told).toMatchObject({ state: 'done', explain: { state: 'done' } })
})
