import { AsyncLocalStorage } from 'node:async_hooks'

import { expect, test } from 'vitest'

import { systemClock } from '../../src/clock.ts'
import { openResponses } from '../../src/provider/open-responses.ts'
import { Watchdog } from '../../src/provider/watchdog.ts'
import { ManualClock } from '../manual-clock.ts'

/** Watches over requests by one clock, and notes which was stopped, when, and why. */
function watchdogs(clock: ManualClock, count: number): { dogs: Watchdog[]; stops: string[] } {
  const stops: string[] = []
  const startMs = clock.now()
  const dogs = Array.from(
    { length: count },
    (_, at) =>
      new Watchdog(clock, new AbortController().signal, (cause) =>
        stops.push(`${at} ${cause} ${clock.now() - startMs}`),
      ),
  )
  return { dogs, stops }
}

test('requests that wait by one clock share a timer, and each is stopped at its own time', () => {
  const clock = new ManualClock()
  const { dogs, stops } = watchdogs(clock, 4)
  dogs.forEach((dog, at) => dog.arm('headers', 100 - at * 10))
  expect(clock.armed).toEqual([clock.now() + 70])
  clock.advance(75)
  dogs[1]?.arm('idle', 1)
  dogs[2]?.disarm('headers')
  clock.advance(1000)
  expect([stops, clock.timersArmed]).toEqual([['3 headers 70', '1 idle 76', '0 headers 100'], 0])
  dogs[2]?.end()
  expect(clock.timersArmed).toBe(0)
})

test('those that are due at once are all stopped', () => {
  const clock = new ManualClock()
  const { dogs, stops } = watchdogs(clock, 3)
  for (const dog of dogs) dog.arm('total', 50)
  dogs[1]?.arm('idle', 50)
  clock.advance(50)
  expect([stops.toSorted(), clock.timersArmed]).toEqual([['0 total 50', '1 total 50', '2 total 50'], 0])
})

test('whoever ends in any order takes nobody else along, and the last one the timer', () => {
  const clock = new ManualClock()
  const { dogs, stops } = watchdogs(clock, 5)
  for (const dog of dogs) dog.arm('total', 50)
  for (const at of [2, 4, 0]) dogs[at]?.end()
  dogs[2]?.end()
  expect(clock.timersArmed).toBe(1)
  clock.advance(50)
  expect(stops.toSorted()).toEqual(['1 total 50', '3 total 50'])
  const { dogs: later, stops: none } = watchdogs(clock, 2)
  for (const dog of later) dog.arm('total', 50)
  for (const dog of later) dog.end()
  expect([none, clock.timersArmed]).toEqual([[], 0])
})

test('one that is stopped may end another that is due at the same time', () => {
  const clock = new ManualClock()
  const stops: string[] = []
  const signal = new AbortController().signal
  const first = new Watchdog(clock, signal, () => {
    stops.push('first')
    second.end()
  })
  const second = new Watchdog(clock, signal, () => stops.push('second'))
  first.arm('total', 10)
  second.arm('total', 10)
  clock.advance(10)
  expect([stops, clock.timersArmed]).toEqual([['first'], 0])
})

test('a clock whose functions need it is asked as it wants to be', () => {
  class Standing {
    readonly atMs = 5
    readonly timers: number[] = []
    now(): number {
      return this.atMs
    }
    setTimer(atMs: number): () => void {
      this.timers.push(atMs)
      return () => this.timers.pop()
    }
  }
  const clock = new Standing()
  const dog = new Watchdog(clock, new AbortController().signal, () => undefined)
  dog.arm('total', 10)
  expect(clock.timers).toEqual([15])
  dog.end()
  expect(clock.timers).toEqual([])
})

test('the timer keeps nothing of the context of who sent a request, and a fetch is ended in that context', async () => {
  const storage = new AsyncLocalStorage<string>()
  const seen: (string | undefined)[] = []
  const clock = {
    now: systemClock.now,
    setTimer: (atMs: number, fire: () => void) => {
      seen.push(storage.getStore())
      return systemClock.setTimer(atMs, fire)
    },
  }
  const fetch = (_: unknown, init?: RequestInit): Promise<Response> =>
    new Promise((_resolve, reject) => {
      init?.signal?.addEventListener('abort', () => {
        seen.push(storage.getStore())
        reject(new Error('aborted'))
      })
    })
  const timeouts = { headersMs: 20 }
  const model = openResponses({
    model: 'm',
    baseUrl: 'http://127.0.0.1:9/v1',
    apiKey: 'k',
    fetch,
    clock,
    timeouts,
  })
  const send = (): ReturnType<typeof model.send> =>
    model.send({
      body: '{}',
      idempotencyKey: 'a',
      signal: new AbortController().signal,
      onHead: () => undefined,
      onChunk: () => true,
    })
  const faults = await Promise.all([storage.run('one', send), storage.run('two', send)])
  expect(faults.map((fault) => fault?.code)).toEqual(['headers_timeout', 'headers_timeout'])
  expect(seen.filter((store) => store !== undefined)).toEqual(['one', 'two'])
  expect(seen[0]).toBeUndefined()
})
