import { expect, test } from 'vitest'

import { RANDOM_CASES } from './random-agent.ts'
import { talkBySeeds } from './random-seed.ts'

const SEEDS = Array.from({ length: 10 }, (_, at) => 100 + at)

test.each(RANDOM_CASES)(
  'No request of ten conversations of 200 random turns is refused, and nothing is lost ($continuity, $strategy).',
  async (of) => {
    const { broken } = await talkBySeeds(of, SEEDS)
    expect(broken, 'set SEED to the number of one to see it again').toEqual([])
  },
)
