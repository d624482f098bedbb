import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { agent, openStore, run, tool } from 'loopchart'
import { z } from 'zod'

import { recordedModel } from './recorded-model.ts'

const [, , path = join(mkdtempSync(join(tmpdir(), 'loopchart-')), 'runs.db')] = process.argv
const isChild = process.argv.length > 2

const add = tool({
  name: 'add',
  description: 'Add two numbers and return the sum.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => {
    if (isChild) process.kill(process.pid, 'SIGKILL') // the power fails while the call runs
    return a + b
  },
})
const streams = isChild ? ['text-then-call', 'text'] : ['text'] // what is left to say
const assistant = agent({ model: recordedModel(...streams), tools: [add] })

if (isChild) await run(assistant, 'what is 2+3?', { store: path, runId: 'sum-1' }).result

const child = spawnSync(process.execPath, [...process.execArgv, import.meta.filename, path])
console.log('the first process ended by', child.signal)

const store = openStore(path)
for (const { runId, status, state } of store.list()) console.log(runId, status, state)

const live = run(assistant, { resume: 'sum-1' }, { store })
for await (const frame of live) {
  if (frame.type !== 'state_entered' || !live.state.endsWith('reconciling')) continue
  console.log('waits for:', live.explain().waitsFor)
  console.log('reconcile:', (await live.reconcile('call_1', 'rerun')).answer) // adding twice does no harm
}
const { state, text, calls } = await live.result
console.log(state, JSON.stringify(text), calls)
store.close()
