import { Hono } from 'hono'

import { LoopchartError } from '../errors.ts'
import { errorAnswer, isOwnFault } from './answer.ts'
import { guardRequest, methodRefused, type AllowedHosts } from './guard.ts'
import { RateLimit } from './rate-limit.ts'
import { RequestRefusal } from './request-refusal.ts'
import type { Route, ServiceParts } from './route.ts'
import { ROUTES } from './routes.ts'
import type { Access } from './tokens.ts'

/** What is known of a request once it was let in. */
interface AppEnv {
  readonly Variables: { access: Access | null }
}

/**
 * The routes behind their guard: where a request comes from is looked at first, then who sends it, and only then what it
 * asks for. So whether an address exists is told to nobody who may not ask.
 */
export function serviceApp(
  parts: ServiceParts,
  hosts: AllowedHosts,
  requestsPerSecond: number,
  log: (line: string) => void,
): Hono<AppEnv> {
  const { basePath, tokens, clock, redactor, metrics } = parts
  const rate = new RateLimit(requestsPerSecond, clock)
  const open = new Set(ROUTES.filter(({ scope }) => scope === null).map(({ path }) => `${basePath}${path}`))
  const app = new Hono<AppEnv>()
  app.use('*', async (context, next) => {
    const { raw, path, method } = context.req
    guardRequest(raw, hosts)
    const isOpen = open.has(path) && method !== 'POST'
    const access = isOpen ? null : tokens.accessOf(raw.headers.get('authorization'))
    if (!isOpen) rate.take(admit(access).id)
    // What would be read and thrown away, of a stream without an end: only what is short and open can be asked for so.
    if (method === 'HEAD' && !isOpen) throw methodRefused(['GET', 'POST'])
    context.set('access', access)
    await next()
  })
  for (const route of ROUTES) {
    app.on(route.method, `${basePath}${route.path}`, async ({ req, get }) => {
      const access = get('access')
      const runId = req.param('id') ?? ''
      checkScope(route, access, runId)
      const response = await route.answer({ parts, request: req.raw, runId, access })
      metrics.request(route.method, route.path, response.status)
      return response
    })
  }
  for (const path of new Set(ROUTES.map((route) => route.path))) {
    app.all(`${basePath}${path}`, () => {
      throw methodRefused(ROUTES.filter((route) => route.path === path).map(({ method }) => method))
    })
  }
  app.notFound(() => {
    throw new LoopchartError('route_unknown', 'there is nothing here')
  })
  app.onError((error) => {
    if (isOwnFault(error)) log(`a request could not be answered: ${error.message}`)
    const response = errorAnswer(redactor, error)
    metrics.request('any', 'refused', response.status)
    return response
  })
  return app
}

function admit(access: Access | null): Access {
  if (access !== null) return access
  const headers = { 'www-authenticate': 'Bearer realm="loopchart"' }
  throw new RequestRefusal('token_refused', 'a known token is needed: Authorization: Bearer TOKEN', {
    headers,
  })
}

function checkScope({ scope, path }: Route, access: Access | null, runId: string): void {
  if (scope === null) return
  if (!admit(access).scopes.includes(scope)) {
    throw new LoopchartError('scope_missing', `the token has not the scope ${scope}`)
  }
  if (path.includes(':id') && access?.runs?.has(runId) === false) {
    throw new LoopchartError('scope_missing', 'the token is for other runs')
  }
}
