import { expect, test } from 'vitest'

import { MemoryJournal } from '../../../src/journal/memory-journal.ts'
import { ManualClock } from '../../manual-clock.ts'

test('an effect starts when the next decision is asked for, not when it is registered', async () => {
  const journal = new MemoryJournal(new ManualClock())
  const started: string[] = []
  journal.start('a', () => {
    started.push('a')
    return Promise.resolve(1)
  })
  await Promise.resolve()
  expect(started).toEqual([])
  expect(await journal.next()).toEqual({ kind: 'settled', key: 'a', value: 1 })
})

test('what was aborted says nothing any more, also when it is aborted before it started', async () => {
  const journal = new MemoryJournal(new ManualClock())
  const running = Promise.withResolvers<number>()
  let signal: AbortSignal | null = null
  journal.start('never', () => Promise.resolve(0))
  journal.abort('never')
  journal.start('a', (given) => {
    signal = given
    return running.promise
  })
  const next = journal.next()
  await Promise.resolve()
  journal.abort('a')
  running.resolve(1)
  expect(signal).toMatchObject({ aborted: true })
  const answered = journal.send({ type: 'run.cancel' })
  const decision = await next
  expect(decision.kind).toBe('command')
  if (decision.kind === 'command') decision.reply({ answer: 'accepted', reason: null })
  expect(await answered).toEqual({ answer: 'accepted', reason: null })
})

test('a rejection and a throw are bugs, told apart from results', async () => {
  const journal = new MemoryJournal(new ManualClock())
  journal.start('rejects', () => Promise.reject(new Error('no')))
  journal.start('throws', () => {
    throw new Error('never')
  })
  const kinds = [await journal.next(), await journal.next()].map(({ kind }) => kind)
  expect(kinds).toEqual(['bug', 'bug'])
})

test('a timer settles its key at its time, and an aborted one never', async () => {
  const clock = new ManualClock()
  const journal = new MemoryJournal(clock)
  journal.timer('late', clock.now() + 50)
  journal.timer('early', clock.now() + 10)
  journal.timer('never', clock.now() + 5)
  journal.abort('never')
  clock.advance(20)
  expect(await journal.next()).toEqual({ kind: 'settled', key: 'early', value: null })
  clock.advance(100)
  expect(await journal.next()).toEqual({ kind: 'settled', key: 'late', value: null })
  expect(clock.armed).toEqual([])
})

test('a closed journal refuses commands, waiting ones too, and aborts what runs', async () => {
  const clock = new ManualClock()
  const journal = new MemoryJournal(clock)
  journal.timer('t', clock.now() + 5)
  const waiting = journal.send({ type: 'run.cancel' })
  await journal.close()
  expect(await waiting).toMatchObject({ answer: 'refused' })
  expect(await journal.send({ type: 'run.cancel' })).toMatchObject({ answer: 'refused' })
  expect(clock.armed).toEqual([])
})
