// What runs that are over leave behind for the next collection of everything: what the small collections in between cannot
// take. A run waits for its model, and grows old to V8 while it does; what old things still refer to is kept. Prints JSON.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { agent } from '../src/agent.ts'
import { openStore } from '../src/journal/open-store.ts'
import { run, type StartOptions } from '../src/loop/run.ts'
import { tool } from '../src/tools/tool.ts'
import { benchModel } from './bench-model.ts'
import { loopAnswers } from './compare/answers.ts'
import { note, NOTE_DESCRIPTION, NOTE_PARAMETERS } from './compare/note.ts'

const TURNS = 5
const WARM_UPS = 200
const RUNS = 100
const MINOR = { type: 'minor' } as const

const collect = globalThis.gc
if (collect === undefined) throw new Error('start it with --expose-gc')
const answers = loopAnswers(TURNS).map((chunks) => [Buffer.concat(chunks)])
let turn = 0
let isWaiting = false
const model = benchModel(() => answers[turn++ % TURNS] ?? [])
const noteTool = tool({
  name: 'note',
  description: NOTE_DESCRIPTION,
  inputSchema: NOTE_PARAMETERS,
  execute: ({ text }) => note(typeof text === 'string' ? text : ''),
})
const waiting = agent({
  model: {
    ...model,
    send: async (request) => {
      await new Promise((resolve) => setImmediate(resolve))
      // Twice: what lives through two of them is old.
      if (isWaiting) for (let times = 0; times < 2; times += 1) collect(MINOR)
      return model.send(request)
    },
  },
  tools: [noteTool],
})

for (let done = 0; done < WARM_UPS; done += 1) await once()
const busy = await leftBehind()
isWaiting = true
const waited = await leftBehind()
isWaiting = false
const folder = mkdtempSync(join(tmpdir(), 'loopchart-bench-'))
const store = openStore(join(folder, 'runs.db'))
for (let done = 0; done < WARM_UPS; done += 1) await once({ store })
const stored = await leftBehind({ store })
store.close()
rmSync(folder, { recursive: true, force: true })
process.stdout.write(`${JSON.stringify({ busy, waiting: waited, stored })}\n`)

async function leftBehind(options: StartOptions = {}): Promise<number> {
  collect?.()
  const before = process.memoryUsage().heapUsed
  for (let done = 0; done < RUNS; done += 1) await once(options)
  for (let times = 0; times < 3; times += 1) collect?.(MINOR)
  return (process.memoryUsage().heapUsed - before) / RUNS
}

async function once(options: StartOptions = {}): Promise<void> {
  const live = run(waiting, 'go', options)
  let frames = 0
  for await (const batch of live.batches()) frames += batch.length
  const { state } = await live.result
  if (state !== 'done' || frames < 50 * TURNS) throw new Error(`the run ended ${state} with ${frames} frames`)
}
