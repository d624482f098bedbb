import { expect, test } from 'vitest'

import type { CompactionWay } from '../../src/conversation/conversation-api.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { modelError } from '../../src/testing/script-turns.ts'
import { tempStore } from '../journal/store-kit.ts'
import { calls, inputsOf, loggedFrames, ofType, says, startTalk, textOf } from './conversation-kit.ts'

const LONG = 'word '.repeat(400)

function answers(count: number) {
  return Array.from({ length: count }, (_, at) => says(`answer ${at}: ${LONG}`))
}

function textIn(items: readonly JsonObject[] | undefined): string {
  return JSON.stringify(items)
}

test('From a share of the budget on, older turns give way to a summary before the next message.', async () => {
  const { talk, model } = startTalk(answers(6), { context: { budgetTokens: 2000 } })
  for (let at = 0; at < 6; at += 1) await talk.send(`message ${at}`)
  const [frame] = ofType(await loggedFrames(talk), 'history_compacted')
  expect(frame).toMatchObject({
    cause: 'tokens',
    figures: { way: 'rules', asked_way: 'rules', detail: null },
  })
  expect(Number(frame?.figures['tokens_after'])).toBeLessThan(Number(frame?.figures['tokens_before']))
  const last = inputsOf(model).at(-1)
  expect(last?.[0]).toMatchObject({ role: 'system' })
  expect(textIn(last)).toContain('Summary of the earlier conversation:')
  expect(last?.at(-1)).toMatchObject({ content: 'message 5' })
})

test('From a number of messages on, older turns give way to a summary.', async () => {
  const { talk } = startTalk(answers(4), { compaction: { atMessages: 3 } })
  for (let at = 0; at < 4; at += 1) await talk.send(`message ${at}`)
  expect(ofType(await loggedFrames(talk), 'history_compacted')).toMatchObject([{ cause: 'messages' }])
})

test('Nothing is compacted by itself when that is switched off: the oldest turns are left out instead.', async () => {
  const { talk, model } = startTalk(answers(6), { context: { budgetTokens: 2000 }, compaction: false })
  for (let at = 0; at < 6; at += 1) await talk.send(`message ${at}`)
  expect(inputsOf(model).at(-1)?.[0]).toMatchObject({ role: 'user' })
  const frames = await loggedFrames(talk)
  expect(ofType(frames, 'history_compacted')).toEqual([])
  expect(ofType(frames, 'context_selected').at(-1)?.selection['left_out']).not.toEqual([])
})

test('Somebody can ask for it, and it says how much shorter it became.', async () => {
  const { talk, model } = startTalk([...answers(3), says('done')])
  for (let at = 0; at < 3; at += 1) await talk.send(`message ${at}`)
  const result = await talk.compact()
  expect(result).toMatchObject({ status: 'compacted', way: 'rules', entrySeq: 6 })
  if (result.status !== 'compacted') throw new Error('it was refused')
  expect(result.tokensAfter).toBeLessThan(result.tokensBefore)
  await talk.send('and now?')
  expect(textIn(inputsOf(model).at(-1))).not.toContain('message 0:')
})

test('A conversation of one turn has nothing to make shorter.', async () => {
  const { talk } = startTalk(answers(1))
  await talk.send('message')
  expect(await talk.compact()).toMatchObject({ status: 'refused' })
})

test('A conversation that was closed is not compacted any more, and says so.', async () => {
  const { talk } = startTalk(answers(2), { store: tempStore() })
  await talk.send('message 0')
  await talk.send('message 1')
  await talk.close()
  expect(await talk.compact()).toEqual({ status: 'refused', reason: 'the conversation was closed' })
})

test('A compaction is undone by a fork from before it: the fork is told everything again.', async () => {
  const { talk, model } = startTalk([...answers(3), says('done')])
  for (let at = 0; at < 3; at += 1) await talk.send(`message ${at}`)
  const before = inputsOf(model).at(-1) ?? []
  const result = await talk.compact()
  if (result.status !== 'compacted') throw new Error('it was refused')
  const forked = await talk.fork({ at: result.entrySeq - 1 })
  await forked.send('and now?')
  expect(inputsOf(model).at(-1)?.slice(0, before.length)).toEqual(before)
  await forked.close()
})

test('The summary of a summary still has what the first one said.', async () => {
  const { talk, model } = startTalk([says(`The password is swordfish. ${LONG}`), ...answers(5), says('end')])
  await talk.send('remember swordfish')
  await talk.send('message 1')
  await talk.send('message 2')
  await talk.compact()
  await talk.send('message 3')
  await talk.send('message 4')
  await talk.compact()
  await talk.send('what was it?')
  expect(textIn(inputsOf(model).at(-1))).toContain('swordfish')
})

test('The model can write the summary, in a run of its own that the log names and that counts.', async () => {
  const store = tempStore()
  const { talk, model } = startTalk([...answers(3), says('They talked at length.'), says('done')], {
    store,
    compaction: { way: 'model' },
  })
  for (let at = 0; at < 3; at += 1) await talk.send(`message ${at}`)
  const before = talk.usage.total_tokens
  expect(await talk.compact()).toMatchObject({ status: 'compacted', way: 'model', detail: null })
  expect(talk.usage.total_tokens).toBeGreaterThan(before)
  expect(model.requests.at(-1)).not.toHaveProperty('tools')
  await talk.send('and now?')
  expect(textIn(inputsOf(model).at(-1))).toContain('They talked at length.')
  const [frame] = ofType(await loggedFrames(talk), 'history_compacted')
  const runId = frame?.figures['child_run_id']
  if (typeof runId !== 'string') throw new Error('no run is named')
  expect([...store.read(runId)].at(-1)).toMatchObject({ type: 'run_ended', state: 'done' })
})

test('A model that gives no summary is stood in for by the rules, and the log says why.', async () => {
  const { talk } = startTalk([...answers(2), modelError(400, { code: 'nope', message: 'no' }), says('done')])
  await talk.send('message 0')
  await talk.send('message 1')
  const result = await talk.compact({ way: 'model' })
  expect(result).toMatchObject({ status: 'compacted', way: 'rules', detail: expect.stringContaining('nope') })
  expect(textOf(await talk.send('and now?'))).toBe('done')
})

test('A provider without an endpoint for it is stood in for by the rules.', async () => {
  const { talk } = startTalk(answers(2), { modelOptions: { name: 'plain' } })
  await talk.send('message 0')
  await talk.send('message 1')
  expect(await talk.compact({ way: 'provider' })).toMatchObject({
    status: 'compacted',
    way: 'rules',
    detail: expect.stringContaining('no endpoint'),
  })
})

test.each<CompactionWay>(['rules', 'model'])(
  'Work with tools is part of what is summarised by %s, and no call is sent without its output.',
  async (way) => {
    const { talk, model } = startTalk(
      [
        calls('add', { a: 1, b: 2 }),
        says(`three ${LONG}`),
        calls('add', { a: 3, b: 4 }),
        says(`seven ${LONG}`),
        ...(way === 'model' ? [says('Sums were made.')] : []),
        says('done'),
      ],
      { toolHistory: { strategy: 'native' } },
    )
    await talk.send('1+2?')
    await talk.send('3+4?')
    await talk.compact({ way })
    await talk.send('and now?')
    const last = inputsOf(model).at(-1) ?? []
    expect(last.filter(({ type }) => type === 'function_call')).toHaveLength(1)
    expect(last.filter(({ type }) => type === 'function_call_output')).toHaveLength(1)
  },
)
