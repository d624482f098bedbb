import { createHmac } from 'node:crypto'

import { expect, test } from 'vitest'

import { parseRunDiff } from '../../src/inspect/page/answers.ts'
import { createApi, type Api } from '../../src/inspect/page/api.ts'

const TOKEN = 'a-token-of-at-least-24-characters'

type Answerer = (url: URL, init: RequestInit) => Response | Promise<Response>

/** The client on a service that answers like this; `sent` is what it was sent. */
function apiOn(
  answer: Answerer,
  isTrusted = true,
): { readonly api: Api; readonly sent: { url: string; headers: Headers }[] } {
  const sent: { url: string; headers: Headers }[] = []
  const fetchFake = async (input: string, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input, 'http://here/')
    sent.push({ url: url.pathname + url.search, headers: new Headers(init.headers) })
    return await answer(url, init)
  }
  const { subtle } = globalThis.crypto
  const api = createApi({ baseUrl: '', token: TOKEN, fetch: fetchFake as typeof fetch, subtle, isTrusted })
  return { api, sent }
}

function proofOf(url: URL, secret: string): Response {
  const nonce = url.searchParams.get('nonce') ?? ''
  return Response.json({ status: 'ok', proofs: [createHmac('sha256', secret).update(nonce).digest('hex')] })
}

test('fault S14: the token is in one header and in no address', async () => {
  const { api, sent } = apiOn(() => Response.json({}))
  await api.access()
  await api.runs({ q: 'a b', state: '', limit: 10 })
  await api.command('run/1', 'steer', { text: 'on' })
  expect(sent.map(({ url }) => url)).toEqual(['/access', '/runs?q=a+b&limit=10', '/runs/run%2F1/steer'])
  expect(sent.every(({ headers }) => headers.get('authorization') === `Bearer ${TOKEN}`)).toBe(true)
})

test('a stream is asked for from the first frame on, or behind the last one known', async () => {
  const { api, sent } = apiOn(() => new Response(''))
  const { signal } = new AbortController()
  await api.frameStream('run_1', -1, signal)
  await api.frameStream('run_1', 41, signal)
  expect(sent.map(({ headers }) => headers.get('last-event-id'))).toEqual([null, '41'])
  expect(sent.map(({ headers }) => headers.get('accept'))).toEqual(['text/event-stream', 'text/event-stream'])
})

test('a refusal tells code, message, state and how long to wait', async () => {
  const { api } = apiOn(() =>
    Response.json(
      { error: { code: 'refused', message: 'nobody asked' }, state: 'done' },
      { status: 409, headers: { 'retry-after': '3' } },
    ),
  )
  await expect(api.command('run_1', 'approve', { call: 'c' })).rejects.toMatchObject({
    status: 409,
    code: 'refused',
    message: 'nobody asked',
    state: 'done',
    retryAfterMs: 3000,
  })
})

test('an answer that is not JSON is a refusal and no crash', async () => {
  const { api } = apiOn(() => new Response('<html>', { status: 502 }))
  await expect(api.access()).rejects.toMatchObject({ status: 502, code: 'unknown' })
  const { api: other } = apiOn(() => new Response('<html>'))
  await expect(other.access()).rejects.toMatchObject({ code: 'unreadable' })
})

test('a command that is sent has a key of its own', async () => {
  const { api, sent } = apiOn(() => Response.json({}))
  await api.command('run_1', 'cancel', {})
  await api.command('run_1', 'cancel', {})
  const keys = sent.map(({ headers }) => headers.get('idempotency-key'))
  expect(new Set(keys).size).toBe(2)
  expect(keys).not.toContain(null)
})

test('fault S15: whoever took the port of a service that went away is not sent the token', async () => {
  const { api, sent } = apiOn((url) =>
    url.pathname === '/healthz' ? proofOf(url, 'another-token-of-24-characters') : Response.json({}),
  )
  api.doubt()
  await expect(api.access()).rejects.toMatchObject({ status: 0, code: 'impostor' })
  expect(sent.map(({ headers }) => headers.get('authorization'))).toEqual([null])
})

test('fault S15: a service that comes back and knows the token is asked again', async () => {
  let isAway = true
  const { api, sent } = apiOn((url) => {
    if (isAway) throw new TypeError('fetch failed')
    return url.pathname === '/healthz' ? proofOf(url, TOKEN) : Response.json({ scopes: ['read'] })
  })
  await expect(api.access()).rejects.toMatchObject({ status: 0, code: 'unreachable' })
  isAway = false
  await expect(api.access()).resolves.toMatchObject({ scopes: ['read'] })
  await api.access()
  expect(sent.map(({ url }) => url.split('?')[0])).toEqual(['/access', '/healthz', '/access', '/access'])
})

test('whoever gives up a question is told so, not that the service is away', async () => {
  const closing = new AbortController()
  const { api } = apiOn((_url, init) => {
    closing.abort(new Error('left'))
    throw init.signal?.reason
  })
  await expect(api.run('run_1', closing.signal)).rejects.toThrow('left')
})

test('fault S15: a token that was typed in later is sent only to who knows it', async () => {
  const { api, sent } = apiOn(
    (url) => (url.pathname === '/healthz' ? proofOf(url, TOKEN) : Response.json({})),
    false,
  )
  await api.access()
  expect(sent.map(({ url }) => url.split('?')[0])).toEqual(['/healthz', '/access'])
  const { api: other, sent: kept } = apiOn(() => Response.json({}), false)
  await expect(other.access()).rejects.toMatchObject({ code: 'impostor' })
  expect(kept.map(({ headers }) => headers.get('authorization'))).toEqual([null])
})

test.each([
  [() => new Response('<html>'), 'impostor'],
  [() => Response.json({}, { status: 404 }), 'impostor'],
  [() => Response.json({}, { status: 503 }), 'unreachable'],
  [() => Response.json({}, { status: 429 }), 'unreachable'],
] as const)(
  'fault S15: what cannot show that it knows the token is told apart: %s is %s',
  async (answer, code) => {
    const { api } = apiOn(answer, false)
    await expect(api.access()).rejects.toMatchObject({ status: 0, code })
  },
)

test('the step at which two runs part is a number', () => {
  const diff = { is_same: false, text: 'they part', at: { a: 4, b: null }, part: 'event', transition: 2 }
  expect(parseRunDiff(diff)).toEqual({
    isSame: false,
    text: 'they part',
    at: { a: 4, b: null },
    part: 'event',
    transition: 2,
  })
  expect(parseRunDiff({ is_same: true, transition: null })).toMatchObject({ transition: null, at: null })
})
