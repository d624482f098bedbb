import { readFileSync } from 'node:fs'

import { expect, test } from 'vitest'

import { listFixtures } from '../../scripts/fixtures/list-fixtures.ts'
import { validStreams } from '../../scripts/fixtures/valid-streams.ts'
import { EVENT_TYPES } from '../../src/protocol/generated/event-types.ts'
import { strict } from '../../src/protocol/strict.ts'
import { decodeFixture, fixtureNames } from '../decode.ts'

test('the fixtures on disk are what npm run fixtures writes', () => {
  const expected = listFixtures()
  for (const [path, bytes] of expected) {
    const file = readFileSync(new URL(`../../fixtures/${path}`, import.meta.url))
    expect(file.equals(bytes), `${path} is stale: run npm run fixtures`).toBe(true)
  }
  expect([...fixtureNames('streams'), ...fixtureNames('bodies')].length).toBe(expected.size)
})

test.for(Object.keys(validStreams()))('stream %s passes the strict schema, event for event', (name) => {
  const { events } = decodeFixture(name, { profile: strict })
  for (const { raw, errors, response_errors: responseErrors } of events) {
    expect([...errors, ...responseErrors], raw).toEqual([])
  }
})

test('one stream holds all 24 event types', () => {
  const { events } = decodeFixture('all-event-types')
  expect(new Set(events.flatMap(({ event_name: name }) => name ?? []))).toEqual(new Set(EVENT_TYPES))
  expect(EVENT_TYPES.length).toBe(24)
})

test.for(Object.keys(validStreams()).filter((name) => name !== 'all-event-types'))(
  'a stream as it should be, %s, has no anomaly',
  (name) => {
    expect(decodeFixture(name).events.flatMap(({ anomalies }) => anomalies)).toEqual([])
  },
)
