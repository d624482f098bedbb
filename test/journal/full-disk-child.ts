// Fills a small disk with the log of a run, makes room again, and goes on. Prints JSON.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { systemClock } from '../../src/clock.ts'
import { LoopchartError } from '../../src/errors.ts'
import { FrameStamp } from '../../src/frames/frame-stamp.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { openStore } from '../../src/journal/open-store.ts'
import { deltaFrame, startFrame } from './sample-frames.ts'

const STEPS_MAX = 2000

const folder = process.argv[2] ?? ''
const ballast = join(folder, 'ballast')
writeFileSync(ballast, Buffer.alloc(512 * 1024))

const store = openStore(join(folder, 'runs.db'))
const journal = store.create('run_1', systemClock)
const stamp = new FrameStamp('run_1', Date.now)
const stop = await fill()
const published: readonly Frame[] = [...journal.log.frames]
const after = await codeOf(() => journal.commit([deltaFrame(stamp, 'after')]))
const next = await codeOf(() => journal.next())
await journal.close()
const whileFull = [...store.read('run_1')].length

rmSync(ballast)
const { frames, journal: again } = store.take('run_1', systemClock)
const isWhole = JSON.stringify(frames.slice(0, published.length)) === JSON.stringify(published)
const last = frames.at(-1)
if (last === undefined) throw new Error('the log is empty')
await again.commit([deltaFrame(new FrameStamp('run_1', Date.now, last), 'goes on')])
await again.close()
store.close()
console.log(
  JSON.stringify({
    stop,
    after,
    next,
    isWhole,
    published: published.length,
    whileFull,
    resumed: again.log.frames.length - frames.length,
  }),
)

async function fill(): Promise<string | null> {
  return codeOf(async () => {
    await journal.commit([startFrame(stamp)])
    for (let step = 0; step < STEPS_MAX; step += 1) {
      journal.observe(deltaFrame(stamp, `observed ${step} `.repeat(100)))
      await journal.commit([deltaFrame(stamp, `committed ${step} `.repeat(100))])
    }
  })
}

async function codeOf(work: () => Promise<unknown>): Promise<string | null> {
  try {
    await work()
    return null
  } catch (error) {
    return error instanceof LoopchartError ? error.code : String(error)
  }
}
