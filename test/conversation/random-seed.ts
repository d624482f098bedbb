import { join } from 'node:path'

import type { RandomCase } from './random-agent.ts'
import { checkReplays } from './random-checks.ts'
import { quickFolder } from './random-folder.ts'
import { talkAtRandom } from './random-talk.ts'

export interface SeedsResult {
  /** One line for each thing that is wrong, with the seed to see it again. */
  readonly broken: readonly string[]
  /** How often each thing happened. */
  readonly happened: Readonly<Record<string, number>>
}

const TURNS = 200
// Of the runs, one in so many is replayed.
const REPLAYED = 5

/** Has a conversation of 200 random turns for each seed. SEED in the environment: that one. */
export async function talkBySeeds(
  of: Omit<RandomCase, 'seed'>,
  seeds: readonly number[],
): Promise<SeedsResult> {
  const only = process.env['SEED']
  const broken: string[] = []
  const happened: Record<string, number> = {}
  for (const seed of only === undefined ? seeds : [Number.parseInt(only, 10)]) {
    const path = join(quickFolder(), 'runs.db')
    const talk = await talkAtRandom({ ...of, seed }, path, TURNS)
    const { rejections } = talk.provider
    const found = [...rejections, ...talk.faults, ...checkReplays(path, talk.runIds, REPLAYED)]
    broken.push(...found.map((fault) => `SEED=${seed}: ${fault}`))
    for (const [what, times] of Object.entries(talk.happened)) happened[what] = (happened[what] ?? 0) + times
  }
  return { broken, happened }
}
