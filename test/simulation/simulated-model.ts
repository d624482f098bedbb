import { Buffer } from 'node:buffer'

import { hostileStreams } from '../../scripts/fixtures/hostile-streams.ts'
import { responseResource, sseText, StreamBuilder } from '../../scripts/fixtures/stream-builder.ts'
import type { Clock } from '../../src/clock.ts'
import type { Model, ModelRequest, SendFault } from '../../src/loop/model.ts'
import type { Random } from './random.ts'

/** What all processes of a run have in common with the provider. */
export interface ProviderMemory {
  responses: number
  calls: number
}

const TOOLS = ['read', 'put', 'post', 'ask', 'slow', 'fail', 'stubborn', 'chatty', 'missing'] as const
const HOSTILE = Object.values(hostileStreams()).filter((stream) => stream.length < 20_000)

/** A provider that says, and does, whatever its dice say. */
export function simulatedModel(
  name: string,
  random: Random,
  memory: ProviderMemory,
  clock: Clock,
  faultRate: number,
): Model {
  return {
    name,
    endpoint: `simulated:${name}`,
    isStreamed: random.chance(0.85),
    canContinueById: true,
    send: async (request) => {
      await wait(clock, random.chance(0.3) ? random.between(1, 900) : 0)
      const kind = random.next()
      if (random.chance(0.004)) throw new Error('a bug in the client')
      if (kind < faultRate * 0.5) return fault(random, clock)
      const body = kind < faultRate ? random.pick(HOSTILE) : answer(random, memory, request)
      request.onHead({
        status: 200,
        requestId: random.chance(0.5) ? `req_${memory.responses}` : null,
        contentType:
          Buffer.isBuffer(body) || !body.startsWith('{') ? 'text/event-stream' : 'application/json',
      })
      return deliver(random, clock, request, Buffer.from(body), faultRate)
    },
  }
}

async function deliver(
  random: Random,
  clock: Clock,
  request: ModelRequest,
  bytes: Buffer,
  faultRate: number,
): Promise<SendFault | null> {
  const end = random.chance(faultRate * 0.3) ? random.between(0, bytes.length) : bytes.length
  const size = Math.max(1, Math.ceil(bytes.length / random.between(1, 5)))
  for (let at = 0; at < end; at += size) {
    if (request.signal.aborted) return null
    if (!request.onChunk(bytes.subarray(at, Math.min(end, at + size)))) return null
    await wait(clock, random.chance(0.2) ? random.between(1, 500) : 0)
  }
  if (end === bytes.length) return null
  if (random.chance(0.2))
    return new Promise((resolve) => request.signal.addEventListener('abort', () => resolve(null)))
  return random.chance(0.5) ? null : failure('connection_lost', true, null)
}

function fault(random: Random, clock: Clock): SendFault {
  const retryAt = random.chance(0.3) ? clock.now() + random.between(0, 20_000) : null
  const provider = random.chance(0.3)
    ? {
        type: null,
        code: 'previous_response_not_found',
        message: 'gone',
        param: null,
        status: 400,
        headers: null,
      }
    : null
  const code = random.pick([
    'provider_rate_limited',
    'provider_unavailable',
    'connect_failed',
    'request_failed',
  ])
  const made = failure(code, random.chance(0.7), retryAt)
  return { ...made, provider, ...(random.chance(0.3) ? { body: '<html>no</html>' } : {}) }
}

function failure(code: string, isRetryable: boolean, retryAt: number | null): SendFault {
  return { code, message: `no: ${code}`, provider: null, isRetryable, retryAt }
}

function answer(random: Random, memory: ProviderMemory, { body }: ModelRequest): string {
  memory.responses += 1
  const id = `resp_${memory.responses}`
  const stream = new StreamBuilder(id).start()
  let index = 0
  if (random.chance(0.2)) stream.reasoning(index++, ['Hm.'], ['Let me ', 'see.'], `rs_${id}`)
  const calls = random.chance(0.7) ? random.between(1, random.chance(0.2) ? 5 : 2) : 0
  if (calls === 0 || random.chance(0.3)) stream.message(index++, text(random), `msg_${id}`)
  for (let call = 0; call < calls; call += 1) addCall(stream, index++, random, memory)
  const usage = random.chance(0.8) ? {} : { usage: null }
  const ending = random.next()
  if (ending < 0.05)
    stream.end('incomplete', { incomplete_details: { reason: 'max_output_tokens' }, ...usage })
  else if (ending < 0.1)
    stream.end('failed', { error: { code: failedCode(random), message: 'no' }, ...usage })
  else stream.end('completed', usage)
  const isBody = body.includes('"stream":false')
  const { response } = stream.events.at(-1)?.data ?? {}
  return isBody ? JSON.stringify(responseResource({ ...(response as object) })) : sseText(stream.events)
}

function failedCode(random: Random): string {
  return random.pick(['server_error', 'previous_response_not_found', 'content_filter', 'rate_limit_exceeded'])
}

function text(random: Random): readonly string[] {
  return random.pick([['{"n":', '1}'], ['Fine.'], ['Grün ', '緑 ', '\u{1f600}'], [''], ['not {json']])
}

function addCall(stream: StreamBuilder, index: number, random: Random, memory: ProviderMemory): void {
  // Sometimes an id that was there already.
  const number = random.chance(0.05) ? memory.calls : ++memory.calls
  const args = random.pick(['{"n":1}', '{"n":2}', '{"n":3}', '{}', '{"n":"x"}', '{"n":', ''])
  const item = {
    type: 'function_call',
    id: `fc_${memory.responses}_${index}`,
    call_id: `call_${number}`,
    name: random.pick(TOOLS),
    arguments: args,
    status: 'completed',
  }
  stream.addItem(index, { ...item, arguments: '', status: 'in_progress' }).doneItem(index, item)
}

function wait(clock: Clock, ms: number): Promise<void> {
  if (ms === 0) return Promise.resolve()
  return new Promise((resolve) => {
    clock.setTimer(clock.now() + ms, resolve)
  })
}
