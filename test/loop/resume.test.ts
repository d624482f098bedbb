import { expect, test } from 'vitest'

import { agent, type AgentOptions } from '../../src/agent.ts'
import type { Clock } from '../../src/clock.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { MemoryJournal } from '../../src/journal/memory-journal.ts'
import type { RunJournal, RunStore, TakenRun } from '../../src/journal/run-store.ts'
import type { Agent } from '../../src/loop/agent.ts'
import { run, type Run, type RunResult } from '../../src/loop/run.ts'
import { isJsonObject } from '../../src/protocol/json.ts'
import { ManualClock } from '../manual-clock.ts'
import {
  callsAnswer,
  everythingElse,
  framesOf,
  scriptedModel,
  textAnswer,
  watchedTool,
  type ScriptedAnswer,
  type ScriptedModel,
} from '../scripted-model.ts'

/** A store whose process can die: what it holds are the frames of whole steps, and of what was seen in between. */
class MortalStore implements RunStore {
  readonly frames: Frame[] = []
  /** How many frames there were after each step. */
  readonly steps: number[] = []

  constructor(frames: readonly Frame[] = []) {
    this.frames.push(...frames)
  }

  create(_: string, clock: Clock): RunJournal {
    return this.#watch(new MemoryJournal(clock))
  }

  take(_: string, clock: Clock): TakenRun {
    const journal = new MemoryJournal(clock)
    journal.log.append(this.frames)
    return { journal: this.#watch(journal), frames: [...this.frames] }
  }

  #watch(journal: MemoryJournal): RunJournal {
    const commit = journal.commit.bind(journal)
    const observe = journal.observe.bind(journal)
    journal.commit = async (frames) => {
      this.frames.push(...frames)
      this.steps.push(this.frames.length)
      await commit(frames)
    }
    journal.observe = (frame) => {
      this.frames.push(frame)
      observe(frame)
    }
    journal.observeBlock = (block, added) => {
      for (let at = block.length - added; at < block.length; at += 1) journal.observe(block.at(at))
    }
    return journal
  }

  read(): Iterable<Frame> {
    return this.frames
  }

  cursor(): never {
    throw new Error('nobody reads from this store')
  }

  list(): readonly never[] {
    return []
  }

  find(): null {
    return null
  }

  close(): void {
    // Nothing is open.
  }
}

/** Answers by what the conversation has come to, as a real model would. */
function answerTo(model: () => ScriptedModel): ScriptedAnswer {
  return async (request) => {
    const input = model().requests.at(-1)?.['input']
    const items = Array.isArray(input) ? input.filter(isJsonObject) : []
    const answered = items.filter(({ type }) => type === 'function_call_output').length
    const turn = answered === 0 ? 1 : answered === 1 ? 2 : 3
    const text =
      turn === 1
        ? callsAnswer(1, [['look', '{}']])
        : turn === 2
          ? callsAnswer(2, [['pay', '{}']])
          : textAnswer(3, 'done')
    await Promise.resolve()
    request.onHead({ status: 200, requestId: null, contentType: 'text/event-stream' })
    request.onChunk(Buffer.from(text))
    return null
  }
}

interface World {
  readonly agent: Agent
  readonly clock: ManualClock
  readonly paid: readonly unknown[]
  readonly looked: readonly unknown[]
}

function world(options: Partial<AgentOptions> = {}): World {
  const clock = new ManualClock()
  const model: ScriptedModel = scriptedModel(Array.from({ length: 9 }, () => answerTo(() => model)))
  const look = watchedTool('look', () => 'seen', { readOnly: true })
  const pay = watchedTool('pay', () => 'paid')
  const made = agent({
    model,
    tools: [look.tool, pay.tool],
    clock,
    continuity: 'stateless',
    ...options,
  })
  return { agent: made, clock, paid: pay.ran, looked: look.ran }
}

test('a run that died after any of its steps goes on to the same end, and no finished call runs again', async () => {
  const whole = new MortalStore()
  const first = world()
  const end = await run(first.agent, 'go', { store: whole, runId: 'run_1' }).result
  expect(end).toMatchObject({ state: 'done', text: 'done', turns: 3 })
  expect(whole.steps.length).toBeGreaterThan(5)
  for (const length of whole.steps.slice(0, -1)) {
    const kept = whole.frames.slice(0, length)
    const wasPaid = framesOf(kept, 'tool_ended').some(({ call_id: id }) => id === 'call_2_0')
    const isInDoubt = !wasPaid && framesOf(kept, 'tool_started').some(({ name }) => name === 'pay')
    const store = new MortalStore(kept)
    const again = world()
    const live = run(again.agent, { resume: 'run_1' }, { store })
    const asked = isInDoubt ? await sayItWasPaid(live) : null
    const { result, frames } = await settle(live)
    expect(asked).toEqual(
      isInDoubt
        ? { waitsFor: ['somebody to say what became of call call_2_0 of pay'], answer: 'accepted' }
        : null,
    )
    expect(result, `after ${length} frames`).toMatchObject({
      state: 'done',
      text: 'done',
      turns: 3,
      calls: [
        { name: 'look', outcome: 'ok' },
        { name: 'pay', outcome: 'ok' },
      ],
    })
    expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, at) => at))
    expect(frames.slice(0, length)).toEqual(kept)
    expect(again.paid.length, `after ${length} frames`).toBe(wasPaid || isInDoubt ? 0 : 1)
    expect(framesOf(frames, 'run_resumed')).toMatchObject([{ epoch: 1 }])
  }
})

/** Waits until the run asks what became of the payment, and says that it was made. */
async function sayItWasPaid(live: Run): Promise<{ waitsFor: readonly string[]; answer: string }> {
  for (let turn = 0; turn < 50 && !live.state.endsWith('reconciling'); turn += 1) await everythingElse()
  const { waitsFor } = live.explain()
  const { answer } = await live.reconcile('call_2_0', 'done', 'paid')
  return { waitsFor, answer }
}

/** Follows a run to its end. */
async function settle(live: Run): Promise<{ readonly result: RunResult; readonly frames: readonly Frame[] }> {
  const frames: Frame[] = []
  for await (const frame of live) frames.push(frame)
  return { result: await live.result, frames }
}

test('frames of a response that was cut off are marked as superseded, and it is asked for again', async () => {
  const whole = new MortalStore()
  await run(world().agent, 'go', { store: whole, runId: 'run_1' }).result
  const cut = whole.frames.findIndex(({ type }) => type === 'provider_event') + 3
  const store = new MortalStore(whole.frames.slice(0, cut))
  const live = run(world().agent, { resume: 'run_1' }, { store })
  await live.result
  expect(framesOf(store.frames, 'run_resumed')).toMatchObject([{ superseded: { turn: 1, attempt: 0 } }])
  expect(framesOf(store.frames, 'request_sent').slice(0, 2)).toMatchObject([{ attempt: 0 }, { attempt: 1 }])
})

test('limits count across resumes', async () => {
  const whole = new MortalStore()
  const options = { limits: { turns: 2 } } as const
  await run(world(options).agent, 'go', { store: whole, runId: 'run_1' }).result
  const kept = whole.frames.slice(0, whole.steps[2])
  const store = new MortalStore(kept)
  const { result } = await settle(run(world(options).agent, { resume: 'run_1' }, { store }))
  expect(result).toMatchObject({ state: 'limitExceeded', reason: 'turns', turns: 2 })
})

test('a run that was suspended goes on when it is time', async () => {
  const busy = {
    code: 'provider_rate_limited',
    message: 'later',
    provider: null,
    isRetryable: true,
    retryAt: new ManualClock().now() + 3_600_000,
  }
  const store = new MortalStore()
  const before = agent({ model: scriptedModel([busy]), clock: new ManualClock() })
  const { status } = await run(before, 'go', { store, runId: 'run_1' }).result
  expect(status).toBe('suspended')
  const early = agent({ model: scriptedModel([]), clock: new ManualClock() })
  expect((await run(early, { resume: 'run_1' }, { store }).result).status).toBe('suspended')
  const clock = new ManualClock()
  clock.advance(3_600_000 - 10)
  const model = scriptedModel([textAnswer(1, 'now')])
  const live = run(agent({ model, clock }), { resume: 'run_1' }, { store })
  await everythingElse()
  expect(live.state).toBe('working.backingOff')
  expect(model.requests).toHaveLength(0)
  clock.advance(10)
  expect(await live.result).toMatchObject({ status: 'ended', state: 'done', text: 'now' })
})

test('a run that has ended, or whose tools are gone, is not resumed', async () => {
  const store = new MortalStore()
  await run(world().agent, 'go', { store, runId: 'run_1' }).result
  expect(() => run(world().agent, { resume: 'run_1' }, { store })).toThrow('the run has ended: done')
  const half = new MortalStore(store.frames.slice(0, store.steps[3]))
  const toolless = agent({ model: scriptedModel([]), clock: new ManualClock() })
  expect(() => run(toolless, { resume: 'run_1' }, { store: half })).toThrow(
    'it has called the tool look, which the agent does not have',
  )
  expect(() => run(world().agent, { resume: 'run_1' })).toThrow('a run is resumed from a store: give one')
})

test('a log that does not begin at the beginning, or misses a frame, is refused', async () => {
  const store = new MortalStore()
  await run(world().agent, 'go', { store, runId: 'run_1' }).result
  const cut = store.frames.slice(0, store.steps[3])
  const resume = (frames: readonly Frame[]) => () =>
    run(world().agent, { resume: 'run_1' }, { store: new MortalStore(frames) })
  expect(resume([])).toThrow('log_corrupt: the log is empty')
  expect(resume(cut.slice(1))).toThrow('frame 0 is missing')
  expect(resume([...cut.slice(0, 4), ...cut.slice(5)])).toThrow('frame 4 is missing')
  const elsewhere = cut.map((frame) =>
    frame.type === 'state_entered' && frame.state === 'working.assembling'
      ? { ...frame, state: 'working.backingOff' }
      : frame,
  )
  expect(resume(elsewhere)).toThrow('the chart has changed: frame')
})
