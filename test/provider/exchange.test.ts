import { expect, test } from 'vitest'

import { openResponses, type SendOptions } from '../../src/provider/open-responses.ts'

function send(callbacks: Partial<SendOptions>): Promise<unknown> {
  const model = openResponses({
    model: 'm',
    baseUrl: 'http://127.0.0.1:9/v1',
    apiKey: 'k',
    fetch: () =>
      Promise.resolve(new Response('data: 1\n\n', { headers: { 'content-type': 'text/event-stream' } })),
  })
  return model.send({
    body: '{}',
    idempotencyKey: 'a',
    signal: new AbortController().signal,
    onHead: () => undefined,
    onChunk: () => true,
    ...callbacks,
  })
}

const throws = (): never => {
  throw new RangeError('a bug')
}

test.for([
  ['head', { onHead: throws }],
  ['body', { onChunk: throws }],
] as const)('whoever throws when told of the %s is told of it', async ([, callbacks]) => {
  await expect(send(callbacks)).rejects.toThrow(RangeError)
})

test.for(['onHead', 'onChunk'] as const)(
  '%s that lets go and then throws is an end like any other',
  async (name) => {
    const caller = new AbortController()
    const callback = (): never => {
      caller.abort()
      return throws()
    }
    // A rejection that nobody hears of would fail this test as well.
    expect(await send({ signal: caller.signal, [name]: callback })).toMatchObject({ code: 'request_aborted' })
  },
)
