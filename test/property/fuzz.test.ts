import { expect, test } from 'vitest'

import { fuzzStream } from './fuzz-stream.ts'

test('2,000 mutated streams break no promise', () => {
  for (let seed = 0; seed < 2000; seed += 1) {
    expect(() => fuzzStream(seed), `seed ${seed}`).not.toThrow()
  }
})
