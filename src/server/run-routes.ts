import { LoopchartError } from '../errors.ts'
import { BASE_HEADERS, jsonAnswer } from './answer.ts'
import { COMMAND_ANSWER, FRAME_PAGE, RUN, RUN_LIST, STARTED } from './answer-schemas.ts'
import { beginRun } from './begin-run.ts'
import { commandRoutes } from './command-routes.ts'
import { readPage } from './frame-page.ts'
import { FrameView } from './frame-view.ts'
import { idempotencyKey } from './idempotency-key.ts'
import { logBody } from './log-body.ts'
import { RequestRefusal } from './request-refusal.ts'
import { FRAMES_QUERY, LIST_QUERY, limitOf, NEW_RUN, NO_BODY, NO_QUERY } from './request-schemas.ts'
import { route, type Route, type RouteCall, type ServiceParts } from './route.ts'
import { RunFeed } from './run-feed.ts'
import { listRuns } from './run-list.ts'

const LIST_DEFAULT = 50
const PAGE_DEFAULT = 1_000
const PAGE_CHARS_MAX = 4 * 1024 * 1024

const JSON_TYPE = 'application/json'
const SSE_TYPE = 'text/event-stream'

const startRoute = route({
  method: 'POST',
  path: '/runs',
  scope: 'run',
  about: {
    summary: 'Begins a run. The same Idempotency-Key and body again find the run that they began.',
    answers: {
      201: { text: 'The run has begun and is in the store.', type: JSON_TYPE, schema: STARTED },
      200: { text: 'It had begun before.', type: JSON_TYPE, schema: STARTED },
    },
  },
  query: NO_QUERY,
  body: NEW_RUN,
  async handle({ parts, request, body, access }) {
    if (access === null || access.runs !== null) {
      throw new LoopchartError('scope_missing', 'the token is for runs that are there already')
    }
    const key = idempotencyKey(request)
    const agent = body.agent ?? defaultAgent(parts.agents)
    const asked = { agent, input: body.input, limits: body.limits ?? {} }
    const begun = await beginRun(parts, asked, key === null ? null : { tokenId: access.id, key })
    return jsonAnswer(parts.redactor, begun.body, begun.isNew ? 201 : 200)
  },
})

const listRoute = route({
  method: 'GET',
  path: '/runs',
  scope: 'read',
  about: {
    summary: 'Lists runs and conversations, newest first.',
    answers: {
      200: { text: 'A page; `next` is `before` of the page after it.', type: JSON_TYPE, schema: RUN_LIST },
    },
  },
  query: LIST_QUERY,
  body: NO_BODY,
  async handle({ parts, query, access }) {
    const wanted = { ...query, limit: limitOf(query.limit, LIST_DEFAULT) }
    return jsonAnswer(parts.redactor, await listRuns(parts, wanted, access?.runs ?? null))
  },
})

const readRoute = route({
  method: 'GET',
  path: '/runs/:id',
  scope: 'read',
  about: {
    summary: 'Says where a run is, why, and what may happen next.',
    answers: { 200: { text: 'The run.', type: JSON_TYPE, schema: RUN } },
  },
  query: NO_QUERY,
  body: NO_BODY,
  async handle({ parts, runId }) {
    return jsonAnswer(parts.redactor, await parts.views.summary(runId))
  },
})

const framesRoute = route({
  method: 'GET',
  path: '/runs/:id/frames',
  scope: 'read',
  about: {
    summary: 'The frames of a run: as they come with `Accept: text/event-stream`, as a page otherwise.',
    answers: {
      200: {
        text: 'Frames after `Last-Event-ID` or `after`.',
        type: JSON_TYPE,
        schema: FRAME_PAGE,
        orType: SSE_TYPE,
      },
    },
  },
  query: FRAMES_QUERY,
  body: NO_BODY,
  handle(call) {
    const isStream = call.request.headers.get('accept')?.includes(SSE_TYPE) === true
    return isStream ? streamFrames(call) : pageFrames(call)
  },
})

const logRoute = route({
  method: 'GET',
  path: '/runs/:id/log',
  scope: 'read',
  about: {
    summary: 'The log of a run as lines of JSON, as far as it goes now.',
    answers: { 200: { text: 'One frame a line.', type: 'application/x-ndjson' } },
  },
  query: NO_QUERY,
  body: NO_BODY,
  handle({ parts, runId }) {
    const body = logBody(feedOf(parts, runId, 0), new FrameView(parts.redactor, 0))
    return new Response(body, { headers: { ...BASE_HEADERS, 'content-type': 'application/x-ndjson' } })
  },
})

/** Everything about runs. */
export const RUN_ROUTES: readonly Route[] = [
  startRoute,
  listRoute,
  readRoute,
  framesRoute,
  logRoute,
  ...commandRoutes(COMMAND_ANSWER),
]

type FramesCall = RouteCall<{ after?: string | undefined; limit?: string | undefined }, unknown>

function streamFrames({ parts, request, runId, query }: FramesCall): Response {
  const { readers } = parts
  if (parts.isClosing()) throw new LoopchartError('service_closing', 'the service is being stopped')
  const from = placeAsked(request, query.after)
  readers.checkRoom()
  const feed = feedOf(parts, runId, from)
  // No proxy may keep it back or change it.
  const headers = { ...BASE_HEADERS, 'content-type': SSE_TYPE, 'x-accel-buffering': 'no' }
  const response = new Response(readers.open(runId, feed, from), { headers })
  response.headers.set('cache-control', 'no-store, no-transform')
  return response
}

async function pageFrames({ parts, request, runId, query }: FramesCall): Promise<Response> {
  const { redactor } = parts
  const from = placeAsked(request, query.after)
  const feed = feedOf(parts, runId, from)
  try {
    const lastSeq = feed.length - 1
    const { lines, isEnded } = await readPage({
      feed,
      view: new FrameView(redactor, from),
      framesMax: limitOf(query.limit, PAGE_DEFAULT),
      charsMax: PAGE_CHARS_MAX,
    })
    const body = `{"frames":[${lines.join(',')}],"last_seq":${Math.max(lastSeq, feed.at - 1)},"is_ended":${isEnded}}`
    return new Response(body, { headers: { ...BASE_HEADERS, 'content-type': JSON_TYPE } })
  } finally {
    feed.close()
  }
}

const SEQ = /^(?:-1|\d{1,15})$/u

/** The number of the first frame that is wanted: the one after the last that the reader has. */
function placeAsked({ headers }: Request, after: string | undefined): number {
  const said = headers.get('last-event-id') ?? after ?? '-1'
  if (!SEQ.test(said)) throw new LoopchartError('usage', 'Last-Event-ID must be the number of a frame')
  return Number(said) + 1
}

/** The log of a run from its first frame on, for a view that begins with a frame that must be there. */
function feedOf({ store, registry, clock }: ServiceParts, runId: string, from: number): RunFeed {
  const feed = new RunFeed({ runId, store, driven: registry, clock })
  const { length } = feed
  if (from <= length) return feed
  feed.close()
  throw new RequestRefusal('cursor_ahead', `the log has ${length} frames, there is none after ${from - 1}`, {
    fields: { last_seq: length - 1 },
  })
}

function defaultAgent(agents: readonly string[]): string {
  const [first] = agents
  if (agents.includes('default')) return 'default'
  if (agents.length === 1 && first !== undefined) return first
  throw new LoopchartError('usage', 'the body, agent: there is more than one, so say which')
}
