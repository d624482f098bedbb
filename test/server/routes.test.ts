import { expect, test } from 'vitest'

import * as schemas from '../../src/server/answer-schemas.ts'
import { seqs, serviceKit, streamOf, talkingAgent, until, upTo } from './service-kit.ts'

test('a run is begun, followed to its end, and read back', async () => {
  const kit = serviceKit(talkingAgent())
  const begun = await kit.ask('/runs', { body: { input: 'hi' } })
  expect(begun.status).toBe(201)
  const { run_id: runId } = schemas.STARTED.parse(await begun.json())
  expect(runId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u)
  const client = await streamOf(kit, runId)
  const frames = await client.frames()
  expect(seqs(frames)).toEqual(upTo(frames.length))
  expect(frames.at(-1)?.type).toBe('run_ended')
  expect(await client.next()).toBeNull()
  await until(async () => (await kit.json(`/runs/${runId}`))['status'] === 'ended')
  const run = schemas.RUN.parse(await kit.json(`/runs/${runId}`))
  expect(run).toMatchObject({ state: 'done', status: 'ended', agent: 'default', last_seq: frames.length - 1 })
  const list = schemas.RUN_LIST.parse(await kit.json('/runs'))
  expect(list.runs).toMatchObject([{ run_id: runId, state: 'done', status: 'ended', needs: null }])
  const log = await (await kit.ask(`/runs/${runId}/log`)).text()
  expect(
    log
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual(frames)
})
