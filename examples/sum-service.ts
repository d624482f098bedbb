import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { agent, openStore, tool } from 'loopchart'
import { createService, type Service } from 'loopchart/server'
import { z } from 'zod'

import { recordedModel } from './recorded-model.ts'

// Of your own: at least 24 characters that nobody guesses, from a file or a vault.
export const READ_TOKEN = 'example-token-that-may-read'
export const FULL_TOKEN = 'example-token-that-may-do-all'

/** A service with one agent; `basePath` is what every path of it begins with. */
export function sumService(basePath = ''): Service {
  const add = tool({
    name: 'add',
    description: 'Add two numbers and return the sum.',
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: ({ a, b }) => a + b,
  })
  return createService({
    agents: { sums: agent({ model: recordedModel('text-then-call', 'text'), tools: [add] }) },
    store: openStore(join(mkdtempSync(join(tmpdir(), 'loopchart-')), 'runs.db')),
    auth: {
      tokens: [
        { token: READ_TOKEN, scopes: ['read'] },
        { token: FULL_TOKEN, scopes: ['approve'] },
      ],
    },
    basePath,
  })
}
