import { agent } from '../src/agent.ts'
import type { Agent } from '../src/loop/agent.ts'
import type { Model } from '../src/loop/model.ts'
import { run } from '../src/loop/run.ts'
import { tool } from '../src/tools/tool.ts'
import { sseText, StreamBuilder } from '../scripts/fixtures/stream-builder.ts'
import { benchModel } from './bench-model.ts'
import type { Figure } from './decode.ts'
import { readFloor } from './floor.ts'
import { median } from './measure.ts'
import { cutEvery, deltaStream } from './streams.ts'

const TURNS = 20
const ARGUMENT_DELTAS = 50
// Also for a quick run: what is not compiled yet costs twice as much, a collection falls on some rounds and not on others,
// and a budget is for what is left of that.
const LOOP_WARM_UPS = 400
const GROWTH_ROUNDS = 40

const note = tool({
  name: 'note',
  description: 'Note a text and return its length.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  execute: (args) => JSON.stringify(args).length,
})

/** A tool loop of so many turns, each call with arguments in 50 deltas; then one word. */
function loopStreams(turns: number): readonly (readonly Uint8Array[])[] {
  const streams = Array.from({ length: turns - 1 }, (_, turn) => {
    const words = Array.from({ length: ARGUMENT_DELTAS - 2 }, (__, at) => ` word${turn}_${at}`)
    const pieces = ['{"text":"', ...words, '"}']
    const stream = new StreamBuilder(`resp_${turn}`).start()
    const at = { item_id: `fc_${turn}`, output_index: 0 }
    const item = { type: 'function_call', id: `fc_${turn}`, call_id: `call_${turn}`, name: 'note' }
    stream.addItem(0, { ...item, arguments: '', status: 'in_progress' })
    for (const delta of pieces) stream.event('response.function_call_arguments.delta', { ...at, delta })
    stream.event('response.function_call_arguments.done', { ...at, arguments: pieces.join('') })
    return sseText(
      stream.doneItem(0, { ...item, arguments: pieces.join(''), status: 'completed' }).end().events,
    )
  })
  streams.push(sseText(new StreamBuilder('resp_last').start().message(0, ['done']).end().events))
  return streams.map((text) => cutEvery(Buffer.from(text), 16 * 1024))
}

/** Answers with one stream after the other, and from the first again: for one run at a time. */
function modelOf(streams: readonly (readonly Uint8Array[])[]): Model {
  let turn = -1
  return benchModel(() => {
    turn += 1
    return streams[turn % streams.length] ?? []
  })
}

function agentOf(streams: readonly (readonly Uint8Array[])[]): Agent {
  return agent({ model: modelOf(streams), tools: [note], limits: { turns: 1000, toolCalls: 1000 } })
}

async function runLoop(agent: Agent, turnsExpected: number, isRead = false): Promise<void> {
  const live = run(agent, 'go')
  let frames = 0
  if (isRead) for await (const frame of live) if (frame.seq >= 0) frames += 1
  const { state, turns } = await live.result
  if (state !== 'done' || turns !== turnsExpected)
    throw new Error(`the loop ended ${state} after ${turns} turns`)
  if (isRead && frames === 0) throw new Error('a reader saw nothing')
}

function runFloor(streams: readonly (readonly Uint8Array[])[]): void {
  for (const chunks of streams) readFloor(chunks, () => undefined)
}

/** CPU microseconds of alternating runs, after rounds enough for all of the loop's code to be compiled. */
async function measure(
  rounds: number,
  runs: Readonly<Record<string, () => Promise<unknown> | void>>,
  warmUp = rounds,
): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = Object.fromEntries(Object.keys(runs).map((name) => [name, []]))
  for (let round = -warmUp; round < rounds; round += 1) {
    for (const [name, work] of Object.entries(runs)) {
      const before = process.cpuUsage()
      await work()
      const { user, system } = process.cpuUsage(before)
      if (round >= 0) times[name]?.push(user + system)
    }
  }
  return times
}

function ratio(times: Record<string, number[]>, name: string, base: string): number {
  const [above = [], below = []] = [times[name], times[base]]
  return median(above.map((time, at) => time / (below[at] ?? Number.NaN)))
}

/** What a whole run costs beside the least that reading its bytes costs. */
export async function loopFigures(rounds: number): Promise<readonly Figure[]> {
  const streams = loopStreams(TURNS)
  const answer = [cutEvery(deltaStream(20_000), 16 * 1024)]
  const [looping, answering] = [agentOf(streams), agentOf(answer)]
  const loop = await measure(
    rounds,
    { floor: () => runFloor(streams), run: () => runLoop(looping, TURNS) },
    LOOP_WARM_UPS,
  )
  const long = await measure(rounds, {
    floor: () => runFloor(answer),
    run: () => runLoop(answering, 1),
    read: () => runLoop(answering, 1, true),
  })
  const [forty, many] = [agentOf(loopStreams(40)), agentOf(loopStreams(160))]
  const growth = await measure(GROWTH_ROUNDS, {
    forty: () => runLoop(forty, 40),
    many: () => runLoop(many, 160),
  })
  const perLoop = median(loop['run'] ?? [])
  return [
    figure(
      'run_us_per_event',
      ratio(long, 'run', 'floor'),
      'x floor',
      1.6,
      '20,000 deltas through run(), log kept',
    ),
    figure(
      'run_us_per_event',
      ratio(long, 'read', 'floor'),
      'x floor',
      Infinity,
      'the same, one reader of every frame',
    ),
    figure(
      'loop_20_turns',
      ratio(loop, 'run', 'floor'),
      'x floor',
      4,
      `${(perLoop / TURNS).toFixed(0)} us a turn, floor ${(median(loop['floor'] ?? []) / TURNS).toFixed(0)} us`,
    ),
    figure('growth_160_to_40_turns', ratio(growth, 'many', 'forty'), 'x', 4.4, 'CPU of 160 turns to 40'),
    await noopFigure(),
    await endToEndFigure(),
  ]
}

/** RIP's id and budget: one call of a tool that does nothing, median of 300. */
async function noopFigure(): Promise<Figure> {
  const noop = tool({
    name: 'noop',
    description: 'Do nothing and return nothing.',
    inputSchema: { type: 'object', properties: {} },
    execute: () => undefined,
  })
  const { tools } = agent({ model: modelOf([]), tools: [noop] })
  const call = { callId: 'call_1', name: 'noop', arguments: '{}' }
  const facts = await tools.appraise(call, false)
  const times: number[] = []
  for (let round = 0; round < 600; round += 1) {
    const from = process.hrtime.bigint()
    await tools.run(
      { ...call, facts },
      {
        key: 'k',
        timeoutMs: 1000,
        signal: new AbortController().signal,
        onOutput: () => undefined,
        onLate: () => undefined,
      },
    )
    times.push(Number(process.hrtime.bigint() - from) / 1000)
  }
  return figure('tool_runner_noop_us', median(times.slice(300)), 'us', 100, 'median of 300')
}

/** RIP's id and budget: a call, its tool, the follow-up, the answer; median of 80. */
async function endToEndFigure(): Promise<Figure> {
  const twice = agentOf(loopStreams(2))
  const times: number[] = []
  for (let round = 0; round < 160; round += 1) {
    const from = process.hrtime.bigint()
    await runLoop(twice, 2)
    times.push(Number(process.hrtime.bigint() - from) / 1000)
  }
  return figure(
    'e2e_loop_us',
    median(times.slice(80)),
    'us',
    10_000,
    'median of 80: call, tool, follow-up, answer',
  )
}

function figure(id: string, value: number, unit: string, budget: number, about: string): Figure {
  return { id, value, unit, budget, about }
}

/** 500 runs of 5 turns at once, for a process of its own. */
export async function runMany(runs: number): Promise<void> {
  const streams = loopStreams(5)
  const results = await Promise.all(Array.from({ length: runs }, () => run(agentOf(streams), 'go').result))
  if (results.some(({ state }) => state !== 'done')) throw new Error('not every run was done')
}
