import type { DrainOutput } from '../../machines/loop.types.ts'
import type { Clock } from '../clock.ts'
import type { RunToolValue } from './run-tool.ts'

const DRAIN_MAX_MS = 2000

/** Hears what calls that were told to stop still answer; after two seconds it listens no more. */
export async function drain(
  clock: Clock,
  calls: ReadonlyMap<number, Promise<RunToolValue>>,
  slots: readonly number[],
): Promise<DrainOutput> {
  const answers: DrainOutput[number][] = []
  const heard = slots.map(async (slot) => {
    const value = await calls.get(slot)
    if (value === undefined) return
    const { outcome, output, detail, usage } = value
    answers.push({ slot, answer: { outcome, output, detail }, usage })
  })
  const late = Promise.withResolvers<undefined>()
  const disarm = clock.setTimer(clock.now() + DRAIN_MAX_MS, () => late.resolve(undefined))
  await Promise.race([Promise.allSettled(heard), late.promise])
  disarm()
  return [...answers]
}
