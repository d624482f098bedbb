import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'

import { onTestFinished } from 'vitest'

/** A server of node:http on a port of its own, gone after the test. */
export interface Served {
  readonly server: Server
  readonly port: number
  readonly url: string
}

/** Serves a listener until the test is over. */
export async function serveListener(listener: RequestListener): Promise<Served> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { server, port, url: `http://127.0.0.1:${port}` }
}

/** A connection that says exactly what a test tells it to. */
export interface RawClient {
  readonly socket: Socket
  /** What has come so far. */
  readonly received: () => string
  /** Resolves when what came matches; rejects when the connection is closed without. */
  readonly until: (pattern: RegExp) => Promise<string>
  /** Resolves with all that came when the other side has closed. */
  readonly closed: Promise<string>
}

/** Opens a connection and sends a text as it is. */
export function openRaw(port: number, text = '', host = '127.0.0.1'): RawClient {
  const socket = connect({ port, host })
  let seen = ''
  const listeners = new Set<() => void>()
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    seen += chunk
    for (const listener of listeners) listener()
  })
  // A connection that is reset is closed as well.
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  if (text !== '') socket.write(text)
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(seen)))
  return {
    socket,
    received: () => seen,
    closed,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!pattern.test(seen)) return
          listeners.delete(look)
          resolve(seen)
        }
        listeners.add(look)
        look()
        void closed.then(() => reject(new Error(`it was closed without ${String(pattern)}: ${seen}`)))
      }),
  }
}

/** The text of a request, with lines as they are on the wire. */
export function requestText(first: string, headers: readonly string[], body = ''): string {
  return `${[first, ...headers].join('\r\n')}\r\n\r\n${body}`
}

/** A chunk of a chunked body. */
export function chunkOf(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
}
