import { chartLayout } from '../chart/generated/chart-layout.ts'
import { LoopchartError } from '../errors.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { JsonObject } from '../protocol/json.ts'
import { diffRuns } from '../replay/diff-runs.ts'
import { BASE_HEADERS, jsonAnswer } from './answer.ts'
import { ACCESS, CHART, DIFF, HEALTH } from './answer-schemas.ts'
import { FrameView } from './frame-view.ts'
import { DIFF_QUERY, HEALTH_QUERY, NO_BODY, NO_QUERY } from './request-schemas.ts'
import { route, type Route, type ServiceParts } from './route.ts'
import { RunFeed } from './run-feed.ts'
import { RUN_ID } from './run-ids.ts'
import { staticPage } from './static-page.ts'

const JSON_TYPE = 'application/json'
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

const healthRoute = route({
  method: 'GET',
  path: '/healthz',
  scope: null,
  about: {
    summary: 'Says that the service is up; with a nonce, also proves that it knows its tokens.',
    answers: {
      200: {
        text: '`proofs` has HMAC-SHA256(token, nonce) in hex for each token.',
        type: JSON_TYPE,
        schema: HEALTH,
      },
    },
  },
  query: HEALTH_QUERY,
  body: NO_BODY,
  handle({ parts, query: { nonce } }) {
    const status = parts.isClosing() ? 'closing' : 'ok'
    const proofs = nonce === undefined ? {} : { proofs: [...parts.tokens.proofsOf(nonce)] }
    return Response.json({ status, ...proofs }, { headers: BASE_HEADERS })
  },
})

const accessRoute = route({
  method: 'GET',
  path: '/access',
  scope: 'read',
  about: {
    summary: 'Says what the token is for.',
    answers: {
      200: { text: 'Its scopes, its runs, and the agents there are.', type: JSON_TYPE, schema: ACCESS },
    },
  },
  query: NO_QUERY,
  body: NO_BODY,
  handle({ parts: { agents, version, redactor }, access }) {
    const runs = access?.runs == null ? null : [...access.runs]
    return jsonAnswer(redactor, { scopes: access?.scopes ?? [], runs, agents, version })
  },
})

const chartRoute = route({
  method: 'GET',
  path: '/chart',
  scope: 'read',
  about: {
    summary: 'The chart of a run with a place for everything in it.',
    answers: { 200: { text: 'The same for every run.', type: JSON_TYPE, schema: CHART } },
  },
  query: NO_QUERY,
  body: NO_BODY,
  handle: () => Response.json(chartLayout, { headers: BASE_HEADERS }),
})

const diffRoute = route({
  method: 'GET',
  path: '/diff',
  scope: 'read',
  about: {
    summary: 'The first transition in which two runs differ.',
    answers: { 200: { text: 'Where they part; `at` has the frames.', type: JSON_TYPE, schema: DIFF } },
  },
  query: DIFF_QUERY,
  body: NO_BODY,
  async handle({ parts, query: { a, b }, access }) {
    for (const runId of [a, b]) {
      if (!RUN_ID.test(runId)) throw new LoopchartError('run_unknown', 'there is no run of that id')
      if (access?.runs?.has(runId) === false) {
        throw new LoopchartError('scope_missing', 'the token is for other runs')
      }
    }
    return jsonAnswer(parts.redactor, diffOf(await framesOf(parts, a), await framesOf(parts, b)))
  },
})

const metricsRoute = route({
  method: 'GET',
  path: '/metrics',
  scope: 'read',
  about: {
    summary: 'What the service has done, for Prometheus.',
    answers: { 200: { text: 'In its text format.', type: METRICS_TYPE } },
  },
  query: NO_QUERY,
  body: NO_BODY,
  handle({ parts: { metrics, registry, readers }, access }) {
    if (access?.runs != null) throw new LoopchartError('scope_missing', 'the token is for single runs')
    const text = metrics.text({ runs: registry.count, readers: readers.count })
    return new Response(text, { headers: { ...BASE_HEADERS, 'content-type': METRICS_TYPE } })
  },
})

function pageRoute(path: string, file: Parameters<typeof staticPage>[0], type: string): Route {
  return route({
    method: 'GET',
    path,
    scope: null,
    about: {
      summary: 'A file of the page on which runs are seen. There is nothing of any run in it.',
      answers: { 200: { text: 'The file.', type } },
    },
    query: NO_QUERY,
    body: NO_BODY,
    handle: () => staticPage(file),
  })
}

/** Everything that is not about one run. */
export const SERVICE_ROUTES: readonly Route[] = [
  healthRoute,
  accessRoute,
  chartRoute,
  diffRoute,
  metricsRoute,
  pageRoute('/inspect', 'index.html', 'text/html'),
  pageRoute('/inspect/app.js', 'app.js', 'text/javascript'),
  pageRoute('/inspect/app.css', 'app.css', 'text/css'),
]

const TAKE_FRAMES = 500
const TAKE_CHARS = 1024 * 1024

/** A whole log as it may be seen: what differs is quoted, and a quote may begin in the middle of a secret. */
async function framesOf(
  { store, registry, redactor, clock }: ServiceParts,
  runId: string,
): Promise<readonly Frame[]> {
  const feed = new RunFeed({ runId, store, driven: registry, clock })
  const view = new FrameView(redactor, 0)
  const frames: Frame[] = []
  try {
    const until = feed.length
    while (feed.at < until) {
      frames.push(...view.show(feed.take(TAKE_FRAMES, TAKE_CHARS)))
      await new Promise((resolve) => setImmediate(resolve))
    }
    return [...frames, ...view.end()]
  } finally {
    feed.close()
  }
}

function diffOf(a: readonly Frame[], b: readonly Frame[]): JsonObject {
  const found = diffRuns(a, b)
  if (found.isSame) return { is_same: true, text: found.text, at: null, part: null, transition: null }
  return {
    is_same: false,
    text: found.text,
    at: { a: found.a?.seq ?? null, b: found.b?.seq ?? null },
    part: found.part,
    transition: found.at,
  }
}
