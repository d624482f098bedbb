// A run in a process of its own that dies at a point which it is told: node kill-child.ts STORE EFFECTS KILL_AT
// Prints one line of JSON when it comes to its end.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'

import { agent } from '../../src/agent.ts'
import type { Clock } from '../../src/clock.ts'
import { openStore } from '../../src/journal/open-store.ts'
import type { RunJournal, RunStore } from '../../src/journal/run-store.ts'
import type { Model } from '../../src/loop/model.ts'
import { run, type Run } from '../../src/loop/run.ts'
import { isJsonObject, parseJson } from '../../src/protocol/json.ts'
import { tool } from '../../src/tools/tool.ts'
import { callsAnswer, textAnswer } from '../scripted-model.ts'

const [, , storePath = '', effectsPath = '', killAt = '0'] = process.argv
const RUN_ID = 'run_1'

let points = 0

/** A point at which the process may die. */
function point(): void {
  points += 1
  if (points === Number(killAt)) process.kill(process.pid, 'SIGKILL')
}

/** What the tools did, outside of the store. */
function did(effect: string): void {
  appendFileSync(effectsPath, `${effect}\n`)
}

function hasDone(effect: string): boolean {
  return existsSync(effectsPath) && readFileSync(effectsPath, 'utf8').split('\n').includes(effect)
}

/** Answers by what the conversation has come to: a look, two payments at once, a word. */
const model: Model = {
  name: 'scripted-1',
  endpoint: 'scripted:',
  isStreamed: true,
  canContinueById: false,
  send: async ({ body, onHead, onChunk }) => {
    point()
    const request = parseJson(body)
    const input = isJsonObject(request) ? request['input'] : []
    const items = Array.isArray(input) ? input.filter(isJsonObject) : []
    const answered = items.filter(({ type }) => type === 'function_call_output').length
    const text =
      answered === 0
        ? callsAnswer(1, [['look', '{}']])
        : answered === 1
          ? callsAnswer(2, [
              ['pay', '{"amount":1}'],
              ['pay', '{"amount":2}'],
            ])
          : textAnswer(3, 'done')
    onHead({ status: 200, requestId: null, contentType: 'text/event-stream' })
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += 400) {
      onChunk(bytes.subarray(at, at + 400))
      // One turn of the event loop, so that what was seen is written.
      await new Promise(setImmediate)
      point()
    }
    return null
  },
}

const look = tool({
  name: 'look',
  description: 'Look at the books.',
  inputSchema: { type: 'object' },
  readOnly: true,
  execute: (_, { key }) => {
    point()
    did(`look ${key}`)
    point()
    return 'seen'
  },
})

const pay = tool({
  name: 'pay',
  description: 'Pay an amount.',
  inputSchema: { type: 'object', properties: { amount: { type: 'number' } } },
  execute: (_, { key }) => {
    point()
    did(`pay ${key}`)
    point()
    return 'paid'
  },
})

/** A journal, with a point before and after each step that is written. */
function watch(journal: RunJournal): RunJournal {
  const commit = journal.commit.bind(journal)
  journal.commit = async (frames) => {
    point()
    await commit(frames)
    point()
  }
  return journal
}

/** The store, with a point before and after everything that is written. */
function pointed(store: RunStore): RunStore {
  return {
    create: (runId: string, clock: Clock) => watch(store.create(runId, clock)),
    take: (runId: string, clock: Clock) => {
      const taken = store.take(runId, clock)
      return { ...taken, journal: watch(taken.journal) }
    },
    read: (runId) => store.read(runId),
    cursor: (runId, from) => store.cursor(runId, from),
    list: () => store.list(),
    find: (runId) => store.find(runId),
    close: () => store.close(),
  }
}

/** A person who looks at what was really done. */
async function reconcile(live: Run): Promise<void> {
  for await (const frame of live) {
    if (frame.type !== 'state_entered' || !frame.state.endsWith('reconciling')) continue
    if (!live.state.endsWith('reconciling')) continue
    const [waiting = ''] = live.explain().waitsFor
    const [, callId = ''] = /call (\S+) of/u.exec(waiting) ?? []
    const slot = callId.split('_').at(-1) ?? ''
    const isDone = hasDone(`pay ${RUN_ID}/2/${slot}`)
    await (isDone ? live.reconcile(callId, 'done', 'paid') : live.reconcile(callId, 'rerun'))
  }
}

const store = pointed(openStore(storePath))
const assistant = agent({ model, tools: [look, pay] })
const isKnown = store.list().some(({ runId }) => runId === RUN_ID)
const live = isKnown
  ? run(assistant, { resume: RUN_ID }, { store })
  : run(assistant, 'go', { store, runId: RUN_ID })
const watching = reconcile(live)
const { state, text, turns, calls } = await live.result
await watching
store.close()
process.stdout.write(`${JSON.stringify({ state, text, turns, calls, points })}\n`)
