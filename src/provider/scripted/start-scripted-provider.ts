// An Open Responses endpoint on this machine that says what a script tells it to say.
import { createServer, type Server } from 'node:http'

import { systemClock, type Clock } from '../../clock.ts'
import { LoopchartError } from '../../errors.ts'
import type { CreateResponseBody } from '../../protocol/requests.ts'
import { Endpoint, type RecordedRequest } from './endpoint.ts'
import { parseScript } from './parse-script.ts'
import type { Script, ScriptTurn } from './script.ts'

/**
 * Says what a turn of a conversation is. `turn` counts from 1 in each conversation; an attempt that a fault ended
 * counts as well.
 */
export type ScriptFunction = (
  request: CreateResponseBody,
  turn: number,
) => ScriptTurn | PromiseLike<ScriptTurn>

export interface ScriptedProviderOptions {
  /** 127.0.0.1 when left out. */
  readonly host?: string
  /** Any free one when left out. */
  readonly port?: number
  /** What the waits of a script go by. */
  readonly clock?: Clock
}

export interface ScriptedProvider {
  /** The base URL of the endpoint; it ends in /v1. */
  readonly url: string
  /** What was asked so far, wrong requests that are JSON included; the latest 10,000. */
  readonly requests: readonly RecordedRequest[]
  /** Stops listening and drops every connection. Resolves when all are gone. */
  close(): Promise<void>
}

/**
 * Starts a provider that speaks Open Responses over HTTP: streams and whole bodies, chains of responses, conversations
 * that are sent whole. The turns of a script come in order in each conversation. Throws `script_invalid` for a script
 * that is none, and `usage` when it cannot listen.
 */
export async function startScriptedProvider(
  script: Script | ScriptFunction,
  { host = '127.0.0.1', port = 0, clock = systemClock }: ScriptedProviderOptions = {},
): Promise<ScriptedProvider> {
  const endpoint = new Endpoint(typeof script === 'function' ? script : turnsOf(parseScript(script)), clock)
  const server = createServer((incoming, outgoing) => void endpoint.handle(incoming, outgoing))
  const url = await listen(server, host, port)
  return {
    url,
    requests: endpoint.requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The turns of a script file as a function. */
function turnsOf({ turns }: Script): (request: CreateResponseBody, turn: number) => ScriptTurn | null {
  return (_, turn) => turns[turn - 1] ?? null
}

function listen(server: Server, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'something else does; take another port' : cause.message
      reject(new LoopchartError('usage', `cannot listen on ${host}:${port}: ${why}`, { cause }))
    })
    server.listen(port, host, () => {
      const address = server.address()
      const bound = typeof address === 'object' && address !== null ? address.port : port
      resolve(`http://${host.includes(':') ? `[${host}]` : host}:${bound}/v1`)
    })
  })
}
