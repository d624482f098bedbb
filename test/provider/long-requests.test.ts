import { expect, test } from 'vitest'

import { callsAnswer, finishRun, framesOf, watchedTool } from '../scripted-model.ts'
import { fakeProvider, startHttpRun, streams, TEXT } from './fake-provider.ts'

const wrapped: typeof globalThis.fetch = (input, init) => fetch(input, init)
const TURNS = 12
const WORDS = 'Grüße, wörd '

test.for([
  ['over sockets', {}],
  ['with a fetch', { fetch: wrapped }],
] as const)('%s, the requests of a long conversation arrive as the log says', async ([, way]) => {
  const answers = Array.from({ length: TURNS }, (_, at) =>
    streams(callsAnswer(at + 1, [['tell', `{"about":${at}}`]])),
  )
  const provider = await fakeProvider(...answers, streams(TEXT))
  const { tool } = watchedTool('tell', ({ about }) => `${JSON.stringify(about)} ${WORDS.repeat(2000)}`)
  const { result, frames } = await finishRun(startHttpRun({ ...provider, ...way }, { tools: [tool] }))
  expect(result).toMatchObject({ state: 'done', turns: TURNS + 1 })
  const sent = framesOf(frames, 'request_sent').map(({ body }) => body)
  expect(sent.at(-1)?.length).toBeGreaterThan(8 * 32 * 1024)
  expect(provider.seen.map(({ body }) => body)).toEqual(sent)
})
