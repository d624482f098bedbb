// Another process with a store, for tests of owners and readers. Takes requests one at a time.
import { systemClock } from '../../src/clock.ts'
import { LoopchartError } from '../../src/errors.ts'
import { FrameStamp } from '../../src/frames/frame-stamp.ts'
import { openStore } from '../../src/journal/open-store.ts'
import type { RunJournal } from '../../src/journal/run-store.ts'
import { RunLockedError } from '../../src/journal/store-error.ts'
import { deltaFrame, startFrame } from './sample-frames.ts'
import type { ChildAnswer, ChildRequest } from './store-kit.ts'

const store = openStore(process.argv[2] ?? '')
const journals = new Map<string, RunJournal>()

process.on('message', (message) => {
  void answer(message as ChildRequest).then(
    (value) => reply({ ok: true, code: null, owner: null, value }),
    (error: unknown) =>
      reply({
        ok: false,
        code: error instanceof LoopchartError ? error.code : String(error),
        owner: error instanceof RunLockedError ? error.owner : null,
        value: 0,
      }),
  )
})

function reply(answer: ChildAnswer): void {
  process.send?.(answer)
}

async function answer(request: ChildRequest): Promise<number> {
  const { runId } = request
  switch (request.ask) {
    case 'create': {
      const journal = store.create(runId, systemClock)
      journals.set(runId, journal)
      await journal.commit([startFrame(new FrameStamp(runId, Date.now))])
      return 1
    }
    case 'take': {
      const { journal, frames } = store.take(runId, systemClock)
      journals.set(runId, journal)
      return frames.length
    }
    case 'append':
      return append(runId, request.frames)
    case 'read': {
      let frames = 0
      // The store's own checks find a frame that is not whole, not in order, or not there.
      while (frames < request.until) frames = [...store.read(runId)].length
      return frames
    }
    case 'close':
      await journals.get(runId)?.close()
      return 0
  }
}

/** Some as observations, some as steps. */
async function append(runId: string, count: number): Promise<number> {
  const journal = journals.get(runId)
  const last = journal?.log.frames.at(-1)
  if (journal === undefined || last === undefined) throw new Error('not its owner')
  const stamp = new FrameStamp(runId, Date.now, last)
  for (let made = 0; made < count; made += 1) {
    const frame = deltaFrame(stamp, `word ${made}`)
    if (made % 10 === 9) await journal.commit([frame])
    else journal.observe(frame)
  }
  await journal.commit([])
  return journal.log.frames.length
}
