import { expect, test } from 'vitest'

import * as schemas from '../../src/server/answer-schemas.ts'
import { startTalk, says } from '../conversation/conversation-kit.ts'
import { tempStore } from '../journal/store-kit.ts'
import { ASK, asking, pair } from '../loop/subagent-kit.ts'
import { callsAnswer, textAnswer } from '../scripted-model.ts'
import { GatedModel, seqs, serviceKit, streamOf, talkingAgent, until, upTo } from './service-kit.ts'

test('a question in the run of a call is answered by its path, and that run is read but takes no commands', async () => {
  const ran: unknown[] = []
  const { agent } = pair(
    [callsAnswer(1, [['pay', '{}']]), textAnswer(2, 'paid')],
    [callsAnswer(1, ASK), textAnswer(2, 'done')],
    { tools: [asking(ran)] },
  )
  const kit = serviceKit(agent)
  const runId = await kit.start()
  await until(() => [...kit.store.read(runId)].some(({ type }) => type === 'approval_requested'))
  const question = [...kit.store.read(runId)].find((frame) => frame.type === 'approval_requested')
  const { runs } = schemas.RUN_LIST.parse(await kit.json('/runs'))
  const child = runs.find((row) => row.run_id !== runId)
  expect(child).toMatchObject({ status: 'running', agent: null, needs: 'approval' })
  const refused = await kit.ask(`/runs/${child?.run_id}/approve`, { body: { call: 'call_1_0' } })
  expect([refused.status, await refused.json()]).toMatchObject([409, { error: { code: 'run_locked' } }])
  const body = { call: question?.path, arguments_hash: question?.arguments_hash }
  expect((await kit.ask(`/runs/${runId}/approve`, { body })).status).toBe(200)
  await until(() => kit.store.find(runId)?.status === 'ended')
  expect(ran).toHaveLength(1)
  const frames = await (await streamOf(kit, child?.run_id ?? '')).frames()
  expect(seqs(frames)).toEqual(upTo(kit.store.find(child?.run_id ?? '')?.frames ?? 0))
})

test('a conversation is listed and its log is read, but it is not explained and takes no commands', async () => {
  const store = tempStore()
  const { talk } = startTalk([says('hello')], { store })
  await talk.send('hi').result
  await talk.close()
  const kit = serviceKit(talkingAgent(), { store })
  const { runs } = schemas.RUN_LIST.parse(await kit.json('/runs?kind=conversation'))
  expect(runs).toMatchObject([{ kind: 'conversation', state: 'conversation', turn: 1, agent: null }])
  const id = runs[0]?.run_id ?? ''
  expect(schemas.RUN.parse(await kit.json(`/runs/${id}`))).toMatchObject({
    explain: null,
    can: [],
    usage: null,
  })
  expect((await kit.ask(`/runs/${id}/cancel`, { body: {} })).status).toBe(409)
  const page = schemas.FRAME_PAGE.parse(await kit.json(`/runs/${id}/frames`))
  expect(page.frames.map(({ seq }) => seq)).toEqual(upTo(store.find(id)?.frames ?? 0))
  expect((await (await kit.ask(`/runs/${id}/log`)).text()).trimEnd().split('\n')).toHaveLength(
    page.frames.length,
  )
})

test('what a run has done so far is told while it goes on', async () => {
  const gate = new GatedModel()
  const kit = serviceKit(gate.made)
  const runId = await kit.start()
  await until(() => gate.requests === 1)
  gate.say('some')
  await until(async () => (await kit.json(`/runs/${runId}`))['state'] === 'working.responding.streaming')
  const before = schemas.RUN.parse(await kit.json(`/runs/${runId}`))
  expect(before).toMatchObject({ status: 'running', turn: 1, usage: { turns: 1, total_tokens: 0 } })
  expect(before.explain?.waits_for).toEqual(['the end of response 1'])
  gate.end()
  await until(() => kit.store.find(runId)?.status === 'ended')
  const after = schemas.RUN.parse(await kit.json(`/runs/${runId}`))
  expect(after.usage?.['total_tokens']).toBeGreaterThan(0)
  expect(after.last_seq).toBe((kit.store.find(runId)?.frames ?? 0) - 1)
})
