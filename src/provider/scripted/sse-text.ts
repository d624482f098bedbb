import type { StreamingEvent } from '../../protocol/events.ts'

/** One event as it goes over the wire. */
export function sseText(event: StreamingEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

/** What ends a stream. It is no event and has no name. */
export const SSE_DONE = 'data: [DONE]\n\n'
