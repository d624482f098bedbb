import { execFile } from 'node:child_process'
import { channel } from 'node:diagnostics_channel'
import { promisify } from 'node:util'

import { expect, onTestFinished, test, vi } from 'vitest'

import type { Dispatcher } from '../../src/provider/dispatcher-transport.ts'
import { openResponses } from '../../src/provider/open-responses.ts'
import { fakeProvider, KEY, streams, TEXT, type FakeProvider } from './fake-provider.ts'

// Whoever imports undici sets a dispatcher: this file must not.
const DISPATCHER = Symbol.for('undici.globalDispatcher.1')

async function sendTo({ baseUrl }: FakeProvider): Promise<void> {
  const model = openResponses({ model: 'm-1', apiKey: KEY, baseUrl })
  const fault = await model.send({
    body: '{}',
    idempotencyKey: 'k',
    signal: new AbortController().signal,
    onHead: () => undefined,
    onChunk: () => true,
  })
  expect(fault).toBeNull()
}

type Agent = Dispatcher & { readonly constructor: new (options?: object) => Agent }

/** The dispatcher of Node's fetch, which is there when somebody has used it. */
async function nodesAgent(provider: FakeProvider): Promise<Agent> {
  await (await fetch(provider.baseUrl)).text()
  return Reflect.get(globalThis, DISPATCHER) as Agent
}

/** Counts what goes through dispatchers, in a way that none of them shows. */
function watchDispatch(agent: Agent): () => number {
  const base = Object.getPrototypeOf(Object.getPrototypeOf(agent)) as Dispatcher
  const dispatch = vi.spyOn(base, 'dispatch')
  onTestFinished(() => dispatch.mockRestore())
  return () => dispatch.mock.calls.length
}

function setDispatcher(value: unknown): void {
  const was: unknown = Reflect.get(globalThis, DISPATCHER)
  Reflect.set(globalThis, DISPATCHER, value)
  onTestFinished(() => void Reflect.set(globalThis, DISPATCHER, was))
}

const SOURCE = new URL('../../src/provider/open-responses.ts', import.meta.url).href

test('without anything set, requests go over sockets, and what is behind fetch is not even loaded', async () => {
  const provider = await fakeProvider(streams(TEXT))
  const script = `
    const { openResponses } = await import('${SOURCE}')
    const fault = await openResponses({ model: 'm-1', apiKey: '', baseUrl: '${provider.baseUrl}' }).send({
      body: '{}',
      idempotencyKey: 'k',
      signal: new AbortController().signal,
      onHead: () => undefined,
      onChunk: () => true,
    })
    console.log(fault, globalThis[Symbol.for('undici.globalDispatcher.1')])
  `
  // Tests run in a process that has it loaded.
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script])
  expect([stdout, provider.seen.length]).toEqual(['null undefined\n', 1])
})

test('what Node itself sets when somebody uses fetch changes nothing', async () => {
  const provider = await fakeProvider(streams(TEXT))
  const dispatched = watchDispatch(await nodesAgent(provider))
  await sendTo(provider)
  expect([dispatched(), provider.seen.length]).toEqual([0, 2])
})

test('somebody who watches the requests of the process sees them, until he looks away', async () => {
  const provider = await fakeProvider(streams(TEXT))
  const dispatched = watchDispatch(await nodesAgent(provider))
  const seen = vi.fn<() => void>()
  const requests = channel('undici:request:create')
  requests.subscribe(seen)
  onTestFinished(() => {
    requests.unsubscribe(seen)
  })
  await sendTo(provider)
  expect(seen).toHaveBeenCalledOnce()
  expect(dispatched()).toBeGreaterThan(0)
  requests.unsubscribe(seen)
  const count = dispatched()
  await sendTo(provider)
  expect([dispatched(), provider.seen.length]).toEqual([count, 3])
})

const DRESSED: readonly (readonly [string, (agent: Agent) => unknown])[] = [
  ['with an option', (agent) => new agent.constructor({ connections: 2 })],
  ['with an option of its connections', (agent) => new agent.constructor({ connect: { keepAlive: false } })],
  ['that makes its clients in a way of its own', (agent) => withFactory(agent)],
  [
    'whose dispatch was replaced',
    (agent) => Object.assign(new agent.constructor(), { dispatch: via(agent) }),
  ],
  ['of a class that extends it under the same name', (agent) => new (extended(agent))()],
  ['that is behind something', (agent) => new Proxy(agent, { get: getVia(agent) })],
  ['of no class at all', (agent) => Object.assign(Object.create(null), { dispatch: via(agent) })],
]

function via(agent: Agent): Dispatcher['dispatch'] {
  return (options, handler) => agent.dispatch(options, handler)
}

function getVia(agent: Agent): (target: object, key: string | symbol) => unknown {
  const dispatch = via(agent)
  return (target, key) => (key === 'dispatch' ? dispatch : Reflect.get(target, key))
}

function withFactory(agent: Agent): Agent {
  const plain = new agent.constructor()
  const symbol = Object.getOwnPropertySymbols(plain).find(({ description }) => description === 'factory')
  const make = Reflect.get(plain, symbol ?? '') as (...args: unknown[]) => unknown
  return new agent.constructor({ factory: (...args: unknown[]) => make(...args) })
}

function extended(agent: Agent): new () => Dispatcher {
  return class Agent extends agent.constructor {}
}

test.for(DRESSED)('a dispatcher %s was set for a reason, and is used', async ([, dress]) => {
  const provider = await fakeProvider(streams(TEXT))
  const agent = await nodesAgent(provider)
  setDispatcher(dress(agent))
  const dispatched = watchDispatch(agent)
  await sendTo(provider)
  expect(dispatched()).toBeGreaterThan(0)
  expect(provider.seen).toHaveLength(2)
})

test('a dispatcher like the one that Node sets, without an option, is as good as none', async () => {
  const provider = await fakeProvider(streams(TEXT))
  const agent = await nodesAgent(provider)
  setDispatcher(new agent.constructor())
  const dispatched = watchDispatch(agent)
  await sendTo(provider)
  expect([dispatched(), provider.seen.length]).toEqual([0, 2])
})
