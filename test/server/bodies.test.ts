import { expect, test } from 'vitest'

import type { RunStore } from '../../src/journal/run-store.ts'
import { tempStore } from '../journal/store-kit.ts'
import { ManualClock } from '../manual-clock.ts'
import {
  changedStore,
  serviceKit,
  talkingAgent,
  until,
  type RawBody,
  type ServiceKit,
} from './service-kit.ts'

const IDS = [
  '..%2f..%2fetc%2fpasswd',
  '%2e%2e%2f',
  '%00',
  'a%00b',
  '__proto__',
  'constructor.',
  '.hidden',
  'a..b',
  'a%2fb',
  'a%5cb',
  'a b',
  '%f0%9f%92%a9',
  '%zz',
  "';DROP TABLE runs;--",
  'x'.repeat(10_000),
]

test.each(IDS.map((id) => [id.slice(0, 40), id] as const))(
  'fault S09: %j is the id of no run on any route, and is never looked up',
  async (_, id) => {
    const looked: string[] = []
    const kit = serviceKit(talkingAgent(), { store: watchedStore(looked) })
    const asked = [
      await kit.ask(`/runs/${id}`),
      await kit.ask(`/runs/${id}/frames`),
      await kit.ask(`/runs/${id}/log`),
      await kit.ask(`/runs/${id}/cancel`, { body: {} }),
      await kit.ask(`/diff?a=${id}&b=${id}`),
    ]
    expect(asked.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
    expect(looked).toEqual([])
  },
)

/** A store that notes the ids that it is asked about. */
function watchedStore(looked: string[]): RunStore {
  const store = tempStore()
  return changedStore(store, {
    take: (runId, ...said) => (looked.push(runId), store.take(runId, ...said)),
    read: (runId) => (looked.push(runId), store.read(runId)),
    cursor: (runId, ...said) => (looked.push(runId), store.cursor(runId, ...said)),
    find: (runId) => (looked.push(runId), store.find(runId)),
  })
}

test('fault S09: names of prototypes are no agents and no fields', async () => {
  const kit = serviceKit(talkingAgent())
  expect((await kit.ask('/runs', { body: { input: 'x', agent: '__proto__' } })).status).toBe(400)
  expect((await kit.ask('/runs', { body: { input: 'x', agent: 'constructor' } })).status).toBe(400)
  expect((await kit.ask('/runs', { raw: '{"input":"x","__proto__":{"agent":"default"}}' })).status).toBe(400)
  expect((await kit.ask('/runs', { raw: '{"input":[{"type":"message","__proto__":{"a":1}}]}' })).status).toBe(
    400,
  )
  expect(Object.keys(Object.prototype)).toEqual([])
})

async function refusal(
  kit: ServiceKit,
  raw: RawBody,
  headers: Record<string, string> = {},
): Promise<[number, unknown]> {
  const response = await kit.ask('/runs', { raw, headers })
  const { error } = (await response.json()) as { error: { code: string } }
  return [response.status, error.code]
}

test('fault S10: a body that is too large is refused by its length, and as soon as it is too large without one', async () => {
  const kit = serviceKit(talkingAgent(), { limits: { bodyBytes: 1_000 } })
  expect(await refusal(kit, '{}', { 'content-length': '1001' })).toEqual([413, 'body_too_large'])
  let sent = 0
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 100
      controller.enqueue(new Uint8Array(100).fill(32))
    },
  })
  expect(await refusal(kit, endless)).toEqual([413, 'body_too_large'])
  expect(sent).toBeLessThan(2_000)
  expect((await kit.ask('/runs', { body: { input: 'x'.repeat(900) } })).status).toBe(201)
})

test('fault S10: a body that does not arrive is given up after 10 seconds', async () => {
  const clock = new ManualClock()
  const kit = serviceKit(talkingAgent(), { clock })
  const raw = new ReadableStream<Uint8Array>({ pull: () => new Promise<void>(() => undefined) })
  const asked = kit.ask('/runs', { raw })
  await until(() => clock.timersArmed > 0)
  clock.advance(10_000)
  const refused = await asked
  expect(refused.status).toBe(400)
  expect(await refused.text()).toContain('did not arrive within 10000 ms')
  expect(clock.timersArmed).toBe(0)
})

test('fault S10: an upload that breaks off begins nothing', async () => {
  const kit = serviceKit(talkingAgent())
  const broken = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(new Error('the client left')),
  })
  expect(await refusal(kit, broken)).toEqual([400, 'usage'])
  expect(kit.store.list()).toEqual([])
})

test.each([
  ['arrays', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ['objects', `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`],
  ['arrays in a field of an input', `{"input":[{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}]}`],
  ['arrays in an input', `{"input":[${'['.repeat(300)}${']'.repeat(300)}]}`],
])('fault S10: %s nested too deep are refused', async (_, raw) => {
  expect(await refusal(serviceKit(talkingAgent()), raw)).toEqual([400, 'usage'])
})

test.each([
  ['nothing', ''],
  ['no JSON', '{"input":'],
  ['bytes that are no UTF-8', new Uint8Array([0x22, 0xff, 0x22])],
  ['a list', '[]'],
  ['no input', '{}'],
  ['an empty input', '{"input":""}'],
  ['an empty list', '{"input":[]}'],
  ['a number as input', '{"input":1}'],
  ['a field that there is not', '{"input":"x","tools":[]}'],
  ['limits that are none', '{"input":"x","limits":{"turns":0}}'],
  ['limits that there are not', '{"input":"x","limits":{"cost":1}}'],
  ['an agent that there is not', '{"input":"x","agent":"other"}'],
])('%s in the body of a new run is 400 and begins nothing', async (_, raw) => {
  const kit = serviceKit(talkingAgent())
  expect(await refusal(kit, raw)).toEqual([400, 'usage'])
  expect(kit.store.list()).toEqual([])
})

test.each([
  ['{"inpt":"x"}', 'the body: input is missing; inpt is not known'],
  ['{"input":"x","limits":{"cost":1}}', 'the body: limits.cost is not known'],
  ['{"input":1}', 'the body: input must be a text or a list of items, and not empty'],
  ['{"input":"x","agent":1}', 'the body: agent must be a string'],
  ['{"input":"x","limits":{"turns":"2"}}', 'the body: limits.turns must be a whole number, 1 or more'],
  ['[]', 'the body: it must be an object'],
])('who sends %s is told what is wrong with it', async (raw, message) => {
  const refused = await serviceKit(talkingAgent()).ask('/runs', { raw })
  expect([refused.status, await refused.json()]).toEqual([400, { error: { code: 'usage', message } }])
})

test.each([
  ['/runs?limit=abc', 'the query: limit must be a whole number; at most 5000 are given at once'],
  ['/runs?limits=1', 'the query: limits is not known'],
  ['/runs?kind=x', 'the query: kind must be run or conversation'],
  ['/runs/run_1/frames?after=x', 'the query: after must be the number of a frame, or -1 for none'],
  ['/healthz?nonce=x', 'the query: nonce must be 16 to 128 letters, digits, _ or -'],
  ['/diff?a=run_1', 'the query: b is missing'],
])('who asks for %s is told what is allowed', async (path, message) => {
  const refused = await serviceKit(talkingAgent()).ask(path)
  expect([refused.status, await refused.json()]).toEqual([400, { error: { code: 'usage', message } }])
})

test('who asks for a run that there is not is not told where the store is', async () => {
  const kit = serviceKit(talkingAgent(), { store: tempStore() })
  for (const path of ['/runs/run_9', '/runs/run_9/frames', '/runs/run_9/log', '/diff?a=run_9&b=run_9']) {
    const refused = await kit.ask(path)
    const error = { code: 'run_unknown', message: 'there is no run run_9' }
    expect([refused.status, await refused.json()], path).toEqual([404, { error }])
  }
})

test('what a query says twice, or that nobody knows, is 400', async () => {
  const kit = serviceKit(talkingAgent())
  for (const query of ['limit=1&limit=2', 'limits=1', 'status=open', 'kind=x', 'limit=-1']) {
    expect((await kit.ask(`/runs?${query}`)).status, query).toBe(400)
  }
})
