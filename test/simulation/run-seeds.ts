import type { Frame } from '../../src/frames/generated/frame.ts'
import { replay } from '../../src/replay-run.ts'
import { checkRun } from './check-run.ts'
import { simulate, type SimulatedRun } from './simulate.ts'

export interface SeedsResult {
  readonly seeds: number
  readonly frames: number
  /** One line for each thing that is wrong, with the seed to see it again. */
  readonly broken: readonly string[]
}

/** Simulates a run for each seed, holds it against the invariants and replays it. SEED in the environment: that one. */
export async function runSeeds(from: number, count: number): Promise<SeedsResult> {
  const only = process.env['SEED']
  const seeds =
    only === undefined ? Array.from({ length: count }, (_, at) => from + at) : [Number.parseInt(only, 10)]
  const broken: string[] = []
  let frames = 0
  for (const seed of seeds) {
    const found = await faultsOf(seed, (run) => {
      frames += run.frames.length
    })
    broken.push(...found.map((fault) => `SEED=${seed}: ${fault}`))
  }
  return { seeds: seeds.length, frames, broken }
}

async function faultsOf(seed: number, onRun: (run: SimulatedRun) => void): Promise<readonly string[]> {
  try {
    const run = await simulate(seed)
    onRun(run)
    const result = replay(stored(run.frames))
    return [
      ...checkRun(run),
      ...(result.ok ? [] : [`it replays differently: ${JSON.stringify(result.divergence)}`]),
    ]
  } catch (error) {
    return [error instanceof Error ? (error.stack ?? error.message) : String(error)]
  }
}

/** Frames as they come back from a file. */
export function stored(frames: readonly Frame[]): Frame[] {
  return JSON.parse(JSON.stringify(frames)) as Frame[]
}
