import { isIPv4 } from 'node:net'

import { LoopchartError } from '../errors.ts'
import { parsePort } from './parse-port.ts'

/** Where to listen, as flags say it. */
export interface PlaceFlags {
  readonly host?: string
  readonly port?: string
  readonly allowRemote?: true
  readonly tokenFile?: string
}

/** Where to listen. */
export interface Place {
  readonly host: string
  readonly port: number
  /** Whether others can get there. */
  readonly isRemote: boolean
}

/** Where flags say to listen. Throws `usage` for a place that others can reach, unless both flags for that are given. */
export function parsePlace({ host = '127.0.0.1', port, allowRemote, tokenFile }: PlaceFlags): Place {
  const portNumber = parsePort(port)
  // Without a name, node:http takes every address there is.
  if (host.trim() === '') throw new LoopchartError('usage', '--host: an address must be named')
  const isRemote = !isLoopback(host)
  if (isRemote && (allowRemote !== true || tokenFile === undefined)) {
    throw new LoopchartError(
      'usage',
      `--host ${host} lets others reach the service, over plain HTTP; ` +
        'that needs --allow-remote and a --token-file, or leave it out and put a proxy in front',
    )
  }
  if (!isRemote && allowRemote === true) {
    throw new LoopchartError(
      'usage',
      `--allow-remote has no effect with --host ${host}, which nobody else can reach; leave it out`,
    )
  }
  return { host, port: portNumber, isRemote }
}

// By what is written: what a name leads to is for others to say.
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}
