import { expect, test } from 'vitest'

import { ROUTES } from '../../src/server/routes.ts'
import type { ServiceOptions } from '../../src/server/create-service.ts'
import type { Route } from '../../src/server/route.ts'
import {
  HOST,
  READ_TOKEN,
  requestTo,
  RUN_TOKEN,
  serviceKit,
  talkingAgent,
  TOKEN,
  type AskOptions,
  type ServiceKit,
} from './service-kit.ts'

const ID = '00000000-0000-7000-8000-000000000000'

/** Every attack, with what refuses it. */
const ATTACKS: Readonly<Record<string, readonly [status: number, asked: AskOptions]>> = {
  'no token': [401, { token: null }],
  'a bad token': [401, { token: `${TOKEN}x` }],
  'a token that is cut off': [401, { token: TOKEN.slice(0, -1) }],
  'a token in another scheme': [
    401,
    { token: null, headers: { authorization: `Basic ${btoa(`x:${TOKEN}`)}` } },
  ],
  'a token as a cookie': [401, { token: null, headers: { cookie: `token=${TOKEN}` } }],
  'a foreign Origin': [403, { headers: { origin: 'https://attacker.example' } }],
  'the Origin null': [403, { headers: { origin: 'null' } }],
  'the Origin of another port': [403, { headers: { origin: 'http://127.0.0.1:9999' } }],
  'a request that a browser calls cross-site': [403, { headers: { 'sec-fetch-site': 'cross-site' } }],
  'a request that a browser calls same-site': [403, { headers: { 'sec-fetch-site': 'same-site' } }],
  'text/plain': [415, { headers: { 'content-type': 'text/plain' } }],
  'a form': [415, { headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
  'JSON in name only': [415, { headers: { 'content-type': 'application/json, text/plain' } }],
}

const HOSTS = [
  'attacker.example',
  'attacker.example:4321',
  '127.0.0.1',
  '127.0.0.1:4322',
  `${HOST}.attacker.example`,
  `${HOST}, attacker.example`,
  '',
  'localhost:4321',
]

/** Addresses that are open to all, and why: there is nothing of any run in them. */
const OPEN = ['/healthz', '/inspect', '/inspect/app.js', '/inspect/app.css']

const BODIES: Readonly<Record<string, object>> = {
  '/runs': { input: 'go' },
  '/runs/:id/steer': { text: 'x' },
  '/runs/:id/approve': { call: 'c' },
  '/runs/:id/deny': { call: 'c', reason: 'no' },
  '/runs/:id/reconcile': { call: 'c', as: 'done' },
}

function send(
  kit: ServiceKit,
  { method, path }: Pick<Route, 'method' | 'path'>,
  asked: AskOptions,
): Promise<Response> {
  const query = path === '/diff' ? `?a=${ID}&b=${ID}` : ''
  const body = method === 'POST' ? { body: BODIES[path] ?? {} } : {}
  return kit.ask(path.replace(':id', ID) + query, { method, ...body, ...asked })
}

/** The routes that a check is about, by name. */
function named(isMeant: (route: Route) => boolean): readonly (readonly [string, Route])[] {
  return ROUTES.filter(isMeant).map((route) => [`${route.method} ${route.path}`, route] as const)
}

test.each(named(({ scope }) => scope !== null))(
  'fault S07, fault S08: %s refuses every request without its token, from elsewhere, or not of JSON',
  async (_, route) => {
    const kit = serviceKit(talkingAgent())
    const refused: Record<string, number> = {}
    for (const [attack, [, asked]] of Object.entries(ATTACKS)) {
      refused[attack] = (await send(kit, route, asked)).status
    }
    expect(refused).toEqual(
      Object.fromEntries(Object.entries(ATTACKS).map(([name, [status]]) => [name, status])),
    )
    expect(kit.store.list()).toEqual([])
  },
)

test.each(named(() => true))(
  'fault S06: %s refuses every Host but its own, whatever else is right',
  async (_, route) => {
    const kit = serviceKit(talkingAgent())
    const statuses: number[] = []
    for (const host of HOSTS) statuses.push((await send(kit, route, { headers: { host } })).status)
    expect(statuses).toEqual(HOSTS.map(() => 421))
    expect(kit.store.list()).toEqual([])
  },
)

test.each(named(() => true))(
  '%s answers without CORS, and is not framed, sniffed, stored or referred to',
  async (_, route) => {
    const { headers } = await send(serviceKit(talkingAgent()), route, {
      headers: { origin: `http://${HOST}` },
    })
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(headers.get('cache-control')).toMatch(/^no-(?:store|cache)/u)
  },
)

test.each(named(({ scope }) => scope === 'run' || scope === 'approve'))(
  '%s refuses a token that may only read',
  async (_, route) => {
    const kit = serviceKit(talkingAgent())
    expect((await send(kit, route, { token: READ_TOKEN })).status).toBe(403)
    expect(kit.store.list()).toEqual([])
  },
)

test.each(named(({ scope }) => scope === 'approve'))(
  '%s refuses a token that may not approve',
  async (_, route) => {
    expect((await send(serviceKit(talkingAgent()), route, { token: RUN_TOKEN })).status).toBe(403)
  },
)

test.each(
  named(
    ({ path, scope }) => path.includes(':id') || scope === 'run' || path === '/diff' || path === '/metrics',
  ),
)('%s refuses a token that is bound to another run', async (_, route) => {
  const bound = 'a-token-that-is-bound-to-one-run'
  const tokens = [{ token: bound, scopes: ['approve'], runs: ['other'] }] as const
  const kit = serviceKit(talkingAgent(), { auth: { tokens } })
  expect((await send(kit, route, { token: bound })).status).toBe(403)
  expect(kit.store.list()).toEqual([])
})

test('fault S08: the only routes without a token are those that have nothing of any run', () => {
  expect(ROUTES.filter(({ scope }) => scope === null).map(({ path }) => path)).toEqual(OPEN)
})

test('fault S08: whether an address exists is told to nobody without a token', async () => {
  const kit = serviceKit(talkingAgent())
  for (const path of [
    '/',
    '/nothing',
    '/runs/',
    '/inspect/',
    '/inspect/index.html',
    '/healthz/',
    '/favicon.ico',
  ]) {
    expect((await kit.ask(path, { token: null })).status, path).toBe(401)
    expect((await kit.ask(path)).status, path).toBe(404)
  }
})

test('methods that there are not are refused on every address, OPTIONS included', async () => {
  const kit = serviceKit(talkingAgent())
  for (const { path } of ROUTES) {
    for (const method of ['OPTIONS', 'PUT', 'DELETE', 'PATCH']) {
      const response = await kit.ask(path.replace(':id', ID), { method })
      expect([method, path, response.status]).toEqual([method, path, 405])
    }
  }
  expect((await kit.ask('/metrics', { body: {} })).headers.get('allow')).toBe('GET')
  expect((await kit.ask('/runs/x/cancel')).headers.get('allow')).toBe('POST')
})

test('HEAD is answered on what is open and refused where a stream would be opened for it', async () => {
  const kit = serviceKit(talkingAgent())
  expect((await kit.ask('/healthz', { method: 'HEAD', token: null })).status).toBe(200)
  expect((await kit.ask(`/runs/${ID}/frames`, { method: 'HEAD' })).status).toBe(405)
})

test('the own page may ask: its Origin is the host, and the browser says same-origin', async () => {
  const kit = serviceKit(talkingAgent())
  const headers = { origin: `http://${HOST}`, 'sec-fetch-site': 'same-origin' }
  expect((await kit.ask('/runs', { headers })).status).toBe(200)
  expect((await kit.ask('/runs', { body: { input: 'go' }, headers })).status).toBe(201)
})

test('nobody is let in before a host is named, and those named later are', async () => {
  const kit = serviceKit(talkingAgent(), { hosts: [] })
  expect((await kit.ask('/healthz')).status).toBe(421)
  kit.service.allowHosts([HOST])
  expect((await kit.ask('/healthz')).status).toBe(200)
})

test.each(['', 'http://agents.example', 'agents.example/', 'agents.example:http', '::1', '*', 'a b'])(
  'a host that no request can name is refused when it is given, and not with every request: %j',
  (host) => {
    expect(() => serviceKit(talkingAgent(), { hosts: [host] })).toThrow('as in the Host header')
    const { service } = serviceKit(talkingAgent(), { hosts: ['[::1]:8080', 'Agents.example'] })
    expect(() => service.allowHosts([host])).toThrow('as in the Host header')
  },
)

test('under a base path nothing is served beside it, and the guard holds there too', async () => {
  const kit = serviceKit(talkingAgent(), { basePath: '/agents' })
  expect((await kit.ask('/agents/healthz', { token: null })).status).toBe(200)
  expect((await kit.ask('/agents/runs')).status).toBe(200)
  expect((await kit.ask('/agents/runs', { token: null })).status).toBe(401)
  expect((await kit.ask('/healthz', { token: null })).status).toBe(401)
  expect((await kit.ask('/runs')).status).toBe(404)
  expect((await kit.ask('/runs', { headers: { host: 'attacker.example' } })).status).toBe(421)
})

test('fault S08: tokens that can be guessed, or none, make no service', () => {
  expect(serviceOf([])).toThrow('needs a token')
  expect(serviceOf([{ token: 'short', scopes: ['read'] }])).toThrow('at least 24')
  expect(serviceOf([{ token: TOKEN, scopes: [] }])).toThrow('scopes')
  expect(
    serviceOf([
      { token: TOKEN, scopes: ['read'] },
      { token: TOKEN, scopes: ['read'] },
    ]),
  ).toThrow('twice')
})

test('fault S14: a token in the query is not taken for one, and nothing that is answered or logged has it', async () => {
  const lines: string[] = []
  const kit = serviceKit(talkingAgent(), { log: (line) => lines.push(line) })
  expect((await kit.service.fetch(requestTo(`/runs?token=${TOKEN}`, { token: null }))).status).toBe(401)
  const echoed = await kit.ask(`/runs/${TOKEN}`)
  expect(echoed.status).toBe(404)
  expect(await echoed.text()).not.toContain(TOKEN)
  const wrong = await kit.ask('/runs', { body: { input: 'x', agent: TOKEN } })
  expect(wrong.status).toBe(400)
  expect(await wrong.text()).not.toContain(TOKEN)
  expect(lines.join('\n')).not.toContain(TOKEN)
})

function serviceOf(tokens: ServiceOptions['auth']['tokens']): () => ServiceKit {
  return () => serviceKit(talkingAgent(), { auth: { tokens } })
}
