import { EventSourceParserStream } from 'eventsource-parser/stream'
import { parseFrame } from 'loopchart/frames'
import { z } from 'zod'

import { FULL_TOKEN, READ_TOKEN } from './sum-service.ts'

/** Starts a run at a service, and prints what it does until it ends. */
export async function followRun(service: string): Promise<void> {
  const started = await fetch(`${service}/runs`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${FULL_TOKEN}`,
      'content-type': 'application/json',
      'idempotency-key': 'sum-1', // sent again after a lost answer, this starts no second run
    },
    body: JSON.stringify({ agent: 'sums', input: 'what is 2+3?' }),
  })
  const { run_id: id } = z.object({ run_id: z.string() }).parse(await started.json())

  const response = await fetch(`${service}/runs/${id}/frames`, {
    headers: { authorization: `Bearer ${READ_TOKEN}`, accept: 'text/event-stream' },
  })
  const events = response.body
    ?.pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
  const states: string[] = []
  for await (const { event, data } of events ?? []) {
    if (event === 'frame') {
      const frame = parseFrame(data)
      if (frame.type === 'state_entered') states.push(frame.state.replace(/^.*\./u, ''))
      if (frame.type === 'run_ended') console.log(frame.text)
    } else {
      console.log(states.join(' > '))
      console.log(event, data)
    }
  }
}
