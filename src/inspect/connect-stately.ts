import { systemClock, type Clock } from '../clock.ts'
import { LoopchartError } from '../errors.ts'
import type { Inspect } from './inspection-event.ts'
import { InspectionHub } from './inspection-hub.ts'
import { statelyView, type StatelyOptions } from './stately-view.ts'

export interface ConnectStatelyOptions extends StatelyOptions {
  /** Where the time between two attempts to connect comes from. */
  readonly clock?: Clock
  /** Hears why a connection was lost or not made. Another is made until it is closed. */
  readonly onFault?: (message: string) => void
}

/** A connection to a server that brings events to the Stately inspector. */
export interface StatelyConnection {
  /** Sends an event. For the `inspect` option: it may be passed on without the connection. */
  readonly inspect: Inspect
  /**
   * Resolves when a server is there and takes what it is sent, and when the connection is closed. For whoever can wait,
   * as one who sends a log can: then nothing has to be made up for.
   */
  ready(): Promise<void>
  /** Resolves when what was sent is with the server, or when there is no server to bring it to. */
  close(): Promise<void>
}

const RETRY_MS = 2000
const CLOSE_MS = 2000
const UNSENT_BYTES_MAX = 8 * 1024 * 1024
const READY_BYTES_MAX = 1024 * 1024
// A WebSocket does not say when it has sent what it had.
const LOOK_EVERY_MS = 20

/**
 * Sends streams to a WebSocket server such as `createInspectorServer()` of `@statelyai/inspect/server`. Whatever
 * happens before a connection is there, or while one is lost, is made up for: each connection begins with the charts
 * and the current states. A server that does not take what it is sent is left, and asked again later. Throws `usage` for
 * an address that is not ws: or wss:.
 */
export function connectStately(url: string, options: ConnectStatelyOptions = {}): StatelyConnection {
  if (!/^wss?:$/u.test(URL.parse(url)?.protocol ?? '')) {
    throw new LoopchartError(
      'usage',
      `the address of a Stately inspector begins with ws:// or wss://: ${url}`,
    )
  }
  return new Connection(url, options)
}

class Connection implements StatelyConnection {
  readonly inspect: Inspect
  readonly #hub = new InspectionHub()
  readonly #url: string
  readonly #clock: Clock
  readonly #onFault: (message: string) => void
  readonly #view: Inspect
  #socket: WebSocket | null = null
  #isOpen = false
  #isClosed = false
  #disarm: () => void = () => undefined

  constructor(
    url: string,
    { clock = systemClock, onFault = () => undefined, ...view }: ConnectStatelyOptions,
  ) {
    this.#url = url
    this.#clock = clock
    this.#onFault = onFault
    this.inspect = this.#hub.inspect
    this.#view = statelyView({ send: (event) => this.#send(JSON.stringify(event)) }, view)
    this.#connect()
  }

  async ready(): Promise<void> {
    while (!this.#isClosed && !this.#isTaking) {
      await new Promise<void>((resolve) => {
        this.#clock.setTimer(this.#clock.now() + LOOK_EVERY_MS, resolve)
      })
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#disarm()
    const socket = this.#socket
    if (socket === null || socket.readyState === WebSocket.CLOSED) return
    await new Promise<void>((resolve) => {
      const disarm = this.#clock.setTimer(this.#clock.now() + CLOSE_MS, resolve)
      socket.addEventListener('close', () => {
        disarm()
        resolve()
      })
      // What was sent before goes first.
      socket.close()
    })
  }

  get #isTaking(): boolean {
    return this.#isOpen && (this.#socket?.bufferedAmount ?? 0) <= READY_BYTES_MAX
  }

  #connect(): void {
    const socket = new WebSocket(this.#url)
    let unsubscribe: (() => void) | null = null
    this.#socket = socket
    socket.addEventListener('open', () => {
      if (this.#isClosed) return
      this.#isOpen = true
      unsubscribe = this.#hub.subscribe(this.#view)
    })
    socket.addEventListener('error', () => {
      // A close follows, which says that there is none.
    })
    socket.addEventListener('close', ({ code, reason }) => {
      unsubscribe?.()
      this.#isOpen = false
      if (this.#isClosed) return
      this.#onFault(`no connection to ${this.#url}: ${reason === '' ? `closed with ${code}` : reason}`)
      this.#disarm = this.#clock.setTimer(this.#clock.now() + RETRY_MS, () => this.#connect())
    })
  }

  #send(text: string): void {
    const socket = this.#socket
    if (socket === null || socket.readyState !== WebSocket.OPEN) return
    if (socket.bufferedAmount > UNSENT_BYTES_MAX) socket.close(4000, 'too slow')
    else socket.send(text)
  }
}
