import type { Frame } from '../frames/generated/frame.ts'
import type { StartedRun } from '../loop/run.ts'

/**
 * Lets go of a run as soon as no call of it is at work, or when `until` resolves: a call that comes to its end now is one
 * that nobody has to be asked about later. Resolves when the run is let go of.
 */
export async function letGo(run: StartedRun, until: Promise<void>): Promise<void> {
  if (isCalling(run)) {
    const frames = run.frames(run.log.length)[Symbol.asyncIterator]()
    // A log that cannot be read has nothing to wait for.
    await Promise.race([until, untilIdle(run, frames).catch(() => undefined)])
    await frames.return?.()
  }
  await run.suspend()
}

async function untilIdle(run: StartedRun, frames: AsyncIterator<Frame>): Promise<void> {
  for (let next = await frames.next(); next.done !== true; next = await frames.next()) {
    if (!isCalling(run)) return
  }
}

// A call that is a run of its own is let go of with it, and goes on with it.
function isCalling({ state, children }: StartedRun): boolean {
  return state.endsWith('.executing.running') && children.size === 0
}
