import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'

import { systemClock, type Clock } from '../clock.ts'
import { LoopchartError } from '../errors.ts'
import { nodeListener, type FetchHandler } from './node-listener.ts'

/** What can be listened for: a service. */
export interface Listenable extends FetchHandler {
  /** Lets more values of the Host header in. */
  readonly allowHosts: (hosts: readonly string[]) => void
  readonly close: () => Promise<void>
}

export interface ListenOptions {
  /** 127.0.0.1 without it. Any other address than one of this machine itself can be reached by others, over plain HTTP. */
  readonly host?: string
  /** Any free one without it. */
  readonly port?: number
  /** How long a request may take to arrive, its body included; 10 seconds without it. */
  readonly requestTimeoutMs?: number
  readonly clock?: Clock
}

/** A service that can be reached. */
export interface Listening {
  /** Where, without a slash at the end. */
  readonly url: string
  /** Takes nothing new, closes the service, and then what is left of connections; within 5 seconds. */
  readonly close: () => Promise<void>
}

const REQUEST_TIMEOUT_MS = 10_000
const CLOSE_MS = 5_000
// What a reader that is there takes to be told goodbye.
const GOODBYE_MS = 500
const HTTP_PORT = 80

/**
 * Makes a service answer on a port of this machine, under exactly the names that lead there. Rejects with `usage` when
 * the port or the address cannot be had.
 */
export async function listen(
  service: Listenable,
  {
    host = '127.0.0.1',
    port = 0,
    requestTimeoutMs = REQUEST_TIMEOUT_MS,
    clock = systemClock,
  }: ListenOptions = {},
): Promise<Listening> {
  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      // How often node:http looks whether a request has taken too long; by default only every half a minute.
      connectionsCheckingInterval: Math.max(1, Math.min(1_000, Math.ceil(requestTimeoutMs / 4))),
      // A client that has vanished without a word is found out about.
      keepAlive: true,
    },
    nodeListener(service, { clock }),
  )
  const address = await bind(server, host, port)
  service.allowHosts(hostsOf(address))
  return { url: `http://${nameOf(address, host)}`, close: () => closeAll(server, service, clock) }
}

async function bind(server: Server, host: string, port: number): Promise<AddressInfo> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  // The name is the machine's own, whatever a resolver says.
  server.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port }, resolve)
  try {
    await promise
  } catch (cause) {
    throw new LoopchartError('usage', `cannot listen on ${host}, port ${port}: ${reasonOf(cause)}`, { cause })
  } finally {
    server.off('error', reject)
  }
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('a server must have a port')
  return address
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program has it; take another port, or 0 for any free one',
  EACCES: 'you may not have it; take one above 1023, or 0 for any free one',
  EADDRNOTAVAIL: 'it is not an address of this machine',
  ENOTFOUND: 'it is not an address of this machine',
}

function reasonOf(cause: unknown): string {
  const { code, message }: NodeJS.ErrnoException = cause instanceof Error ? cause : new Error(String(cause))
  return REASONS[code ?? ''] ?? message
}

/** Every name that leads here, as browsers and other clients write it in a Host header. */
function hostsOf({ address, port }: AddressInfo): readonly string[] {
  const names = new Set(['127.0.0.1', 'localhost', '[::1]', ...reachedBy(address).map(inUrl)])
  return [...names].flatMap((name) => [`${name}:${port}`, ...(port === HTTP_PORT ? [name] : [])])
}

/** An address that stands for all of the machine's leads nowhere as such; those do. */
function reachedBy(address: string): readonly string[] {
  if (address !== '0.0.0.0' && address !== '::') return [address]
  return Object.values(networkInterfaces()).flatMap((found = []) => found.map(({ address: each }) => each))
}

function nameOf({ address, port }: AddressInfo, host: string): string {
  if (host === 'localhost') return `localhost:${port}`
  const own: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }
  return `${inUrl(own[address] ?? address)}:${port}`
}

function inUrl(address: string): string {
  return address.includes(':') ? `[${address}]` : address
}

async function closeAll(server: Server, service: Listenable, clock: Clock): Promise<void> {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  // Closes what is idle too; a server that is closed already says so by an error.
  server.close(() => resolve())
  const cut = (): void => server.closeAllConnections()
  const disarmLast = clock.setTimer(clock.now() + CLOSE_MS, cut)
  await service.close()
  server.closeIdleConnections()
  const disarm = clock.setTimer(clock.now() + GOODBYE_MS, cut)
  await closed
  disarm()
  disarmLast()
}
