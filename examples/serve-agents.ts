import { listen } from 'loopchart/server'

import { followRun } from './follow-a-run.ts'
import { sumService } from './sum-service.ts'

const service = sumService()
const { url, close } = await listen(service) // 127.0.0.1 and a free port; { host, port } for others
await service.resumeAll() // runs that a process before this one did not end
await followRun(url)
await close() // closes the service too: what runs is suspended, and goes on at the next start
