import { statSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test, vi } from 'vitest'

import { agent, type AgentOptions } from '../../src/agent.ts'
import { formatFrame } from '../../src/frames/format-frame.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { openStore } from '../../src/journal/open-store.ts'
import type { RunStore } from '../../src/journal/run-store.ts'
import type { Model } from '../../src/loop/model.ts'
import { restoreRun } from '../../src/loop/restore-run.ts'
import { run } from '../../src/loop/run.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { toolResult } from '../../src/tools/tool-result.ts'
import { ManualClock } from '../manual-clock.ts'
import {
  ADD,
  callsAnswer,
  scriptedModel,
  textAnswer,
  untilFrame,
  watchedTool,
  type ScriptedAnswer,
} from '../scripted-model.ts'
import { collect, openedStore, tempFolder, tempStore } from './store-kit.ts'

// Real processes and files, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 })

const LONG = 'a long answer '.repeat(6000)

/** A run over a script, kept in a store or in memory. */
async function framesOfRun(
  store: RunStore | null,
  answers: readonly ScriptedAnswer[],
  options: Partial<AgentOptions> = {},
  modelOptions: Partial<Model> = {},
): Promise<readonly Frame[]> {
  const { tool: add } = watchedTool('add', () => 5)
  const { tool: recite } = watchedTool('recite', () => LONG)
  const model = scriptedModel(answers, modelOptions)
  const clock = new ManualClock()
  const made = agent({ model, tools: [add, recite], clock, random: () => 0.5, ...options })
  const live = run(made, 'go', { runId: 'run_1', ...(store === null ? {} : { store }) })
  const frames = await collect(live)
  await live.result
  return frames
}

const SCRIPTS: Readonly<Record<string, readonly ScriptedAnswer[]>> = {
  'an answer at once': [textAnswer(1, 'done')],
  'two calls and an answer': [callsAnswer(1, [ADD, ['recite', '{}']]), textAnswer(2, LONG)],
  'an unknown tool': [callsAnswer(1, [['nope', '{}']]), textAnswer(2, 'sorry')],
  'a stream that breaks off': [textAnswer(1, LONG).slice(0, 5000), textAnswer(2, 'again')],
  'five turns': [...[1, 2, 3, 4].map((turn) => callsAnswer(turn, [ADD])), textAnswer(5, 'five')],
}

test.for(Object.entries(SCRIPTS))(
  '%s gives the same frames from a store as from memory',
  async ([, answers]) => {
    const options = { retry: { times: 0 } } as Partial<AgentOptions>
    for (const continuity of ['stateless', 'previous_response_id'] as const) {
      const store = tempStore()
      const inMemory = await framesOfRun(null, answers, { ...options, continuity })
      const shown = await framesOfRun(store, answers, { ...options, continuity })
      expect(shown).toEqual(inMemory)
      expect(Array.from(openedStore(store.path).exportRun('run_1'))).toEqual(inMemory.map(formatFrame))
    }
  },
)

test.for([
  ['of a type of their own', { type: 'acme:ping.delta', note: 'x' }],
  ['of a known type, without a text', { type: 'response.output_text.delta', item_id: 'a', delta: null }],
] as const)('events %s in which nothing differs are as many in the log as came', async ([, data]) => {
  const answer = textAnswer(1, 'done')
  const end = answer.indexOf('event: response.completed')
  const event = `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
  const store = tempStore()
  const shown = await framesOfRun(store, [answer.slice(0, end) + event.repeat(5) + answer.slice(end)])
  expect([...openedStore(store.path).read('run_1')]).toEqual(shown)
})

test('a log has what a run was given, whatever becomes of the objects that it was given', async () => {
  const store = tempStore()
  const made = agent({ model: scriptedModel([textAnswer(1, 'done')]), clock: new ManualClock() })
  const part: { text: string; whole?: unknown } & JsonObject = { type: 'input_text', text: 'first' }
  const message = { type: 'message', role: 'user', content: [part] }
  const live = run(made, [message], { runId: 'run_1', store })
  part.text = 'second'
  part.whole = message
  expect(await live.result).toMatchObject({ state: 'done' })
  const [started] = openedStore(store.path).read('run_1')
  expect(started).toMatchObject({ input: [{ content: [{ type: 'input_text', text: 'first' }] }] })
})

test('a log has the error that a tool told, whatever becomes of its object', async () => {
  const store = tempStore()
  const error = { code: 'tool_failed' as const, message: 'first' }
  const { tool: add } = watchedTool('add', () => {
    const result = toolResult({ exitCode: 1, error })
    error.message = 'second'
    return result
  })
  const model = scriptedModel([callsAnswer(1, [ADD]), textAnswer(2, 'done')])
  await run(agent({ model, tools: [add], clock: new ManualClock() }), 'go', { runId: 'run_1', store }).result
  const failed = [...openedStore(store.path).read('run_1')].find(({ type }) => type === 'tool_failed')
  expect(failed).toMatchObject({ error: { message: 'first' } })
})

test('a log that is cut at any commit restores to where the run was at that commit', async () => {
  const ends: number[] = []
  const store = tempStore()
  const watched: RunStore = {
    create: (runId, clock) => {
      const journal = store.create(runId, clock)
      const commit = journal.commit.bind(journal)
      journal.commit = async (frames) => {
        await commit(frames)
        ends.push((frames.at(-1)?.seq ?? 0) + 1)
      }
      return journal
    },
    take: (runId, clock) => store.take(runId, clock),
    read: (runId) => store.read(runId),
    cursor: (runId, from) => store.cursor(runId, from),
    list: () => store.list(),
    find: (runId) => store.find(runId),
    close: () => store.close(),
  }
  const answers = SCRIPTS['two calls and an answer'] ?? []
  const frames = await framesOfRun(watched, answers, { continuity: 'stateless' })
  expect(ends.length).toBeGreaterThan(4)
  for (const end of ends) {
    const cut = tempStore()
    const lines = frames.slice(0, end).map(formatFrame)
    expect(cut.importRun(lines)).toEqual({ runId: 'run_1', frames: end, bytesDropped: 0 })
    const taken = cut.take('run_1', new ManualClock())
    const { snapshot, last } = restoreRun(taken.frames)
    const entered = frames.slice(0, end).findLast((frame) => frame.type === 'state_entered')
    expect(snapshot.state).toBe(entered?.state)
    expect(last.seq).toBe(end - 1)
    await taken.journal.close()
  }
})

test.for(['stateless', 'previous_response_id'] as const)(
  'the file of a %s run grows with what is said, not with its square',
  async (continuity) => {
    const sizeAfter = async (turns: number): Promise<number> => {
      const path = join(tempFolder(), 'runs.db')
      const store = openStore(path)
      const { tool } = watchedTool('note', () => 'noted '.repeat(100))
      const answers = Array.from({ length: turns - 1 }, (_, turn) =>
        callsAnswer(turn, [['note', `{"turn":${turn}}`]]),
      )
      const model = scriptedModel([...answers, textAnswer(turns, 'done')])
      const limits = { turns: 500, toolCalls: 500 }
      const made = agent({ model, tools: [tool], clock: new ManualClock(), continuity, limits })
      const { state } = await run(made, 'go', { runId: 'run_1', store }).result
      expect(state).toBe('done')
      store.close()
      return statSync(path).size
    }
    const [few, many] = [await sizeAfter(25), await sizeAfter(100)]
    expect(many / few).toBeLessThan(4.4)
  },
)

test('a run whose store is closed while it waits says so instead of waiting for ever', async () => {
  const store = tempStore()
  const slow = watchedTool('slow', () => new Promise(() => undefined))
  const model = scriptedModel([callsAnswer(1, [['slow', '{}']])])
  const live = run(agent({ model, tools: [slow.tool] }), 'go', { store, runId: 'run_1' })
  await untilFrame(live, ({ type }) => type === 'tool_started')
  const frames = collect(live)
  store.close()
  await expect(live.result).rejects.toMatchObject({
    code: 'store_unusable',
    message: expect.stringContaining('the store was closed under a run'),
  })
  expect((await frames).at(-1)?.type).toBe('tool_started')
})
