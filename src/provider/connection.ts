import { AsyncResource } from 'node:async_hooks'
import { Buffer } from 'node:buffer'
import { connect, type OnReadOpts, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

import { ResponseParser, type ResponseSink } from './http-parser.ts'

/** Where a connection leads. */
export interface Origin {
  readonly host: string
  readonly port: number
  readonly isSecure: boolean
}

/** Takes one response. After `onDone`, `onFail` or `drop` it is told nothing more. */
export interface ConnectionUser extends ResponseSink {
  /** What it is told is told in this: a connection outlives its requests, and those who sent them. */
  readonly context: AsyncResource
  /** The request may be written. */
  onReady(connection: Connection): void
  /** The connection was gone before anything was written to it: another one is needed. */
  onStale(): void
  onDone(): void
  onFail(error: unknown): void
}

/** Whose connections they are. */
export interface ConnectionOwner {
  /** Whether the other side leaves connections open behind a response, as it says. */
  isKept: boolean
  /** A response is whole, and its connection may be used again for so long. */
  onFree(connection: Connection, reuseMs: number): void
}

// Connections belong to nobody who sends a request: what is kept in such a context would be kept as long as they are.
export const OWN_CONTEXT = new AsyncResource('loopchart.connection')

// What is read is dealt with before anything else is: one buffer does for all. A write to a secure connection may read
// from it, in the middle of what another has read, so that each of those has its own; no record of TLS is larger.
const READ_BYTES = 64 * 1024
const SECURE_READ_BYTES = 16 * 1024
let shared: Buffer | null = null

/** The sessions of secure origins, by which a new connection is sooner there. */
const sessions = new WeakMap<Origin, Buffer>()

// As long as the end of a connection that was closed behind its response is on its way.
const PROVING_MS = 1

/** One connection, and the one request that it has at a time. */
export class Connection {
  readonly #socket: Socket | TLSSocket
  readonly #owner: ConnectionOwner
  #isReady = false
  #isPaused = false
  /** It waits to be seen open before it is written to again. */
  #isProving = false
  #hasServed = false
  #hasRead = false
  #user: ConnectionUser | null = null
  readonly #parser = new ResponseParser()
  /** Until when it may be used again, by the clock of its pool. */
  goodUntil = 0

  static open(origin: Origin, owner: ConnectionOwner): Connection {
    return OWN_CONTEXT.runInAsyncScope(() => new Connection(origin, owner))
  }

  private constructor(origin: Origin, owner: ConnectionOwner) {
    this.#owner = owner
    const buffer = origin.isSecure
      ? Buffer.allocUnsafeSlow(SECURE_READ_BYTES)
      : (shared ??= Buffer.allocUnsafeSlow(READ_BYTES))
    const callback = (count: number): boolean => {
      this.#read(buffer, count)
      return true
    }
    this.#socket = socketTo(origin, { buffer, callback })
    this.#socket.once(origin.isSecure ? 'secureConnect' : 'connect', () => this.#ready())
    this.#socket.on('error', (error) => this.#fail(error))
    this.#socket.on('end', () => {
      // Closed while it waited for its next request: the next one of this place is looked at before it is used.
      if (this.#user === null) this.#owner.isKept = false
      this.#end()
    })
    this.#socket.on('close', () => this.#end())
  }

  get isOpen(): boolean {
    return this.#isReady && !this.#socket.destroyed && this.#socket.writable
  }

  /** Gives the connection to a request, which is told at once or as soon as it stands. */
  use(user: ConnectionUser): void {
    this.#user = user
    this.#parser.begin(user)
    this.#hasRead = false
    this.#socket.ref()
    if (!this.#isReady) return
    if (this.#owner.isKept) user.onReady(this)
    else this.#prove(user)
  }

  /** Sends the whole of a request. */
  write(pieces: readonly (string | Uint8Array)[]): void {
    const only = pieces[0]
    if (pieces.length === 1 && typeof only === 'string') {
      this.#socket.write(only, 'latin1')
      return
    }
    this.#socket.cork()
    for (const piece of pieces) {
      if (typeof piece === 'string') this.#socket.write(piece, 'latin1')
      else this.#socket.write(piece)
    }
    this.#socket.uncork()
  }

  pause(): void {
    this.#isPaused = true
    this.#socket.pause()
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#socket.resume()
  }

  /** Ends the connection; who uses it is told nothing. */
  drop(): void {
    this.#leave()
    this.#socket.destroy()
  }

  #ready(): void {
    this.#isReady = true
    const user = this.#user
    if (user !== null) user.context.runInAsyncScope(() => user.onReady(this))
  }

  // Some servers close behind a response without saying so. Written to in the same moment, each second request would be
  // lost, and nobody could know whether it was read: so it is waited for, until one connection was left open.
  #prove(user: ConnectionUser): void {
    this.#isProving = true
    const prove = (): void => {
      if (!this.#isProving || this.#user !== user) return
      this.#isProving = false
      this.#owner.isKept = true
      user.context.runInAsyncScope(() => user.onReady(this))
    }
    // What came while the thread was busy is looked at between the two.
    setTimeout(() => setImmediate(prove), PROVING_MS)
  }

  #read(buffer: Buffer, count: number): void {
    const user = this.#user
    // Nobody asked for anything.
    if (user === null) return this.drop()
    if (this.#isProving) return this.#stale(user)
    this.#hasRead = true
    user.context.runInAsyncScope(Connection.#feed, undefined, this, user, buffer.subarray(0, count))
  }

  /** What happens with each read, in the context of its user and without a function made for it. */
  static readonly #feed = (connection: Connection, user: ConnectionUser, bytes: Buffer): void => {
    const parser = connection.#parser
    try {
      parser.feed(bytes)
    } catch (error) {
      return connection.#fail(error)
    }
    if (!parser.isDone || connection.#user !== user) return
    connection.#free(parser.reuseMs)
    user.onDone()
  }

  /** The other side has ended it. */
  #end(): void {
    const user = this.#user
    if (user === null) return this.drop()
    if (this.#isProving) return this.#stale(user)
    try {
      this.#parser.end()
    } catch (error) {
      return this.#fail(error)
    }
    this.drop()
    user.context.runInAsyncScope(() => user.onDone())
  }

  /** Its response is whole. */
  #free(reuseMs: number): void {
    // A server that answers before it has read everything may never read the rest.
    if (reuseMs > 0 && this.#socket.writableLength === 0 && this.isOpen) {
      this.#leave()
      this.resume()
      this.#hasServed = true
      this.#socket.unref()
      this.#owner.onFree(this, reuseMs)
    } else {
      this.drop()
    }
  }

  /** Nobody uses it any more. */
  #leave(): void {
    this.#user = null
    this.#isProving = false
    this.#parser.clear()
  }

  /** It was closed behind its last response: nothing was written to it since. */
  #stale(user: ConnectionUser): void {
    this.drop()
    user.context.runInAsyncScope(() => user.onStale())
  }

  #fail(error: unknown): void {
    const user = this.#user
    if (user !== null && this.#isProving) return this.#stale(user)
    if (this.#hasServed && !this.#hasRead) this.#owner.isKept = false
    this.drop()
    if (user !== null) user.context.runInAsyncScope(() => user.onFail(error))
  }
}

const KEEP_ALIVE_DELAY_MS = 60_000

function socketTo(origin: Origin, onread: OnReadOpts): Socket | TLSSocket {
  const { host, port } = origin
  const options = {
    host,
    port,
    onread,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_DELAY_MS,
  }
  if (!origin.isSecure) return connect(options)
  const session = sessions.get(origin)
  // Loaded when it is needed: a model on the same machine needs none of it.
  const tls = process.getBuiltinModule('node:tls')
  const socket = tls.connect({
    ...options,
    ...(session === undefined ? {} : { session }),
    // An address is no name that a certificate could be asked for by.
    ...(isAddress(host) ? {} : { servername: host }),
    ALPNProtocols: ['http/1.1'],
  })
  return socket.on('session', (given) => sessions.set(origin, given))
}

function isAddress(host: string): boolean {
  return host.includes(':') || /^[\d.]+$/u.test(host)
}
