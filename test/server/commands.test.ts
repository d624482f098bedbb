import { expect, test } from 'vitest'

import type { Frame } from '../../src/frames/generated/frame.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { askingAgent, GatedModel, serviceKit, TOKEN, until, type ServiceKit } from './service-kit.ts'

async function asked(): Promise<{ kit: ServiceKit; runId: string; ran: readonly JsonObject[] }> {
  const { made, ran } = askingAgent()
  const kit = serviceKit(made)
  const runId = await kit.start()
  await until(() => kit.store.find(runId)?.state.endsWith('awaitingApproval') === true)
  return { kit, runId, ran }
}

async function ended(kit: ServiceKit, runId: string): Promise<readonly Frame[]> {
  await until(() => kit.store.find(runId)?.status === 'ended')
  return [...kit.store.read(runId)]
}

const CALL = 'call_1_0'

test('a run that waits for a yes says so, and goes on with it', async () => {
  const { kit, runId, ran } = await asked()
  expect((await kit.json('/runs'))['runs']).toMatchObject([{ needs: 'approval' }])
  const run = await kit.json(`/runs/${runId}`)
  expect(run).toMatchObject({
    status: 'running',
    can: ['run.cancel', 'run.steer', 'call.approve', 'call.deny'],
    calls: [{ call_id: CALL, name: 'send', outcome: null }],
  })
  const answer = await kit.ask(`/runs/${runId}/approve`, { body: { call: CALL } })
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({ answer: 'accepted', reason: null })
  await ended(kit, runId)
  expect(ran).toEqual([{ to: 'a' }])
  expect(await kit.json(`/runs/${runId}`)).toMatchObject({ calls: [{ call_id: CALL, outcome: 'ok' }] })
})

test('an answer about other arguments than those shown is refused, with the state', async () => {
  const { kit, runId, ran } = await asked()
  const body = { call: CALL, arguments_hash: 'another' }
  const refused = await kit.ask(`/runs/${runId}/approve`, { body })
  expect(refused.status).toBe(409)
  expect(await refused.json()).toMatchObject({
    error: { code: 'command_refused' },
    answer: 'refused',
    state: 'working.executing.awaitingApproval',
  })
  expect((await kit.ask(`/runs/${runId}/approve`, { body: { call: CALL, arguments_hash: '' } })).status).toBe(
    400,
  )
  const question = [...kit.store.read(runId)].find((frame) => frame.type === 'approval_requested')
  const right = { call: CALL, arguments_hash: question?.arguments_hash }
  expect((await kit.ask(`/runs/${runId}/approve`, { body: right })).status).toBe(200)
  await ended(kit, runId)
  expect(ran).toHaveLength(1)
})

test('fault S11: of approvals and denials that come at once, one wins and the others are 409 with the state', async () => {
  const { kit, runId, ran } = await asked()
  const bodies = Array.from({ length: 10 }, (_, at) =>
    at % 2 === 0 ? (['approve', { call: CALL }] as const) : (['deny', { call: CALL, reason: 'no' }] as const),
  )
  const answers = await Promise.all(bodies.map(([name, body]) => kit.ask(`/runs/${runId}/${name}`, { body })))
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
    200,
    ...Array.from({ length: 9 }, () => 409),
  ])
  for (const answer of answers) expect(await answer.json()).toHaveProperty('state')
  const frames = await ended(kit, runId)
  expect(frames.filter(({ type }) => type === 'tool_ended' || type === 'tool_failed')).toHaveLength(1)
  expect(ran.length).toBeLessThanOrEqual(1)
})

test('fault S11: an approval after a cancel is refused, and the tool does not run', async () => {
  const { kit, runId, ran } = await asked()
  expect((await kit.ask(`/runs/${runId}/cancel`, { body: { reason: 'enough' } })).status).toBe(200)
  const late = await kit.ask(`/runs/${runId}/approve`, { body: { call: CALL } })
  expect(late.status).toBe(409)
  await ended(kit, runId)
  const later = await kit.ask(`/runs/${runId}/approve`, { body: { call: CALL } })
  expect(later.status).toBe(409)
  expect(await later.json()).toMatchObject({ error: { code: 'command_refused' }, state: 'cancelled' })
  expect(ran).toEqual([])
})

test('fault S11: an approval that is sent again under its key has its answer again, another one does not', async () => {
  const { kit, runId, ran } = await asked()
  const headers = { 'idempotency-key': 'k1' }
  const again = () => kit.ask(`/runs/${runId}/approve`, { body: { call: CALL }, headers })
  const answers = await Promise.all([again(), again()])
  await ended(kit, runId)
  expect([...answers, await again()].map(({ status }) => status)).toEqual([200, 200, 200])
  const other = await kit.ask(`/runs/${runId}/deny`, { body: { call: CALL, reason: 'no' }, headers })
  expect(other.status).toBe(409)
  expect(await other.json()).toMatchObject({ error: { code: 'key_reused' } })
  expect(ran).toHaveLength(1)
})

test('fault S12: a storm of cancels is one cancel: all are told yes, and the log ends once', async () => {
  const gate = new GatedModel()
  const kit = serviceKit(gate.made)
  const runId = await kit.start()
  await until(() => gate.requests === 1)
  gate.say('some words')
  const storm = () =>
    Promise.all(Array.from({ length: 50 }, () => kit.ask(`/runs/${runId}/cancel`, { body: {} })))
  const first = await storm()
  const frames = await ended(kit, runId)
  const second = await storm()
  expect(new Set([...first, ...second].map(({ status }) => status))).toEqual(new Set([200]))
  expect(frames.filter(({ type }) => type === 'run_ended')).toHaveLength(1)
  expect(frames.filter(({ type }) => type === 'command_received')).toHaveLength(1)
  expect([...kit.store.read(runId)]).toHaveLength(frames.length)
})

test('a cancel of a run that ended in another way is refused with how', async () => {
  const gate = new GatedModel()
  const kit = serviceKit(gate.made)
  const runId = await kit.start()
  await until(() => gate.requests === 1)
  gate.end()
  await ended(kit, runId)
  const late = await kit.ask(`/runs/${runId}/cancel`, { body: {} })
  expect(late.status).toBe(409)
  expect(await late.json()).toMatchObject({ state: 'done' })
})

test('a message for the model is queued while it speaks', async () => {
  const gate = new GatedModel()
  const kit = serviceKit(gate.made)
  const runId = await kit.start()
  await until(() => gate.requests === 1)
  expect(await kit.json(`/runs/${runId}/steer`, { body: { text: 'be brief' } })).toMatchObject({
    answer: 'queued',
  })
  expect((await kit.ask(`/runs/${runId}/steer`, { body: { text: '' } })).status).toBe(400)
})

test('the same key and body give the same run, at once and later; another body is 409', async () => {
  const gate = new GatedModel()
  const kit = serviceKit(gate.made)
  const headers = { 'idempotency-key': 'order-7' }
  const begin = (body: object) => kit.ask('/runs', { body, headers })
  const answers = await Promise.all([
    begin({ input: 'a' }),
    begin({ input: 'a' }),
    begin({ input: 'a', agent: 'default' }),
  ])
  const bodies = (await Promise.all(answers.map((answer) => answer.json()))) as { run_id: string }[]
  expect(answers.map(({ status }) => status)).toEqual([201, 200, 200])
  expect(new Set(bodies.map(({ run_id: id }) => id)).size).toBe(1)
  expect((await begin({ input: 'b' })).status).toBe(409)
  expect((await begin({ input: 'a', limits: { turns: 1 } })).status).toBe(409)
  gate.end()
  await ended(kit, bodies[0]?.run_id ?? '')
  expect((await begin({ input: 'a' })).status).toBe(200)
  expect(kit.store.list()).toHaveLength(1)
  expect(
    (await kit.ask('/runs', { body: { input: 'a' }, headers: { 'idempotency-key': 'two words' } })).status,
  ).toBe(400)
})

test('the same key and body give the same run after a restart, and another token has keys of its own', async () => {
  const gate = new GatedModel()
  const before = serviceKit(gate.made)
  const headers = { 'idempotency-key': 'order-8' }
  const runId = await before.start('a', { body: { input: 'a' }, headers })
  await before.service.close()
  const after = serviceKit(gate.made, { store: before.store })
  const again = await after.ask('/runs', { body: { input: 'a' }, headers })
  expect([again.status, ((await again.json()) as JsonObject)['run_id']]).toEqual([200, runId])
  expect((await after.ask('/runs', { body: { input: 'b' }, headers })).status).toBe(409)
  const other = serviceKit(gate.made, {
    store: before.store,
    auth: { tokens: [{ token: `${TOKEN}-of-another`, scopes: ['run'] }] },
  })
  const theirs = await other.ask('/runs', { body: { input: 'a' }, headers, token: `${TOKEN}-of-another` })
  expect(theirs.status).toBe(201)
})

test('a client that leaves before the answer does not take the run with it', async () => {
  const gate = new GatedModel()
  const kit = serviceKit(gate.made)
  const leaving = new AbortController()
  const request = new Request('http://127.0.0.1:4321/runs', {
    method: 'POST',
    headers: { host: '127.0.0.1:4321', authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: '{"input":"go"}',
    signal: leaving.signal,
  })
  const answer = kit.service.fetch(request)
  await until(() => gate.requests === 1)
  leaving.abort()
  const { run_id: runId } = (await (await answer).json()) as { run_id: string }
  gate.end()
  await ended(kit, runId)
  expect(kit.store.find(runId)?.state).toBe('done')
})

test('limits can be narrower than those of the agent and not wider', async () => {
  const gate = new GatedModel({ limits: { turns: 5, toolCalls: 4, ms: 60_000 } })
  const kit = serviceKit(gate.made)
  const limits = { turns: 50, tool_calls: 2, tokens: 1_000, ms: 600_000 }
  const runId = await kit.start('go', { body: { input: 'go', limits } })
  expect(await kit.json(`/runs/${runId}`)).toMatchObject({
    limits: { turns: 5, tool_calls: 2, tokens: 1_000, wall_time_ms: 60_000 },
  })
})
