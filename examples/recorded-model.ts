import { readFile } from 'node:fs/promises'

import type { Model } from 'loopchart'

/** Stands in for a provider: answers each request with the next recorded stream of fixtures/streams. */
export function recordedModel(...streams: readonly string[]): Model {
  const queue = [...streams]
  return {
    name: 'recorded-1',
    endpoint: 'fixtures/streams',
    isStreamed: true,
    canContinueById: true,
    send: async ({ onHead, onChunk }) => {
      const stream = queue.shift()
      if (stream === undefined) throw new Error('nothing more was recorded')
      onHead({ status: 200, requestId: null, contentType: 'text/event-stream' })
      onChunk(await readFile(new URL(`../fixtures/streams/${stream}.sse`, import.meta.url)))
      return null
    },
  }
}
