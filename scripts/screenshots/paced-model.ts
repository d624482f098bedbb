import { Buffer } from 'node:buffer'

import type { Model, SendFault } from '../../src/loop/model.ts'
import type { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { sseText, type StreamBuilder } from '../fixtures/stream-builder.ts'

/** A response, as what is put into its stream, or why there is none. */
export type PacedAnswer = ((stream: StreamBuilder) => StreamBuilder) | SendFault

const THINKING_MS = 640
const EVENT_MS = 38

/** A model whose responses come event by event, at the pace of a real one, on a clock that only it moves. */
export function pacedModel(
  clock: SimulatedClock,
  startStream: () => StreamBuilder,
  answers: readonly PacedAnswer[],
): Model {
  const queue = [...answers]
  return {
    name: 'gpt-oss-120b',
    endpoint: 'scripted:',
    isStreamed: true,
    canContinueById: true,
    send: async ({ onHead, onChunk }) => {
      // The driver is told after it has sent, as over a network.
      await Promise.resolve()
      clock.advance(THINKING_MS)
      const answer = queue.shift()
      if (answer === undefined) return new Promise(() => undefined)
      if (typeof answer === 'object') return answer
      onHead({ status: 200, requestId: null, contentType: 'text/event-stream' })
      for (const event of answer(startStream()).events) {
        clock.advance(EVENT_MS)
        onChunk(Buffer.from(sseText([event], '')))
      }
      onChunk(Buffer.from('data: [DONE]\n\n'))
      return null
    },
  }
}
