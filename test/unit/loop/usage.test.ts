import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { readUsage } from '../../../src/loop/usage.ts'
import type { JsonObject } from '../../../src/protocol/json.ts'

const full = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cached: 4, reasoning: 3 }

test('K17: usage is read from the names of the protocol and from those of chat completions', () => {
  expect(
    readUsage({
      input_tokens: 10,
      output_tokens: 5,
      total_tokens: 15,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens_details: { reasoning_tokens: 3 },
    }),
  ).toEqual(full)
  expect(
    readUsage({
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 3 },
    }),
  ).toEqual(full)
})

test.each<readonly [JsonObject | null, readonly [number, number, number] | null]>([
  [null, null],
  [{}, null],
  [{ input_tokens: null, output_tokens: '5', total_tokens: -1 }, null],
  [{ input_tokens: 10, output_tokens: 5 }, [10, 5, 15]],
  [{ input_tokens: 10, output_tokens: 5, total_tokens: 0 }, [10, 5, 15]],
  [{ input_tokens: 10, output_tokens: 5, total_tokens: 20 }, [10, 5, 20]],
  [{ total_tokens: 7 }, [0, 0, 7]],
  [{ input_tokens: '10', output_tokens: 5 }, [0, 5, 5]],
  [{ input_tokens: -10, output_tokens: 5 }, [0, 5, 5]],
  [{ input_tokens: 1e300, output_tokens: 5.5, total_tokens: 3 }, [0, 0, 3]],
  [{ input_tokens: 'x', prompt_tokens: 8 }, [8, 0, 8]],
])('usage %j gives the counts %j', (raw, counts) => {
  const read = readUsage(raw)
  expect(read && [read.prompt_tokens, read.completion_tokens, read.total_tokens]).toEqual(counts)
})

test('whatever is in it, usage gives counts that can be added up', () => {
  const value = fc.oneof(fc.jsonValue(), fc.double(), fc.integer())
  const details = fc.oneof(value, fc.record({ cached_tokens: value, reasoning_tokens: value }))
  const raw = fc.record(
    {
      input_tokens: value,
      prompt_tokens: value,
      output_tokens: value,
      total_tokens: value,
      input_tokens_details: details,
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<JsonObject>
  fc.assert(
    fc.property(raw, (usage) => {
      for (const count of Object.values(readUsage(usage) ?? {})) {
        expect(Number.isFinite(count) && count >= 0).toBe(true)
      }
    }),
  )
})
