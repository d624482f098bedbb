import type { Model } from '../src/loop/model.ts'

/** A model in this process: answers each request with the chunks that it is given for it. */
export function benchModel(answer: () => readonly Uint8Array[]): Model {
  return {
    name: 'bench',
    endpoint: 'bench:',
    isStreamed: true,
    canContinueById: true,
    send: ({ onHead, onChunk }) => {
      onHead({ status: 200, requestId: null, contentType: 'text/event-stream' })
      for (const chunk of answer()) onChunk(chunk)
      return Promise.resolve(null)
    },
  }
}
