import { expect, onTestFinished, test } from 'vitest'

import { agent } from '../../src/agent.ts'
import { conversation } from '../../src/conversation/conversation.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { tempFolder, tempStore } from '../journal/store-kit.ts'
import { addTool, calls, inputsOf, loggedFrames, ofType, says, startTalk } from './conversation-kit.ts'

const long = (at: number): ReturnType<typeof says> => says(`This is the answer to message ${at}. `.repeat(3))

test('Turns are not left out for want of room while a summary can make some.', async () => {
  const { talk } = startTalk(
    Array.from({ length: 200 }, (_, at) => long(at)),
    {
      context: { budgetTokens: 2000 },
      compaction: { summaryTokens: 300 },
    },
  )
  for (let at = 0; at < 200; at += 1) await talk.send(`Message ${at} is about this and that.`)
  const frames = ofType(await loggedFrames(talk), 'context_selected')
  expect(frames.flatMap(({ selection }) => selection['left_out'])).toHaveLength(0)
})

test('What was said to a run that then failed is a message of the conversation.', async () => {
  const { talk, model } = startTalk([
    async () => {
      expect(await (await turn.run)?.steer('In French.')).toMatchObject({ answer: 'queued' })
      return { fault: { type: 'status', status: 401 } }
    },
    says('ok'),
  ])
  const turn = talk.send('first')
  expect(await turn).toMatchObject({ state: 'failed' })
  await talk.send('second')
  expect(inputsOf(model)[1]?.map(({ content }) => content)).toEqual(['first', 'In French.', 'second'])
})

test('Messages older than the number that a run is told are in a summary, also short ones.', async () => {
  const { talk, model } = startTalk(
    Array.from({ length: 20 }, () => says('ok')),
    { context: { recent: 4 } },
  )
  for (let at = 0; at < 20; at += 1) await talk.send(`m${at}`)
  const text = JSON.stringify(inputsOf(model).at(-1))
  expect(text.includes('m0') || text.includes('Summary')).toBe(true)
})

test('Where the provider makes nothing shorter the rules do, and it is not asked again each time.', async () => {
  const model = scriptedModel(
    Array.from({ length: 100 }, (_, at) => long(at)),
    { compact: true },
  )
  const talk = conversation(agent({ model }), {
    context: { budgetTokens: 2000 },
    compaction: { way: 'provider', summaryTokens: 100 },
  })
  onTestFinished(() => talk.close())
  for (let at = 0; at < 100; at += 1) await talk.send(`Message ${at} is about this and that.`)
  const frames = await loggedFrames(talk)
  expect(model.compactRequests.length).toBeLessThan(20)
  expect(ofType(frames, 'history_compacted').length).toBeGreaterThan(0)
  expect(ofType(frames, 'context_selected').flatMap(({ selection }) => selection['left_out'])).toHaveLength(0)
})

test('A summary that was asked for and not taken counts.', async () => {
  const { talk } = startTalk([says('one'), says('two'), says('A very long summary. '.repeat(50))])
  await talk.send('first')
  await talk.send('second')
  const before = talk.usage.total_tokens
  expect(await talk.compact({ way: 'model' })).toMatchObject({ status: 'refused' })
  expect(talk.usage.total_tokens).toBeGreaterThan(before)
})

test('A conversation that was closed leaves nothing, and does not reject.', async () => {
  const { talk } = startTalk([calls('add', {})], {
    store: `${tempFolder()}/runs.db`,
    agentOptions: { tools: [addTool({ needsApproval: true })] },
  })
  const turn = talk.send('x')
  for await (const frame of turn) if (frame.type === 'approval_requested') break
  await talk.close()

  await expect(talk.abandon()).resolves.toBe(false)
})

test('Instructions that have changed are told where they are an item, cursor or not.', async () => {
  const store = tempStore()
  const options = { store, id: 'c1', crossRunCursor: 'use' } as const
  const request = { systemPromptPlacement: 'developer' } as const
  const one = startTalk([says('one')], { ...options, agentOptions: { instructions: 'OLD', request } })
  await one.talk.send('first')
  await one.talk.close()
  const two = startTalk([says('two')], { ...options, agentOptions: { instructions: 'NEW', request } })
  await two.talk.send('second')
  expect(JSON.stringify(two.model.requests[0])).toContain('NEW')
})
