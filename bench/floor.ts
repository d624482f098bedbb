import { createParser } from 'eventsource-parser'

/**
 * The least a program can do with a stream: eventsource-parser and JSON.parse, nothing else. Every benchmark is a
 * ratio to this, over the same bytes in the same process.
 */
export function readFloor(chunks: readonly Uint8Array[], onEvent: (event: unknown) => void): void {
  const decoder = new TextDecoder()
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data !== '[DONE]') onEvent(JSON.parse(data))
    },
  })
  for (const chunk of chunks) parser.feed(decoder.decode(chunk, { stream: true }))
}
