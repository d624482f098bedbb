import { readFileSync } from 'node:fs'

import { expect, test } from 'vitest'

import { sseText, StreamBuilder } from '../../scripts/fixtures/stream-builder.ts'
import { ANOMALY_CODES } from '../../src/stream/anomaly.ts'
import { anomalyCodes, decodeFixture, decodeText, fixtureNames } from '../decode.ts'

test('docs/protocol.md lists every anomaly once, and no other', () => {
  const text = readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8')
  const section = text.slice(text.indexOf('## Anomalies'), text.indexOf('## Limits'))
  const listed = [...section.matchAll(/^\| ([a-z_0-9]+) \|/gmu)]
    .map(([, code]) => code)
    .filter((code) => code !== 'code')
  expect(listed).toEqual([...ANOMALY_CODES])
})

test('every anomaly is shown by a fixture', () => {
  const shown = new Set(fixtureNames('streams').flatMap((name) => anomalyCodes(decodeFixture(name))))
  expect(ANOMALY_CODES.filter((code) => !shown.has(code))).toEqual([])
})

test('an odd thing that goes on is noted once, not on every event', () => {
  const events = new StreamBuilder().start().message(0, ['a', 'b', 'c', 'd']).end().events
  const bare = events.map(({ type, data }) => ({ type, data: { ...data, sequence_number: undefined } }))
  expect(anomalyCodes(decodeText(sseText(bare)))).toEqual(['sequence_missing'])
})

test('sequence numbers may begin anywhere with every response.created, and go on by one from there', () => {
  expect(oddNumbers(['response.created', 7], ['x:a', 8], ['response.created', 0], ['x:a', 1])).toEqual([])
  expect(oddNumbers(['response.created', 7], ['x:a', 8], ['x:a', 0])).toEqual(['sequence_backwards'])
  expect(oddNumbers(['x:a', 3], ['x:a', 3], ['x:a', 5])).toEqual(['sequence_repeated', 'sequence_gap'])
})

function oddNumbers(
  ...events: readonly (readonly [type: string, sequenceNumber: number])[]
): readonly string[] {
  const lines = events.map(([type, number]) => JSON.stringify({ type, sequence_number: number }))
  const decoded = decodeText(lines.map((line) => `data: ${line}\n\n`).join(''))
  return anomalyCodes(decoded).filter((code) => code.startsWith('sequence_'))
}
