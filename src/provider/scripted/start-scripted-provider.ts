// An Open Responses endpoint on this machine that says what a script tells it to say.
import { createServer, type Server } from 'node:http'

import { systemClock, type Clock } from '../../clock.ts'
import { LoopchartError } from '../../errors.ts'
import type { CreateResponseBody } from '../../protocol/requests.ts'
import { compactionsFrom } from './compactions-from.ts'
import { Endpoint, type EndpointOptions, type RecordedRequest } from './endpoint.ts'
import { parseCompactions, parseScript } from './parse-script.ts'
import type { Script, ScriptCompaction, ScriptTurn } from './script.ts'

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
  /** Instead of what a script says of compactions: one for all, or a list for the first ones. */
  readonly compact?: ScriptCompaction | readonly ScriptCompaction[]
  /** Whether it refuses the calls of earlier runs as `function_call` items; a script may say so as well. */
  readonly refusesCalls?: boolean
  /** What the waits of a script go by. */
  readonly clock?: Clock
}

export interface ScriptedProvider {
  /** The base URL of the endpoint; it ends in /v1. */
  readonly url: string
  /** What was asked so far, wrong requests that are JSON included; the latest 10,000. */
  readonly requests: readonly RecordedRequest[]
  /** The same of compactions. */
  readonly compactRequests: readonly RecordedRequest[]
  /** Drops every response that is stored: none can be continued by its id, as if it had come to the end of its time. */
  forget(): void
  /** Stops listening and drops every connection. Resolves when all are gone. */
  close(): Promise<void>
}

/**
 * Starts a provider that speaks Open Responses over HTTP: streams and whole bodies, chains of responses, conversations
 * that are sent whole, compactions. The turns of a script come in order in each conversation. Throws `script_invalid` for a script
 * that is none, and `usage` when it cannot listen.
 */
export async function startScriptedProvider(
  script: Script | ScriptFunction,
  options: ScriptedProviderOptions = {},
): Promise<ScriptedProvider> {
  const { host = '127.0.0.1', port = 0, clock = systemClock } = options
  const said = saidBy(script, options)
  const server = createServer()
  const url = await listen(server, host, port)
  const endpoint = new Endpoint({ ...said, where: url, clock })
  server.on('request', (incoming, outgoing) => void endpoint.handle(incoming, outgoing))
  return {
    url,
    requests: endpoint.requests,
    compactRequests: endpoint.compactRequests,
    forget: () => endpoint.forget(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** What a script says, or a function and the options beside it. */
function saidBy(
  script: Script | ScriptFunction,
  options: ScriptedProviderOptions,
): Pick<EndpointOptions, 'turnOf' | 'compactionOf' | 'refusesCalls'> {
  const { compact, refusesCalls = false } = options
  const given = compact === undefined ? undefined : parseCompactions(compact)
  if (typeof script === 'function')
    return { turnOf: script, compactionOf: compactionsFrom(given), refusesCalls }
  const parsed = parseScript(script)
  return {
    turnOf: (_, turn) => parsed.turns[turn - 1] ?? null,
    compactionOf: compactionsFrom(given ?? parsed.compact),
    refusesCalls: refusesCalls || parsed.refuses_calls === true,
  }
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
