import { createBrowserInspector, createBrowserReceiver, createWebSocketInspector } from '@statelyai/inspect'
import type { StatelyInspectionEvent } from '@statelyai/inspect'
import { expect, test } from 'vitest'

import { connectStately } from '../../src/inspect/connect-stately.ts'
import type { InspectionEvent, StatelyEvent } from '../../src/inspect/inspection-event.ts'
import { inspectionOf } from '../../src/inspect/inspection.ts'
import { STATELY_NOTICE, statelyView } from '../../src/inspect/stately-view.ts'
import { run } from '../../src/run.ts'
import { ManualClock } from '../manual-clock.ts'
import { readLog, RUN_FIXTURES } from '../replay/read-log.ts'
import { addingAgent, forStately, written } from './inspect-kit.ts'
import { connectedClient, freePort, startRelay } from './relay-kit.ts'

const EVENTS = [...inspectionOf(readLog('calls-and-approval'))]
const quiet = { notify: () => undefined }

test.for(RUN_FIXTURES)('the stream of %s has the types that @statelyai/inspect asks for', (name) => {
  const events = forStately(inspectionOf(readLog(name))).map(accept)
  expect(events.length).toBeGreaterThan(3)
  for (const { createdAt, sessionId } of events) {
    expect(Number(createdAt)).toBeGreaterThan(0)
    expect(sessionId).not.toBe('')
  }
})

/** The compiler checks this: it does not build when a field is missing or of another type. */
function accept(event: StatelyEvent): StatelyInspectionEvent {
  return event satisfies StatelyInspectionEvent
}

test('a recorded stream goes through the relay of @statelyai/inspect and comes out the same', async () => {
  const url = await startRelay(await freePort())
  const client = await connectedClient(url)
  const connection = connectStately(url, quiet)
  for (const event of EVENTS) connection.inspect(event)
  const expected = written(forStately(EVENTS))
  expect(await client.received(expected.length)).toEqual(expected)
  await connection.close()
  expect(client.messages).toHaveLength(expected.length)
})

test('a live run goes through the relay as its log would', async () => {
  const url = await startRelay(await freePort())
  const client = await connectedClient(url)
  const connection = connectStately(url, quiet)
  const seen: InspectionEvent[] = []
  const inspect = (event: InspectionEvent): void => {
    seen.push(event)
    connection.inspect(event)
  }
  await run(addingAgent(), 'add', { inspect }).result
  const expected = written(forStately(seen))
  expect(await client.received(expected.length)).toEqual(expected)
  await connection.close()
})

test('a stream goes through a client of @statelyai/inspect as through our own', async () => {
  const url = await startRelay(await freePort())
  const client = await connectedClient(url)
  const inspector = createWebSocketInspector({ url, serializationDepthLimit: 100 })
  const inspect = statelyView(inspector.adapter, quiet)
  for (const event of EVENTS) inspect(event)
  const expected = written(forStately(EVENTS))
  expect(await client.received(expected.length)).toEqual(expected)
  inspector.stop()
})

test('a relay that is not there yet gets the chart and the current state when it is', async () => {
  const port = await freePort()
  const clock = new ManualClock()
  const { promise: failed, resolve: fail } = Promise.withResolvers<string>()
  const connection = connectStately(`ws://127.0.0.1:${port}`, { ...quiet, clock, onFault: fail })
  const long = [...EVENTS, ...Array.from({ length: 100 }, () => EVENTS.slice(1)).flat()]
  for (const event of long) connection.inspect(event)
  expect(await failed).toContain(`no connection to ws://127.0.0.1:${port}`)
  const client = await connectedClient(await startRelay(port))
  clock.advance(2000)
  const tail = long.slice(-200)
  const expected = written(forStately([...EVENTS.slice(0, 1), ...tail]))
  expect(await client.received(expected.length)).toEqual(expected)
  await connection.close()
})

test('closing a connection that was never made ends at once, and nothing is tried again', async () => {
  const port = await freePort()
  const clock = new ManualClock()
  const { promise: failed, resolve: fail } = Promise.withResolvers<string>()
  const connection = connectStately(`ws://127.0.0.1:${port}`, { ...quiet, clock, onFault: fail })
  await failed
  expect(clock.timersArmed).toBe(1)
  await connection.close()
  expect(clock.timersArmed).toBe(0)
})

test('an address that is no WebSocket is refused', () => {
  expect(() => connectStately('https://stately.ai/inspect')).toThrow('begins with ws:// or wss://')
  expect(() => connectStately('nowhere')).toThrow('begins with ws:// or wss://')
})

test('whoever sends to the Stately inspector is told, once, that the data reaches a hosted page', () => {
  const notices: string[] = []
  const inspect = statelyView({ send: () => undefined }, { notify: (notice) => void notices.push(notice) })
  for (const event of EVENTS) inspect(event)
  expect(notices).toEqual([STATELY_NOTICE])
  expect(STATELY_NOTICE).toMatch(/stately\.ai/u)
})

test('microsteps do not reach the Stately inspector, and everything else does', () => {
  const sent: StatelyEvent[] = []
  const inspect = statelyView({ send: (event) => void sent.push(event) }, quiet)
  for (const event of EVENTS) inspect(event)
  expect(EVENTS.some(({ type }) => type === '@loopchart.microstep')).toBe(true)
  expect(sent).toEqual(forStately(EVENTS))
})

test('a browser inspector posts the stream to its window once the page has answered, and the page takes it', () => {
  const [page, opener] = [new FakeWindow(), new FakeWindow()]
  page.opener = opener
  opener.opened = page
  const inspector = createBrowserInspector({
    window: opener.asWindow(),
    maxDeferredEvents: 1000,
    serialize: (event) => JSON.parse(JSON.stringify(event)) as StatelyInspectionEvent,
  })
  const inspect = statelyView(inspector.adapter, quiet)
  for (const event of EVENTS.slice(0, 10)) inspect(event)
  expect(page.received).toEqual([])
  const taken: StatelyInspectionEvent[] = []
  createBrowserReceiver({ window: page.asWindow() }).subscribe((event) => void taken.push(event))
  // Subscribed after it said hello, as a page does: what was kept came before, so it is sent again.
  opener.dispatch({ type: '@statelyai.connected' })
  for (const event of EVENTS.slice(10)) inspect(event)
  const expected = written(forStately(EVENTS))
  expect(taken.slice(-expected.length)).toEqual(expected)
})

/** As much of a window as the two ends of the protocol use. */
class FakeWindow {
  readonly received: unknown[] = []
  opener: FakeWindow | null = null
  opened: FakeWindow | null = null
  readonly self = this
  readonly top = this
  readonly #listeners: ((event: { readonly data: unknown }) => void)[] = []

  // The project has no types of the DOM.
  asWindow(): never {
    return this as never
  }

  open(): FakeWindow | null {
    return this.opened
  }

  addEventListener(_: string, listener: (event: { readonly data: unknown }) => void): void {
    this.#listeners.push(listener)
  }

  postMessage(data: unknown): void {
    this.received.push(data)
    this.dispatch(data)
  }

  dispatch(data: unknown): void {
    for (const listener of this.#listeners) listener({ data })
  }
}
