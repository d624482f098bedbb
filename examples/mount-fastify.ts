import fastify from 'fastify'
import { nodeListener } from 'loopchart/server'

import { followRun } from './follow-a-run.ts'
import { sumService } from './sum-service.ts'

const service = sumService('/agents')
const listener = nodeListener(service)
const app = fastify()
await app.register((scope, _, done) => {
  scope.removeAllContentTypeParsers() // the service reads bodies itself
  scope.addContentTypeParser('*', (_request, _payload, ready) => ready(null))
  scope.all('/agents/*', (request, reply) => {
    reply.hijack()
    listener(request.raw, reply.raw)
  })
  done()
})
app.get('/', () => 'the rest of the app')

const url = await app.listen({ host: '127.0.0.1', port: 0 })
service.allowHosts([new URL(url).host])

console.log(await (await fetch(url)).text())
await followRun(`${url}/agents`)
await service.close()
await app.close()
