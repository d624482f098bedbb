import { expect, test, vi } from 'vitest'

import { RANDOM_CASES } from './random-agent.ts'
import { talkBySeeds } from './random-seed.ts'

vi.setConfig({ testTimeout: 120_000 })

// What makes such a conversation worth having: each happens several times with every seed.
const EVENTS = [
  'cancel',
  'close',
  'ended cancelled',
  'ended done',
  'ended failed',
  'restarted',
  'resumed ended',
  'steer',
  'suspend',
]

test.each(RANDOM_CASES.map((of, at) => ({ ...of, seed: at + 1 })))(
  'No request of 200 random turns is refused, and nothing is lost ($continuity, $strategy).',
  async ({ seed, ...of }) => {
    const { broken, happened } = await talkBySeeds(of, [seed])
    expect(broken, 'set SEED to the number to see it again').toEqual([])
    expect(Object.keys(happened)).toEqual(expect.arrayContaining(EVENTS))
    // Only where a run goes on from another can the provider have lost what it goes on from.
    expect((happened['lost'] ?? 0) > 0).toBe(of.continuity === 'cursor')
  },
)
