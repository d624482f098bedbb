import { once } from 'node:events'
import { createServer } from 'node:http'

import { Hono } from 'hono'
import { nodeListener } from 'loopchart/server'

import { followRun } from './follow-a-run.ts'
import { sumService } from './sum-service.ts'

const service = sumService('/agents')
const app = new Hono()
app.all('/agents/*', (context) => service.fetch(context.req.raw))
app.get('/', (context) => context.text('the rest of the app'))

const server = createServer(nodeListener(app)).listen(0, '127.0.0.1')
await once(server, 'listening')
const host = `127.0.0.1:${Object(server.address()).port}`
service.allowHosts([host])

console.log(await (await fetch(`http://${host}/`)).text())
await followRun(`http://${host}/agents`)
await service.close()
server.close()
