import { expect, test } from 'vitest'

import { parseFrame } from '../../src/frames/parse-frame.ts'
import { decodeChunks, decodeFixture, fixtureNames, logText, readBody, type Decoded } from '../decode.ts'

// One file a fixture: each frame as its log line, then what the response came to.
function golden({ frames, response }: Decoded): string {
  return `${logText(frames)}${JSON.stringify(response)}\n`
}

test.for(fixtureNames('streams'))('stream %s gives the recorded frames byte for byte', async (name) => {
  await expect(golden(decodeFixture(name))).toMatchFileSnapshot(`frames/${name}.sse.jsonl`)
})

test.for(fixtureNames('bodies'))('body %s gives the recorded frames byte for byte', async (name) => {
  const decoded = decodeChunks([readBody(name)], { shape: 'body' })
  await expect(golden(decoded)).toMatchFileSnapshot(`frames/${name}.json.jsonl`)
})

test.for(fixtureNames('streams'))('every frame of stream %s survives being written and read', (name) => {
  const { frames } = decodeFixture(name)
  const lines = logText(frames).split('\n').slice(0, -1)
  expect(lines.map(parseFrame)).toEqual(JSON.parse(JSON.stringify(frames)))
  expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, at) => at))
})
