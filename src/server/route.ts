import type { z } from 'zod'

import type { Clock } from '../clock.ts'
import { LoopchartError } from '../errors.ts'
import type { Redactor } from '../frames/redactor.ts'
import type { RunStore } from '../journal/run-store.ts'
import type { AnsweredKeys } from './answered-keys.ts'
import type { Metrics } from './metrics.ts'
import { readBody } from './read-body.ts'
import { requestFault } from './request-fault.ts'
import { RUN_ID } from './run-ids.ts'
import type { RunRegistry } from './run-registry.ts'
import type { RunViews } from './run-views.ts'
import type { SseReaders } from './sse-readers.ts'
import type { Access, Scope, Tokens } from './tokens.ts'

/** What routes work with. */
export interface ServiceParts {
  readonly agents: readonly string[]
  readonly store: RunStore
  readonly registry: RunRegistry
  readonly views: RunViews
  readonly readers: SseReaders
  readonly keys: AnsweredKeys
  readonly tokens: Tokens
  readonly redactor: Redactor
  readonly metrics: Metrics
  readonly clock: Clock
  readonly version: string
  readonly basePath: string
  readonly bodyBytesMax: number
  /** Whether the service is being stopped. */
  readonly isClosing: () => boolean
}

/** A request that was let in. */
export interface RouteCall<Query, Body> {
  readonly parts: ServiceParts
  readonly request: Request
  /** Of the run in the path; empty where there is none. */
  readonly runId: string
  readonly query: Query
  readonly body: Body
  /** Null on a route that is open to all. */
  readonly access: Access | null
}

/** One thing that the service can be asked. */
export interface Route {
  readonly method: 'GET' | 'POST'
  /** With `:id` where the id of a run stands. */
  readonly path: string
  /** Null: open to all, because nothing of any run is in its answer. */
  readonly scope: Scope | null
  readonly about: RouteAbout
  readonly query: z.ZodObject
  readonly body: z.ZodType
  readonly answer: (asked: Asked) => Promise<Response>
}

/** What people read of a route. */
interface RouteAbout {
  readonly summary: string
  /** By status; the errors that every route may answer with are left out. */
  readonly answers: Readonly<
    Record<
      number,
      { readonly text: string; readonly type: string; readonly schema?: z.ZodType; readonly orType?: string }
    >
  >
}

/** A request before its parts are checked. */
interface Asked {
  readonly parts: ServiceParts
  readonly request: Request
  readonly runId: string
  readonly access: Access | null
}

interface RouteSpec<Query extends z.ZodObject, Body extends z.ZodType> extends Omit<
  Route,
  'answer' | 'query' | 'body'
> {
  readonly query: Query
  readonly body: Body
  readonly handle: (call: RouteCall<z.output<Query>, z.output<Body>>) => Response | Promise<Response>
}

const BODY_TIMEOUT_MS = 10_000

/** A route whose parts are checked before it is asked. */
export function route<Query extends z.ZodObject, Body extends z.ZodType>(
  spec: RouteSpec<Query, Body>,
): Route {
  const { handle, ...rest } = spec
  return {
    ...rest,
    async answer({ parts, request, runId, access }) {
      if (spec.path.includes(':id') && !RUN_ID.test(runId)) {
        throw new LoopchartError('run_unknown', 'there is no run of that id')
      }
      const query = parse(spec.query, queryOf(request), 'the query')
      const { clock, bodyBytesMax: bytesMax } = parts
      const options = { clock, bytesMax, timeoutMs: BODY_TIMEOUT_MS }
      const given = spec.method === 'POST' ? await readBody(request, options) : undefined
      const body = parse(spec.body, given, 'the body')
      return handle({ parts, request, runId, query, body, access })
    },
  }
}

function queryOf({ url }: Request): Readonly<Record<string, string>> {
  const parameters = [...new URL(url).searchParams]
  const query = Object.fromEntries(parameters)
  if (Object.keys(query).length === parameters.length) return query
  throw new LoopchartError('usage', 'a parameter of the query is given twice')
}

function parse<Schema extends z.ZodType>(schema: Schema, value: unknown, name: string): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new LoopchartError('usage', `${name}: ${requestFault(parsed.error, schema, value)}`)
}
