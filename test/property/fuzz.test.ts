import { expect, test } from 'vitest'

import { fuzzStream } from './fuzz-stream.ts'

test('1,000 mutated streams break no promise', { timeout: 60_000 }, () => {
  for (let seed = 0; seed < 1000; seed += 1) {
    expect(() => fuzzStream(seed), `seed ${seed}`).not.toThrow()
  }
})
