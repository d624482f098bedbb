import secureJson from 'secure-json-parse'

import type { Clock } from '../clock.ts'
import { LoopchartError } from '../errors.ts'
import { findUnsendable } from '../protocol/find-unsendable.ts'

export interface ReadBodyOptions {
  readonly bytesMax: number
  /** How long it may take to arrive. */
  readonly timeoutMs: number
  readonly clock: Clock
}

/**
 * The JSON that a request brings. Throws `body_too_large` as soon as there is too much of it, and `usage` for what is no
 * JSON, is nested too deep, names a prototype, or does not arrive in time.
 */
export async function readBody(request: Request, options: ReadBodyOptions): Promise<unknown> {
  const { bytesMax } = options
  if (Number(request.headers.get('content-length') ?? 0) > bytesMax) throw tooLarge(bytesMax)
  const text = await readText(request, options)
  let value: unknown
  try {
    value = secureJson.parse(text, null, { protoAction: 'error', constructorAction: 'error' })
  } catch {
    throw new LoopchartError('usage', 'the body is not JSON that can be taken')
  }
  const fault = findUnsendable(value)
  if (fault !== null) throw new LoopchartError('usage', `the body cannot be taken: ${fault}`)
  return value
}

async function readText(request: Request, { bytesMax, timeoutMs, clock }: ReadBodyOptions): Promise<string> {
  if (request.body === null) return ''
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.body.getReader()
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let isLate = false
  const disarm = clock.setTimer(clock.now() + timeoutMs, () => {
    isLate = true
    void reader.cancel().catch(() => undefined)
  })
  let text = ''
  let bytes = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (isLate) throw new LoopchartError('usage', `the body did not arrive within ${timeoutMs} ms`)
      if (done) return text + decoder.decode()
      bytes += value.byteLength
      if (bytes > bytesMax) throw tooLarge(bytesMax)
      text += decoder.decode(value, { stream: true })
    }
  } catch (error) {
    void reader.cancel().catch(() => undefined)
    if (error instanceof LoopchartError) throw error
    throw new LoopchartError('usage', 'the body broke off or is not UTF-8', { cause: error })
  } finally {
    disarm()
  }
}

function tooLarge(bytesMax: number): LoopchartError {
  return new LoopchartError('body_too_large', `the body has more than ${bytesMax} bytes`)
}
