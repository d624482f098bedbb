import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'

import { createInspectorServer } from '@statelyai/inspect/server'
import { onTestFinished } from 'vitest'

/** A port of the loopback interface that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** The relay of @statelyai/inspect, listening; it opens no browser. */
export async function startRelay(port: number): Promise<string> {
  const server = createInspectorServer({ port, autoOpen: false })
  onTestFinished(() => server.stop())
  const url = `ws://127.0.0.1:${port}`
  await connectedClient(url)
  return url
}

/** A client of a relay, and what it was sent. It leaves before the relay stops. */
export interface RelayClient {
  readonly messages: unknown[]
  /** Resolves when so many messages are in. */
  readonly received: (count: number) => Promise<readonly unknown[]>
}

export async function connectedClient(url: string): Promise<RelayClient> {
  for (;;) {
    const client = await connect(url)
    if (client !== null) return client
  }
}

async function connect(url: string): Promise<RelayClient | null> {
  const socket = new WebSocket(url)
  const messages: unknown[] = []
  let arrived: (() => void) | null = null
  socket.addEventListener('message', ({ data }) => {
    messages.push(JSON.parse(String(data)))
    arrived?.()
  })
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.addEventListener('open', () => resolve(true))
    socket.addEventListener('error', () => resolve(false))
  })
  if (!isOpen) return null
  onTestFinished(() => socket.close())
  return {
    messages,
    received: async (count) => {
      while (messages.length < count) await new Promise<void>((resolve) => (arrived = resolve))
      return messages
    },
  }
}
