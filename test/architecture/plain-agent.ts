// Makes an agent as plain as most are: a process that has loaded this has loaded what such an agent needs.
import { agent, openResponses } from '../../src/index.ts'

agent({
  model: openResponses({ model: 'any', baseUrl: 'http://127.0.0.1:1/v1' }),
  instructions: 'Be brief.',
  limits: { turns: 3 },
})
