import { z } from 'zod'

import type { JsonObject } from '../protocol/json.ts'
import { ERROR } from './answer-schemas.ts'
import { BASE_HEADERS } from './answer.ts'
import { NO_BODY, NO_QUERY } from './request-schemas.ts'
import { route, type Route } from './route.ts'
import { RUN_ROUTES } from './run-routes.ts'
import { SERVICE_ROUTES } from './service-routes.ts'

const openApiRoute = route({
  method: 'GET',
  path: '/openapi.json',
  scope: 'read',
  about: {
    summary: 'This description, made from what checks the requests.',
    answers: { 200: { text: 'OpenAPI 3.1.', type: 'application/json' } },
  },
  query: NO_QUERY,
  body: NO_BODY,
  handle: ({ parts: { version, basePath } }) =>
    Response.json(describeRoutes(ROUTES, version, basePath), { headers: BASE_HEADERS }),
})

/** Every route that there is: what is not in this list is not served. */
export const ROUTES: readonly Route[] = [...SERVICE_ROUTES, ...RUN_ROUTES, openApiRoute]

/** What routes take and answer, as OpenAPI 3.1. */
function describeRoutes(routes: readonly Route[], version: string, basePath: string): JsonObject {
  const paths: Record<string, JsonObject> = {}
  for (const one of routes) {
    const path = one.path.replace(':id', '{id}')
    paths[path] = { ...paths[path], [one.method.toLowerCase()]: operation(one) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'loopchart', version, description: 'Agent runs as a statechart, over HTTP.' },
    servers: [{ url: basePath === '' ? '/' : basePath }],
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    paths,
  }
}

function operation({ method, path, scope, about, query, body }: Route): JsonObject {
  const answers = Object.entries(about.answers).map(([status, { text, type, schema, orType }]) => [
    status,
    {
      description: text,
      content: {
        [type]: schema === undefined ? {} : { schema: jsonSchema(schema, 'output') },
        ...(orType !== undefined && { [orType]: { schema: { type: 'string' } } }),
      },
    },
  ])
  const content = { 'application/json': { schema: jsonSchema(ERROR, 'output') } }
  return {
    summary: about.summary,
    operationId: `${method.toLowerCase()}${path.replaceAll(/[^a-z]+(?<first>[a-z])/giu, (_, first: string) => first.toUpperCase())}`,
    security: scope === null ? [] : [{ token: [] }],
    ...(scope !== null && { 'x-scope': scope }),
    parameters: [...pathParameters(path), ...queryParameters(query), ...headerParameters(method, path)],
    ...(method === 'POST' && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: jsonSchema(body, 'input') } },
      },
    }),
    responses: { ...Object.fromEntries(answers), default: { description: 'It was refused.', content } },
  }
}

function pathParameters(path: string): readonly JsonObject[] {
  return path.includes(':id') ? [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }] : []
}

function queryParameters(query: z.ZodObject): readonly JsonObject[] {
  return Object.entries(query.shape).map(([name, schema]) => ({
    name,
    in: 'query',
    required: !z.safeParse(schema, undefined).success,
    schema: jsonSchema(schema, 'input'),
  }))
}

function headerParameters(method: string, path: string): readonly JsonObject[] {
  const names = method === 'POST' ? ['Idempotency-Key'] : path.endsWith('/frames') ? ['Last-Event-ID'] : []
  return names.map((name) => ({ name, in: 'header', required: false, schema: { type: 'string' } }))
}

function jsonSchema(schema: z.core.$ZodType, io: 'input' | 'output'): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  const json: JsonObject = JSON.parse(JSON.stringify(rest))
  return json
}
