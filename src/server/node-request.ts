import type { IncomingMessage } from 'node:http'

/** Why a request is refused before it is looked at. */
export interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
}

// What a URL is made with; whether it is a host of this service is for the service to say.
const HOST = /^[\w.:[\]-]{1,255}$/u

/** Says why a request must not reach the service; null: it may. */
export function refusalOf(incoming: IncomingMessage): Refusal | null {
  const hosts = incoming.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host')
  // node:http takes the first of two, and somebody in front of it may have looked at the other one.
  if (hosts.length !== 1) return bad(`there must be one Host header, there are ${hosts.length}`)
  if (!HOST.test(incoming.headers.host ?? '')) return bad('the Host header is not a host')
  // An absolute target names a host of its own, which outranks the header.
  if (!targetOf(incoming).startsWith('/')) return bad('the target of the request must be a path')
  if (incoming.readableDidRead) {
    const message = 'the body was read before the service saw it; mount the service before parsers of bodies'
    return { status: 500, code: 'internal_error', message }
  }
  return null
}

/** The web request that a request of node:http stands for; null when there can be none such. */
export function requestFrom(incoming: IncomingMessage, signal: AbortSignal): Request | null {
  const method = incoming.method ?? 'GET'
  const scheme = 'encrypted' in incoming.socket ? 'https' : 'http'
  const hasBody = method !== 'GET' && method !== 'HEAD'
  try {
    return new Request(`${scheme}://${incoming.headers.host ?? ''}${targetOf(incoming)}`, {
      method,
      headers: headersOf(incoming),
      signal,
      ...(hasBody ? { body: bodyOf(incoming), duplex: 'half' } : {}),
    })
  } catch {
    // A method that a web request cannot have, such as TRACE, or a target that is no part of a URL.
    return null
  }
}

/** The whole target: Express takes what it has mounted a handler at out of `url`. */
function targetOf(incoming: IncomingMessage & { readonly originalUrl?: unknown }): string {
  return typeof incoming.originalUrl === 'string' ? incoming.originalUrl : (incoming.url ?? '')
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '')
  }
  return headers
}

/**
 * The body, read only as it is asked for. Readable.toWeb would close the connection when a reader has seen enough, and
 * the answer that says so would be lost with it.
 */
function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let isOver = false
  const end = (finish: () => void): void => {
    if (isOver) return
    isOver = true
    finish()
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        incoming.pause()
        incoming.on('data', (chunk: Uint8Array) => {
          if (isOver) return
          incoming.pause()
          controller.enqueue(chunk)
        })
        incoming.once('end', () => end(() => controller.close()))
        incoming.once('close', () => end(() => controller.error(new Error('the upload broke off'))))
      },
      pull() {
        incoming.resume()
      },
      cancel() {
        isOver = true
      },
    },
    { highWaterMark: 0 },
  )
}

function bad(message: string): Refusal {
  return { status: 400, code: 'request_invalid', message }
}
