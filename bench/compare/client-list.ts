import type { Client } from './client.ts'

/** How a client is loaded, and what a reader must know to compare its figures with others. */
export interface ListedClient {
  readonly load: () => Promise<Client>
  /** Whether its loops can go on from the id of a response. If not, it sends all that was said with each request. */
  readonly byId: boolean
  /** Where its way of going on makes a difference; everywhere when left out. */
  readonly onlyIn?: readonly string[]
  readonly doesNot: string
}

/** Every client by its name, loaded only in the process that measures it. */
export const CLIENTS: Readonly<Record<string, ListedClient>> = {
  floor: {
    load: async () => (await import('./floor-client.ts')).floorClient(),
    byId: true,
    doesNot: 'no validation, log, retries, limits or timeouts; nothing is kept',
  },
  loopchart: {
    load: async () => (await import('./loopchart-client.ts')).loopchartClient(),
    byId: true,
    doesNot: 'log in memory: gone with the process',
  },
  'loopchart-sqlite': {
    load: async () => (await import('./loopchart-client.ts')).loopchartSqliteClient(),
    byId: true,
    doesNot: 'nothing of these: log in a file, each frame there before it is shown',
  },
  'openai create': {
    load: () => peer('openai', 'openaiCreateClient'),
    byId: true,
    doesNot: 'no loop (by hand here), no validation of events or arguments, no log',
  },
  'openai stream': {
    load: () => peer('openai', 'openaiStreamClient'),
    byId: true,
    doesNot: 'no loop (by hand here), no validation of arguments, no log; keeps a snapshot of the response',
  },
  '@openai/agents': {
    load: () => peer('openai-agents', 'openaiAgentsClient'),
    byId: false,
    doesNot: 'no log; no previous_response_id unless given one to start from; tracing off',
  },
  '@openai/agents by id': {
    load: () => peer('openai-agents', 'openaiAgentsClient'),
    byId: true,
    onlyIn: ['loop', 'growth'],
    doesNot: 'as above, given an id to start from',
  },
  'ai + @ai-sdk/openai': {
    load: () => peer('ai', 'aiOpenaiClient'),
    byId: false,
    doesNot: 'no log, no previous_response_id in its loop (names earlier items by id); telemetry off',
  },
  'ai + @ai-sdk/open-responses': {
    load: () => peer('ai', 'aiOpenResponsesClient'),
    byId: false,
    doesNot: 'no log, no previous_response_id; telemetry off',
  },
  '@openrouter/agent': {
    load: () => peer('openrouter-agent', 'openrouterAgentClient'),
    byId: false,
    doesNot: 'no log, no previous_response_id in its requests',
  },
}

// By a name that is put together: the type check must not look for packages that most people have not installed.
async function peer(file: string, name: string): Promise<Client> {
  const made = (await import(`./peers/${file}-client.js`)) as Readonly<Record<string, () => Client>>
  const make = made[name]
  if (make === undefined) throw new Error(`peers/${file}-client.js has no ${name}`)
  return make()
}
