import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { expect, onTestFinished, test } from 'vitest'

import type { Service } from '../../src/server/create-service.ts'
import { nodeListener } from '../../src/server/node-listener.ts'
import { GatedModel, READ_TOKEN, serviceKit, talkingAgent, TOKEN } from './service-kit.ts'
import { openRaw, requestText } from './socket-kit.ts'

type Mount = (service: Service) => Promise<number>

const BASE = '/deep/agents'

const MOUNTS: readonly (readonly [string, Mount])[] = [
  ['node:http', (service) => portOf(createServer(nodeListener(service)))],
  ['Express', (service) => portOf(createServer(expressApp(service)))],
  ['Hono', (service) => portOf(createServer(nodeListener(honoApp(service))))],
  ['Fastify', fastifyPort],
]

function expressApp(service: Service): ReturnType<typeof express> {
  const app = express()
  app.use(BASE, nodeListener(service))
  app.use(express.json())
  return app
}

function honoApp(service: Service): Hono {
  const app = new Hono()
  app.all(`${BASE}/*`, (context) => service.fetch(context.req.raw))
  return app
}

async function fastifyPort(service: Service): Promise<number> {
  const listener = nodeListener(service)
  const app = fastify({ forceCloseConnections: true })
  await app.register((scope, _, done) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _payload, ready) => ready(null))
    scope.all(`${BASE}/*`, (request, reply) => {
      reply.hijack()
      listener(request.raw, reply.raw)
    })
    done()
  })
  onTestFinished(() => app.close())
  return Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
}

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

async function mounted(mount: Mount, service: Service): Promise<{ port: number; url: string }> {
  const port = await mount(service)
  service.allowHosts([`127.0.0.1:${port}`])
  return { port, url: `http://127.0.0.1:${port}${BASE}` }
}

function post(url: string, body: object): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

function follow(url: string): Promise<Response> {
  return fetch(url, { headers: { authorization: `Bearer ${READ_TOKEN}`, accept: 'text/event-stream' } })
}

test.for(MOUNTS)('a run is started and followed to its end through %s', async ([, mount]) => {
  const { service } = serviceKit(talkingAgent(), { hosts: [], basePath: BASE })
  const { url } = await mounted(mount, service)
  const started = await post(`${url}/runs`, { input: 'go' })
  expect(started.status).toBe(201)
  const { run_id: id } = (await started.json()) as { run_id: string }
  const stream = await (await follow(`${url}/runs/${id}/frames`)).text()
  const ids = [...stream.matchAll(/^id: (\d+)$/gmu)].map(([, seq]) => Number(seq))
  expect(ids).toEqual(ids.map((_, at) => at))
  expect(stream).toMatch(/event: end\n/u)
  expect((await fetch(`${url}/runs/${id}`)).status).toBe(401)
})

test.for(MOUNTS)(
  'through %s, frames come while the run goes on, and a reader that leaves is forgotten',
  async ([, mount]) => {
    const gated = new GatedModel()
    const { service } = serviceKit(gated.made, { hosts: [], basePath: BASE })
    const { url } = await mounted(mount, service)
    const { run_id: id } = (await (await post(`${url}/runs`, { input: 'go' })).json()) as { run_id: string }
    const reader = (await follow(`${url}/runs/${id}/frames`)).body?.getReader()
    let seen = ''
    while (!seen.includes('request_sent')) seen += Buffer.from((await reader?.read())?.value ?? []).toString()
    expect(await readersOf(url)).toBe(1)
    await reader?.cancel()
    await expect.poll(() => readersOf(url)).toBe(0)
    expect(((await (await post(`${url}/runs/${id}/cancel`, {})).json()) as { answer: string }).answer).toBe(
      'accepted',
    )
  },
)

async function readersOf(url: string): Promise<number> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${READ_TOKEN}` } })
  return Number(/^loopchart_(?:streams|readers)\S* (\d+)$/mu.exec(await response.text())?.[1])
}

test.for(MOUNTS)(
  'fault S06: through %s, two Hosts, an absolute target and a foreign Host get nowhere',
  async ([, mount]) => {
    const { service } = serviceKit(talkingAgent(), { hosts: [], basePath: BASE })
    const { port } = await mounted(mount, service)
    const own = `Host: 127.0.0.1:${port}`
    const headers = ['Connection: close', `Authorization: Bearer ${TOKEN}`]
    const texts = [
      requestText(`GET ${BASE}/runs HTTP/1.1`, [own, 'Host: attacker.example', ...headers]),
      requestText(`GET http://attacker.example${BASE}/runs HTTP/1.1`, [own, ...headers]),
      requestText(`GET ${BASE}/runs HTTP/1.1`, ['Host: attacker.example', ...headers]),
    ]
    const answers = await Promise.all(texts.map((text) => openRaw(port, text).closed))
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /u)
    expect(answers.join('')).not.toContain('"runs"')
  },
)

test('a service behind a parser of bodies says so instead of taking them for empty', async () => {
  const { service } = serviceKit(talkingAgent(), { hosts: [], basePath: BASE })
  const app = express()
  app.use(express.json())
  app.use(BASE, nodeListener(service))
  const { url } = await mounted(() => portOf(createServer(app)), service)
  const response = await post(`${url}/runs`, { input: 'go' })
  expect(response.status).toBe(500)
  expect(await response.text()).toContain('mount the service before parsers of bodies')
})
