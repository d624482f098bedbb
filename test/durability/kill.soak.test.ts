import { expect, test } from 'vitest'

import { checkRun, framesIn, life, place } from './kill-kit.ts'

const SEEDS = 20
const LIVES_MAX = 40
// A life takes about this long; most kills fall into it.
const LIFE_MS = 900

test.for(Array.from({ length: SEEDS }, (_, at) => at + 1))(
  'fault K01: killed at random times, seed %i, a run comes to its end with nothing lost and nothing done twice',
  async (seed) => {
    const random = randomOf(seed)
    const where = place()
    let shown = framesIn(where)
    for (let lives = 0; lives < LIVES_MAX; lives += 1) {
      const end = await life(
        where,
        lives === LIVES_MAX - 1 ? {} : { afterMs: Math.floor(random() * LIFE_MS) },
      )
      const frames = framesIn(where)
      expect(frames.slice(0, shown.length)).toEqual(shown)
      shown = frames
      if (end !== null) break
    }
    checkRun(where, `seed ${seed}`)
  },
)

/** Numbers from 0 up to 1, the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
