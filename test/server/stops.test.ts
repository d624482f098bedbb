import { expect, test } from 'vitest'

import { agent } from '../../src/agent.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import type { RunStore } from '../../src/journal/run-store.ts'
import { tempStore } from '../journal/store-kit.ts'
import { ManualClock } from '../manual-clock.ts'
import { callsAnswer, scriptedModel, textAnswer, watchedTool } from '../scripted-model.ts'
import { serviceKit, streamOf, talkingAgent, until, type ServiceKit } from './service-kit.ts'

test('fault S01: whoever is told goodbye in the middle of a frame gets the rest of the frame first', async () => {
  const kit = serviceKit(talkingAgent(['y'.repeat(500_000)]))
  const runId = await kit.start()
  await until(() => kit.store.find(runId)?.status === 'ended')
  const client = await streamOf(kit, runId)
  // Its first read cuts the frame that has it all.
  for (let at = 0; at < 10 && client.reads.at(-1) !== 64 * 1024; at += 1) await client.next()
  const closed = kit.service.close()
  const events: string[] = []
  for (let event = await client.next(); event !== null; event = await client.next()) {
    events.push(event.event)
    const { seq = null } = JSON.parse(event.data) as { seq?: number }
    expect(seq).toBe(event.id === null ? null : Number(event.id))
  }
  expect(events.at(-1)).toBe('closing')
  await closed
})

/** An agent whose call runs until the test ends it. */
function callingKit(clock: ManualClock, store: RunStore = tempStore()): { kit: ServiceKit; end: () => void } {
  const gate = Promise.withResolvers<string>()
  const { tool } = watchedTool('send', () => gate.promise)
  const model = scriptedModel([callsAnswer(1, [['send', '{}']]), textAnswer(2, 'done')])
  const kit = serviceKit(agent({ model, tools: [tool] }), { clock, store })
  return { kit, end: () => gate.resolve('sent') }
}

async function atWork({ kit }: { kit: ServiceKit }): Promise<string> {
  const runId = await kit.start()
  await until(() => kit.store.find(runId)?.state.endsWith('.running') === true)
  return runId
}

test('a service that stops lets calls that are at work come to their end, and goes on behind them at the next start', async () => {
  const calling = callingKit(new ManualClock())
  const runId = await atWork(calling)
  const { kit } = calling
  const closed = kit.service.close()
  await new Promise((resolve) => setImmediate(resolve))
  expect(kit.store.find(runId)?.owner).not.toBeNull()
  calling.end()
  await closed
  const frames: readonly Frame[] = [...kit.store.read(runId)]
  expect(frames.some(({ type }) => type === 'tool_ended')).toBe(true)
  expect(kit.store.find(runId)).toMatchObject({ status: 'open', owner: null })
  const next = callingKit(new ManualClock(), kit.store)
  expect(await next.kit.service.resumeAll()).toEqual([runId])
  expect(kit.store.find(runId)?.state).toContain('.responding.')
})

test('a call that does not end within 3 seconds is let go of, and the service stops all the same', async () => {
  const clock = new ManualClock()
  const calling = callingKit(clock)
  const runId = await atWork(calling)
  let isClosed = false
  const closed = calling.kit.service.close().finally(() => (isClosed = true))
  await new Promise((resolve) => setImmediate(resolve))
  clock.advance(2_900)
  await new Promise((resolve) => setImmediate(resolve))
  expect(isClosed).toBe(false)
  clock.advance(100)
  await closed
  expect(calling.kit.store.find(runId)).toMatchObject({ status: 'open', owner: null })
})
