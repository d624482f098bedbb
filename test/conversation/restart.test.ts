import { expect, test } from 'vitest'

import { agent } from '../../src/agent.ts'
import { conversation } from '../../src/conversation/conversation.ts'
import type { ConversationTurn } from '../../src/conversation/conversation-api.ts'
import { run } from '../../src/loop/run.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { openedStore, tempFolder, tempStore, thrownBy } from '../journal/store-kit.ts'
import {
  addTool,
  calls,
  inputsOf,
  loggedFrames,
  ofType,
  says,
  startTalk,
  textOf,
} from './conversation-kit.ts'

const ASKS = { agentOptions: { tools: [addTool({ needsApproval: true })] } } as const

async function untilAsked(turn: ConversationTurn): Promise<void> {
  for await (const frame of turn) if (frame.type === 'approval_requested') return
}

test('A conversation that is opened again goes on where it was.', async () => {
  const store = tempStore()
  const first = startTalk([says('Hello Ada.')], { store, id: 'c1' })
  await first.talk.send('I am Ada.')
  const { entries, usage } = first.talk
  await first.talk.close()

  const second = startTalk([says('Ada.')], { store, id: 'c1' })
  expect(second.talk.entries).toEqual(entries)
  expect(second.talk.usage).toEqual(usage)
  expect(textOf(await second.talk.send('Who am I?'))).toBe('Ada.')
  expect(inputsOf(second.model)[0]?.map(({ content }) => content)).toEqual([
    'I am Ada.',
    'Hello Ada.',
    'Who am I?',
  ])
})

test('A store may be given by its path, and is closed with the last conversation that needs it.', async () => {
  const path = `${tempFolder()}/runs.db`
  const { talk } = startTalk([says('one'), says('two')], { store: path, id: 'c1' })
  await talk.send('first')
  const forked = await talk.fork({ id: 'c2' })
  await talk.close()
  expect(textOf(await forked.send('second'))).toBe('two')
  await forked.close()
  const listed = openedStore(path).list()
  expect(listed.map(({ runId, kind }) => `${kind} ${runId}`)).toEqual([
    'conversation c1',
    'run c1.0',
    'conversation c2',
    'run c2.2',
  ])
})

test('A list tells conversations from runs, with how many messages they have.', async () => {
  const store = tempStore()
  const { talk } = startTalk([says('one'), says('two')], { store, id: 'c1' })
  await talk.send('first')
  await talk.send('second')
  const row = store.list().find(({ runId }) => runId === 'c1')
  expect(row).toMatchObject({ kind: 'conversation', state: 'conversation', turn: 2, model: 'scripted-1' })
  expect(row?.owner?.pid).toBe(process.pid)
})

test('A conversation in which nothing was said leaves nothing in the store.', async () => {
  const store = tempStore()
  const { talk } = startTalk([], { store, id: 'c1' })
  await talk.close()
  expect(store.list()).toEqual([])
  expect(startTalk([], { store, id: 'c1' }).talk.entries).toEqual([])
})

test('A conversation that is open elsewhere is refused with who has it.', () => {
  const store = tempStore()
  startTalk([], { store, id: 'c1' })
  const elsewhere = openedStore(store.path)
  const error = thrownBy(() =>
    conversation(agent({ model: scriptedModel([]) }), { store: elsewhere, id: 'c1' }),
  )
  expect(error).toMatchObject({ code: 'run_locked' })
  expect(String(error)).toContain(`conversation c1 is open in process ${process.pid}`)
})

test('The id of a run is refused, and the run is not touched.', async () => {
  const store = tempStore()
  const answering = agent({ model: scriptedModel([says('one')]) })
  await run(answering, 'hi', { store, runId: 'r1' }).result
  expect(thrownBy(() => conversation(answering, { store, id: 'r1' }))).toMatchObject({ code: 'usage' })
  expect(store.list()[0]).toMatchObject({ runId: 'r1', state: 'done', owner: null })
})

test('A run that was let go of keeps the conversation open until it is resumed.', async () => {
  const store = tempStore()
  const first = startTalk([calls('add', { a: 1, b: 2 })], { store, id: 'c1', ...ASKS })
  const turn = first.talk.send('1+2?')
  await untilAsked(turn)
  await (await turn.run)?.suspend()
  expect(await turn).toMatchObject({
    status: 'suspended',
    state: expect.stringContaining('awaitingApproval'),
  })
  expect(first.talk.state).toBe('open')
  expect(await first.talk.send('hello?')).toMatchObject({ status: 'refused', reason: 'open_run' })
  expect(await first.talk.compact()).toMatchObject({ status: 'refused' })
  await first.talk.close()

  const second = startTalk([says('three')], { store, id: 'c1', ...ASKS })
  expect(second.talk.openRun).toBe('c1.0')
  const resumed = second.talk.resume()
  const live = await resumed.run
  await live?.approve('call_1_0')
  expect(textOf(await resumed)).toBe('three')
  expect(second.talk.state).toBe('idle')
  expect(second.talk.entries.map(({ type }) => type)).toEqual(['message', 'tool_work', 'answer'])
})

test('Closing lets go of the run that is under way, and it can be resumed.', async () => {
  const store = tempStore()
  const first = startTalk([calls('add', { a: 1, b: 2 })], { store, id: 'c1', ...ASKS })
  const turn = first.talk.send('1+2?')
  await untilAsked(turn)
  await first.talk.close()
  expect(await turn).toMatchObject({ status: 'suspended' })
  const second = startTalk([says('three')], { store, id: 'c1', ...ASKS })
  expect(second.talk.openRun).toBe('c1.0')
})

test('A run that was resumed and ended by itself is taken in when the conversation is opened.', async () => {
  const store = tempStore()
  const first = startTalk([calls('add', { a: 1, b: 2 })], { store, id: 'c1', ...ASKS })
  const turn = first.talk.send('1+2?')
  await untilAsked(turn)
  await (await turn.run)?.suspend()
  await first.talk.close()
  const alone = run(
    agent({ model: scriptedModel([says('three')]), ...ASKS.agentOptions }),
    { resume: 'c1.0' },
    { store },
  )
  await alone.approve('call_1_0')
  await alone.result

  const second = startTalk([says('you are welcome')], { store, id: 'c1', ...ASKS })
  expect(second.talk.openRun).toBeNull()
  expect(second.talk.entries.map(({ type }) => type)).toEqual(['message', 'tool_work', 'answer'])
  expect(textOf(await second.talk.send('thanks'))).toBe('you are welcome')
  expect(second.talk.usage.runs).toBe(2)
})

test('A run that was announced and never begun is begun when it is resumed.', async () => {
  const store = tempStore()
  const first = startTalk([says('one')], { store, id: 'c1' })
  await first.talk.send('first')
  await first.talk.close()
  // As a crash would leave it: the conversation says that a run is about to begin, and there is none.
  const frames = [...store.read('c1')]
  const cut = frames.findIndex(({ type }) => type === 'conversation_run_started')
  const broken = tempStore()
  broken.importRun(frames.slice(0, cut + 1).map((frame) => JSON.stringify(frame)))

  const second = startTalk([says('one again')], { store: broken, id: 'c1' })
  expect(second.talk.openRun).toBe('c1.0')
  expect(textOf(await second.talk.resume())).toBe('one again')
  expect(second.talk.entries.map(({ type }) => type)).toEqual(['message', 'answer'])
  expect([...broken.read('c1.0-2')].at(-1)?.type).toBe('run_ended')
})

test('A run that is abandoned leaves what it did, with every call answered.', async () => {
  const store = tempStore()
  const options = {
    store,
    id: 'c1',
    toolHistory: { strategy: 'native' },
    agentOptions: { tools: [addTool({ needsApproval: ({ a }) => Number(a) > 1 })] },
  } as const
  const { talk, model } = startTalk(
    [calls('add', { a: 1, b: 2 }), calls('add', { a: 2, b: 2 }), says('all right')],
    options,
  )
  const turn = talk.send('add up')
  await untilAsked(turn)
  await (await turn.run)?.suspend()
  await turn
  expect(await talk.abandon()).toBe(true)
  expect(await talk.abandon()).toBe(false)
  expect(textOf(await talk.send('never mind'))).toBe('all right')
  const last = inputsOf(model)[2] ?? []
  expect(last.map(({ type }) => type)).toEqual([
    'message',
    'function_call',
    'function_call_output',
    'function_call',
    'function_call_output',
    'message',
  ])
  expect(last[4]?.['output']).toContain('cancelled')
  const [, ended] = ofType(await loggedFrames(talk), 'conversation_run_ended').slice(-2)
  expect(ended).toMatchObject({ state: 'done' })
})

test('Without a store, a run that was let go of can be abandoned and not resumed.', async () => {
  const { talk } = startTalk([calls('add', { a: 1, b: 2 }), says('ok')], ASKS)
  const turn = talk.send('1+2?')
  await untilAsked(turn)
  await (await turn.run)?.suspend()
  await turn
  expect(await talk.resume()).toMatchObject({ status: 'refused', reason: 'open_run' })
  expect(await talk.abandon()).toBe(true)
  expect(talk.entries.map(({ type }) => type)).toEqual(['message', 'tool_work'])
  expect(textOf(await talk.send('go on'))).toBe('ok')
})

test('A conversation that has nothing open says so when it is asked to resume.', async () => {
  const { talk } = startTalk([])
  expect(await talk.resume()).toMatchObject({ status: 'refused', reason: 'nothing_open' })
})

test('A store that cannot be written any more fails the message and refuses the next.', async () => {
  let isFull = false
  const store = tempStore({
    aroundWrite: (_, execute) => {
      if (isFull) throw Object.assign(new Error('disk full'), { errcode: 13, code: 'ERR_SQLITE_ERROR' })
      return execute()
    },
  })
  const { talk } = startTalk([says('one'), says('two')], { store, id: 'c1' })
  await talk.send('first')
  isFull = true
  await expect(talk.send('second').result).rejects.toMatchObject({ code: 'store_full' })
  expect(await talk.send('third')).toMatchObject({ status: 'refused', reason: 'store_failed' })
  isFull = false
  await talk.close()
  expect(startTalk([], { store, id: 'c1' }).talk.entries.map(({ type }) => type)).toEqual([
    'message',
    'answer',
  ])
})

test('A fork begins with the entries up to a place, and the other goes on without it.', async () => {
  const { talk, model } = startTalk([says('one'), says('two'), says('other')], { store: tempStore() })
  await talk.send('first')
  await talk.send('second')
  const forked = await talk.fork({ at: 1 })
  expect(textOf(await forked.send('instead'))).toBe('other')
  expect(inputsOf(model)[2]?.map(({ content }) => content)).toEqual(['first', 'one', 'instead'])
  expect(talk.entries).toHaveLength(4)
  const [started] = await loggedFrames(forked)
  expect(started).toMatchObject({ from: { conversation_id: talk.id, entry_seq: 1, kind: 'fork' } })
  await expect(talk.fork({ at: 9 })).rejects.toMatchObject({ code: 'usage' })
})

test('Another agent that a conversation is handed to is told what was said, and why.', async () => {
  const { talk } = startTalk([says('one')], { store: tempStore() })
  await talk.send('first')
  const specialist = scriptedModel([says('mine now')], { name: 'specialist' })
  const next = await talk.handoff(agent({ model: specialist }), { note: 'The customer is in a hurry.' })
  await next.send('second')
  expect(inputsOf(specialist)[0]?.map(({ role, content }) => [role, content])).toEqual([
    ['user', 'first'],
    ['assistant', 'one'],
    ['developer', 'The customer is in a hurry.'],
    ['user', 'second'],
  ])
  await next.close()
  expect(ofType(await loggedFrames(talk), 'handed_off')).toMatchObject([{ to: next.id, model: 'specialist' }])
})
