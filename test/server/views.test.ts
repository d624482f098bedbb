import { createHmac } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

import { expect, test } from 'vitest'

import { agent } from '../../src/agent.ts'
import { chartLayout } from '../../src/chart/generated/chart-layout.ts'
import { formatFrame } from '../../src/frames/format-frame.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { makeFrame } from '../../src/frames/make-frame.ts'
import * as schemas from '../../src/server/answer-schemas.ts'
import { ROUTES } from '../../src/server/routes.ts'
import { staticPage } from '../../src/server/static-page.ts'
import { callsAnswer, scriptedModel, textAnswer, watchedTool } from '../scripted-model.ts'
import { beginLog, tempFolder, tempStore } from '../journal/store-kit.ts'
import {
  askingAgent,
  GatedModel,
  READ_TOKEN,
  serviceKit,
  streamOf,
  talkingAgent,
  TOKEN,
  until,
  type ServiceKit,
} from './service-kit.ts'

const SECRET = 'sk-live-0123456789abcdefghij'

async function finished(kit: ServiceKit, input = 'go'): Promise<string> {
  const runId = await kit.start(input)
  await until(() => kit.store.find(runId)?.status === 'ended')
  return runId
}

/** Every text that the service gives of a run. */
async function everythingOf(kit: ServiceKit, runId: string): Promise<string> {
  const frames = await (await streamOf(kit, runId)).frames()
  const texts = await Promise.all(
    [`/runs/${runId}`, `/runs/${runId}/frames`, `/runs/${runId}/log`, '/runs', '/metrics'].map(async (path) =>
      (await kit.ask(path)).text(),
    ),
  )
  return [JSON.stringify(frames), ...texts].join('\n')
}

test('fault S16: a secret is masked in everything that is served, also in pieces, and the log keeps it', async () => {
  const pieces = ['the key is ', ...SECRET.split(''), ' and it is secret']
  const kit = serviceKit(talkingAgent(pieces), { secrets: [SECRET] })
  const runId = await finished(kit, `my key: ${SECRET}`)
  const served = await everythingOf(kit, runId)
  expect(served).not.toContain(SECRET)
  const deltas = (JSON.parse(served.split('\n', 1)[0] ?? '') as Frame[]).flatMap((frame) =>
    frame.type === 'output_text_delta' ? [frame.delta] : [],
  )
  expect(deltas.join('')).toBe('the key is [redacted] and it is secret')
  expect(JSON.stringify([...kit.store.read(runId)])).toContain(SECRET)
})

test('fault S16: a reader that comes back in the middle of a secret sees no part of it', async () => {
  const kit = serviceKit(talkingAgent(['a ', ...SECRET.split(''), ' b']), { secrets: [SECRET] })
  const runId = await finished(kit)
  const all = [...kit.store.read(runId)]
  for (const { seq } of all) {
    const seen = await (await streamOf(kit, runId, { after: seq })).frames()
    const shown = seen.flatMap((frame) => (frame.type === 'output_text_delta' ? [frame.delta] : [])).join('')
    expect('a [redacted] b').toContain(shown)
    const page = (await (await kit.ask(`/runs/${runId}/frames?after=${seq}&limit=2`)).json()) as {
      frames: readonly Frame[]
    }
    const deltas = page.frames.flatMap((frame) => (frame.type === 'output_text_delta' ? [frame.delta] : []))
    expect(deltas.filter((delta) => !['a ', '[redacted]', '', ' b'].includes(delta))).toEqual([])
  }
})

test('fault S16: a secret that a call says in two pieces is masked for who comes in between, however much others say there', async () => {
  const store = tempStore()
  const { stamp, started } = beginLog('run_1')
  const said = (callId: string, chunk: string): Frame =>
    makeFrame(stamp, 'tool_stdout', { call_id: callId, chunk })
  const frames = [
    started,
    said('call_1', SECRET.slice(0, 12)),
    ...Array.from({ length: 3_000 }, (_, at) => said('call_2', `line ${at}\n`)),
    said('call_1', SECRET.slice(12)),
  ]
  store.importRun(frames.map(formatFrame))
  const kit = serviceKit(talkingAgent(), { store, secrets: [SECRET] })
  for (const after of [0, 1, 1_500, 3_001]) {
    const page = await (await kit.ask(`/runs/run_1/frames?after=${after}&limit=5000`)).text()
    const stream = await streamOf(kit, 'run_1', { after })
    const streamed = JSON.stringify(await stream.frames(({ seq }) => seq === 3_002))
    await stream.cancel()
    for (const seen of [page, streamed]) {
      expect(seen).not.toContain(SECRET.slice(12))
      expect(seen.includes(SECRET.slice(0, 12))).toBe(false)
    }
  }
})

test('fault S16: a live reader is not shown the start of a secret before it is known to be none', async () => {
  const gate = new GatedModel()
  const kit = serviceKit(gate.made, { secrets: [SECRET] })
  const runId = await kit.start()
  const client = await streamOf(kit, runId)
  await until(() => gate.requests === 1)
  gate.say(`key ${SECRET.slice(0, 9)}`)
  await until(() => [...kit.store.read(runId)].some(({ type }) => type === 'output_text_delta'))
  const page = await (await kit.ask(`/runs/${runId}/frames`)).text()
  expect(page).not.toContain(SECRET.slice(0, 9))
  gate.say(SECRET.slice(9))
  gate.end()
  const frames = await client.frames()
  expect(JSON.stringify(frames)).not.toContain(SECRET.slice(0, 9))
  expect(frames.at(-1)?.type).toBe('run_ended')
})

test('fault S16: what may be the start of a secret is shown once nobody drives the run, so that no frame is missing', async () => {
  const gate = new GatedModel()
  const before = serviceKit(gate.made, { secrets: [SECRET] })
  const runId = await before.start()
  await until(() => gate.requests === 1)
  const reading = (await streamOf(before, runId)).frames()
  gate.say(`key ${SECRET.slice(0, 5)}`)
  await until(() => [...before.store.read(runId)].some(({ type }) => type === 'output_text_delta'))
  expect(await (await before.ask(`/runs/${runId}/log`)).text()).not.toContain(SECRET.slice(0, 5))
  await before.service.close()
  const total = before.store.find(runId)?.frames ?? 0
  const kit = serviceKit(gate.made, { secrets: [SECRET], store: before.store })
  const later = (await streamOf(kit, runId)).frames(({ seq }) => seq === total - 1)
  expect(await later).toHaveLength(total)
  expect((await reading).length).toBeLessThanOrEqual(total)
  expect((await (await kit.ask(`/runs/${runId}/log`)).text()).trimEnd().split('\n')).toHaveLength(total)
})

test('fault S16: the tokens of the service are secrets too: who may read does not learn how to approve', async () => {
  const kit = serviceKit(talkingAgent([`the file says ${TOKEN}`]))
  const runId = await finished(kit)
  const text = await (await kit.ask(`/runs/${runId}/log`, { token: READ_TOKEN })).text()
  expect(text).toContain('[redacted]')
  expect(text).not.toContain(TOKEN)
})

test('fault S16: what differs between two runs is quoted without secrets, wherever the quote begins', async () => {
  const long = `${'x'.repeat(300)}${SECRET}`
  const kit = serviceKit(talkingAgent(), { secrets: [SECRET] })
  const a = await finished(kit, `${long}1 tail`)
  const b = await finished(kit, `${long}2 tail`)
  const text = await (await kit.ask(`/diff?a=${a}&b=${b}`)).text()
  expect(text).toContain('"is_same":false')
  for (let at = 0; at + 8 <= SECRET.length; at += 1) expect(text).not.toContain(SECRET.slice(at, at + 8))
})

test('a comparison with a run that is not there does not say where the store is', async () => {
  const kit = serviceKit(talkingAgent())
  const a = await finished(kit)
  const b = a.replace(/[0-9a-f]$/u, (digit) => (digit === '0' ? '1' : '0'))
  const refused = await kit.ask(`/diff?a=${a}&b=${b}`)
  expect(refused.status).toBe(404)
  expect(JSON.parse(await refused.text())).toMatchObject({ error: { message: `there is no run ${b}` } })
})

test('fault S15: the service proves that it knows a token without saying it', async () => {
  const kit = serviceKit(talkingAgent())
  const nonce = 'a-nonce-of-16-or-more'
  const health = schemas.HEALTH.parse(await kit.json(`/healthz?nonce=${nonce}`, { token: null }))
  expect(health.proofs).toContain(createHmac('sha256', TOKEN).update(nonce).digest('hex'))
  expect(await kit.json('/healthz', { token: null })).toEqual({ status: 'ok' })
  expect((await kit.ask('/healthz?nonce=short', { token: null })).status).toBe(400)
})

test('openapi.json describes every route and nothing else, with the scope and what it takes', async () => {
  const kit = serviceKit(talkingAgent(), { basePath: '/api' })
  const described = (await (await kit.ask('/api/openapi.json')).json()) as {
    paths: Record<
      string,
      Record<string, { requestBody?: { content: Record<string, { schema: object }> }; security: unknown[] }>
    >
  }
  const operations = Object.entries(described.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(operations.toSorted()).toEqual(
    ROUTES.map(({ method, path }) => `${method} ${path.replace(':id', '{id}')}`).toSorted(),
  )
  const deny = described.paths['/runs/{id}/deny']?.['post']
  expect(deny?.requestBody?.content['application/json']?.schema).toMatchObject({
    type: 'object',
    required: ['call', 'reason'],
    additionalProperties: false,
  })
  expect(described.paths['/runs/{id}/frames']?.['get']).toMatchObject({
    responses: { 200: { content: { 'application/json': {}, 'text/event-stream': {} } } },
  })
  expect(described.paths['/healthz']?.['get']?.security).toEqual([])
})

test('what every route answers is what openapi.json says', async () => {
  const { made } = askingAgent()
  const kit = serviceKit(made)
  const runId = await kit.start()
  const [other, approved] = [await kit.start(), await kit.start()]
  for (const id of [runId, other, approved]) {
    await until(() => kit.store.find(id)?.state.endsWith('awaitingApproval') === true)
  }
  const asked: Readonly<Record<string, { path: string; body?: object }>> = {
    'GET /healthz': { path: '/healthz' },
    'GET /access': { path: '/access' },
    'GET /chart': { path: '/chart' },
    'GET /diff': { path: `/diff?a=${runId}&b=${runId}` },
    'GET /runs': { path: '/runs' },
    'POST /runs': { path: '/runs', body: { input: 'x' } },
    'GET /runs/:id': { path: `/runs/${runId}` },
    'GET /runs/:id/frames': { path: `/runs/${runId}/frames` },
    'POST /runs/:id/steer': { path: `/runs/${runId}/steer`, body: { text: 'x' } },
    'POST /runs/:id/deny': { path: `/runs/${runId}/deny`, body: { call: 'call_1_0', reason: 'no' } },
    'POST /runs/:id/cancel': { path: `/runs/${other}/cancel`, body: {} },
    'POST /runs/:id/approve': { path: `/runs/${approved}/approve`, body: { call: 'call_1_0' } },
    'POST /runs/:id/reconcile': {
      path: `/runs/${runId}/reconcile`,
      body: { call: 'call_1_0', as: 'done' },
    },
    'GET /runs/:id/log': { path: `/runs/${runId}/log` },
    'GET /metrics': { path: '/metrics' },
    'GET /openapi.json': { path: '/openapi.json' },
  }
  for (const { method, path, about } of ROUTES) {
    const ask = asked[`${method} ${path}`]
    // The files of the page are there only once it is built.
    if (path.startsWith('/inspect')) continue
    if (ask === undefined) throw new Error(`${path} is not asked`)
    const response = await kit.ask(ask.path, ask.body === undefined ? {} : { body: ask.body })
    const answer = about.answers[response.status]
    // No call of it is in doubt, so that the one command is refused.
    const schema = path.endsWith('/reconcile') ? schemas.ERROR : answer?.schema
    const text = await response.text()
    expect(response.headers.get('content-type'), path).toContain(answer?.type ?? 'application/json')
    expect(schema === undefined || schema.safeParse(JSON.parse(text)).success, path).toBe(true)
  }
})

test('access says what a token may do, and the chart is the one that is drawn', async () => {
  const kit = serviceKit(talkingAgent())
  const access = schemas.ACCESS.parse(await kit.json('/access', { token: READ_TOKEN }))
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  expect(access).toEqual({ scopes: ['read'], runs: null, agents: ['default'], version })
  expect(await kit.json('/chart')).toEqual(JSON.parse(JSON.stringify(chartLayout)))
})

test('runs are listed newest first, page by page, and by what is asked for', async () => {
  const kit = serviceKit(talkingAgent(), { agents: { one: talkingAgent(), two: talkingAgent() } })
  const ids: string[] = []
  for (let at = 0; at < 7; at += 1) {
    const asked = { body: { input: 'x', agent: at % 2 === 0 ? 'one' : 'two' } }
    const runId = await kit.start('x', asked)
    await until(() => kit.store.find(runId)?.status === 'ended')
    ids.unshift(runId)
  }
  const seen: string[] = []
  for (let before = ''; before !== 'null';) {
    const page = schemas.RUN_LIST.parse(
      await kit.json(`/runs?limit=3${before === '' ? '' : `&before=${before}`}`),
    )
    seen.push(...page.runs.map(({ run_id: id }) => id))
    before = String(page.next)
  }
  expect(new Set(seen)).toEqual(new Set(ids))
  expect(seen).toHaveLength(7)
  const list = async (query: string): Promise<number> =>
    schemas.RUN_LIST.parse(await kit.json(`/runs?${query}`)).runs.length
  expect(await list('q=TWO')).toBe(3)
  expect(await list('state=done')).toBe(7)
  expect(await list('state=working')).toBe(0)
  expect(await list('status=ended&kind=run')).toBe(7)
  expect(await list('kind=conversation')).toBe(0)
  expect(await list(`q=${ids[0]?.slice(0, 36) ?? ''}`)).toBe(1)
  expect((await kit.ask('/runs', { body: { input: 'which?' } })).status).toBe(400)
})

test('runs that wait for somebody are listed by what they wait for', async () => {
  const { made } = askingAgent()
  const kit = serviceKit(made)
  const waiting = await kit.start()
  await until(() => kit.store.find(waiting)?.state.endsWith('awaitingApproval') === true)
  const ended = await kit.start()
  await kit.ask(`/runs/${ended}/cancel`, { body: {} })
  const list = async (query: string): Promise<readonly string[]> =>
    schemas.RUN_LIST.parse(await kit.json(`/runs${query}`)).runs.map(({ run_id: id }) => id)
  expect(await list('')).toHaveLength(2)
  expect(await list('?needs=any')).toEqual([waiting])
  expect(await list('?needs=approval')).toEqual([waiting])
  expect(await list('?needs=reconcile')).toEqual([])
  expect((await kit.ask('/runs?needs=me')).status).toBe(400)
})

test('a token that is bound to a run sees that run in the list and no other', async () => {
  const store = serviceKit(talkingAgent())
  const [a] = [await finished(store), await finished(store)]
  const bound = 'a-token-that-is-bound-to-one-run'
  const kit = serviceKit(talkingAgent(), {
    store: store.store,
    auth: { tokens: [{ token: bound, scopes: ['read'], runs: [a] }] },
  })
  const { runs } = schemas.RUN_LIST.parse(await kit.json('/runs', { token: bound }))
  expect(runs.map(({ run_id: id }) => id)).toEqual([a])
  expect((await kit.ask(`/runs/${a}`, { token: bound })).status).toBe(200)
})

test('two runs that go apart are told apart at the frames where they do', async () => {
  const { tool } = watchedTool('look', () => 'seen')
  const model = scriptedModel([
    textAnswer(1, 'no need'),
    callsAnswer(1, [['look', '{}']]),
    textAnswer(2, 'done'),
  ])
  const kit = serviceKit(agent({ model, tools: [tool] }))
  const [a, b] = [await finished(kit), await finished(kit)]
  const diff = schemas.DIFF.parse(await kit.json(`/diff?a=${a}&b=${b}`))
  expect(diff).toMatchObject({ is_same: false, part: 'decision', transition: 1 })
  expect([...kit.store.read(a)][diff.at?.a ?? -1]?.type).toBe('response_settled')
  expect(await kit.json(`/diff?a=${a}&b=${a}`)).toMatchObject({ is_same: true, at: null })
  expect((await kit.ask(`/diff?a=${a}&b=unknown`)).status).toBe(404)
})

test('metrics are text that Prometheus reads, with what happened in them', async () => {
  const kit = serviceKit(talkingAgent())
  await (await streamOf(kit, await finished(kit))).frames()
  const response = await kit.ask('/metrics')
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  const text = await response.text()
  for (const line of text.trimEnd().split('\n')) {
    expect(line).toMatch(
      /^(?:# (?:HELP|TYPE) [a-z_]+ .+|[a-z_]+(?:\{[a-z]+="[^"\\]*"(?:,[a-z]+="[^"\\]*")*\})? [0-9.e+-]+)$/u,
    )
  }
  expect((await kit.ask('/nothing')).status).toBe(404)
  expect(await (await kit.ask('/metrics')).text()).toContain(
    'loopchart_http_requests_total{method="any",route="refused",status="404"} 1\n',
  )
  expect(text).toContain('loopchart_runs_started_total 1\n')
  expect(text).toContain('loopchart_runs_left_total{state="done"} 1\n')
  expect(text).toContain('loopchart_readers_closed_total{reason="end"} 1\n')
  expect(text).toContain('loopchart_http_requests_total{method="POST",route="/runs",status="201"} 1\n')
})

test('fault S14: the page is served with a policy under which nothing leaks and text is never script', async () => {
  const folder = tempFolder()
  mkdirSync(`${folder}/page`)
  writeFileSync(`${folder}/page/index.html`, '<!doctype html>')
  const place = pathToFileURL(`${folder}/page/`)
  const page = await staticPage('index.html', place)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.headers.get('referrer-policy')).toBe('no-referrer')
  expect(page.headers.get('content-security-policy')?.split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ])
  await expect(staticPage('app.js', place)).rejects.toMatchObject({ code: 'page_missing' })
})

test('a run that has ended is explained and takes no command, and one that there is not is 404', async () => {
  const kit = serviceKit(talkingAgent())
  const runId = await finished(kit)
  expect(await kit.json(`/runs/${runId}`)).toMatchObject({
    explain: { state: 'done', waits_for: [] },
    can: [],
  })
  expect((await kit.ask('/runs/unknown-run')).status).toBe(404)
})
