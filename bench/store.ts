import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { sseText, StreamBuilder } from '../scripts/fixtures/stream-builder.ts'
import { agent } from '../src/agent.ts'
import { systemClock } from '../src/clock.ts'
import { FrameStamp } from '../src/frames/frame-stamp.ts'
import type { Frame } from '../src/frames/generated/frame.ts'
import { makeFrame, outputTextDeltaFrame } from '../src/frames/make-frame.ts'
import { openStore, type SqliteStore } from '../src/journal/open-store.ts'
import type { Agent } from '../src/loop/agent.ts'
import { run } from '../src/loop/run.ts'
import { tool } from '../src/tools/tool.ts'
import { benchModel } from './bench-model.ts'
import type { Figure } from './decode.ts'
import { readFloor } from './floor.ts'
import { median } from './measure.ts'
import { cutEvery, deltaStream } from './streams.ts'

const ROUNDS = 30
const DELTAS = 20_000
const FRAMES = 100_000
const FRAMES_A_TURN = 500

/** What keeping a run in a file costs, in time and in space. */
export async function storeFigures(): Promise<readonly Figure[]> {
  return [
    await costFigure(),
    await appendFigure(),
    await growthFigure('stateless'),
    await growthFigure('previous_response_id'),
  ]
}

/** A long answer through run(), each frame in the file before it is shown. */
async function costFigure(): Promise<Figure> {
  const chunks = cutEvery(deltaStream(DELTAS), 16 * 1024)
  const answering = agentOf(() => chunks, 'previous_response_id')
  const ratios: number[] = []
  const spent: number[] = []
  await inStore(async (store) => {
    for (let round = -ROUNDS; round < ROUNDS; round += 1) {
      const floor = await cpuOf(() => Promise.resolve(readFloor(chunks, () => undefined)))
      const stored = await cpuOf(() => finish(answering, store, `cost_${round}`, 1))
      if (round < 0) continue
      ratios.push(stored / floor)
      spent.push(stored / DELTAS)
    }
  })
  const about = `${DELTAS} deltas through run(), log in SQLite, ${median(spent).toFixed(2)} us an event`
  return { id: 'store_us_per_event', value: median(ratios), unit: 'x floor', budget: 6, about }
}

/** Observations as a stream brings them, some hundred an event-loop turn, with a commit at the end. */
async function appendFigure(): Promise<Figure> {
  return inStore(async (store) => {
    const journal = store.create('appended', systemClock)
    const stamp = new FrameStamp('appended', Date.now)
    await journal.commit([startFrame(stamp)])
    const from = performance.now()
    for (let made = 0; made < FRAMES; made += FRAMES_A_TURN) {
      for (let at = 0; at < FRAMES_A_TURN; at += 1) {
        journal.observe(
          outputTextDeltaFrame(stamp, { delta: ` word${at}`, item_id: 'msg_0', output_index: 0 }),
        )
      }
      await nextTurn()
    }
    await journal.commit([makeFrame(stamp, 'warning', { cause: 'end', figures: {} })])
    const seconds = (performance.now() - from) / 1000
    await journal.close()
    const about = `${Math.round(FRAMES / seconds)} frames/s, durable`
    return { id: 'store_append_us_per_frame', value: (seconds * 1e6) / FRAMES, unit: 'us', budget: 50, about }
  })
}

/** Bytes of the file after 200 turns to those after 50: 4 when it grows with what is said, 16 when with its square. */
async function growthFigure(continuity: 'stateless' | 'previous_response_id'): Promise<Figure> {
  const [few, many] = [await sizeAfter(50, continuity), await sizeAfter(200, continuity)]
  const about = `${continuity}: ${kib(few)} after 50 turns, ${kib(many)} after 200`
  return { id: 'store_growth_200_to_50_turns', value: many / few, unit: 'x', budget: 4.4, about }
}

async function sizeAfter(turns: number, continuity: 'stateless' | 'previous_response_id'): Promise<number> {
  const streams = Array.from({ length: turns }, (_, turn) => [
    Buffer.from(turnStream(turn, turn === turns - 1)),
  ])
  let turn = 0
  const looping = agentOf(() => streams[turn++] ?? [], continuity)
  return inStore(async (store, path) => {
    await finish(looping, store, 'grown', turns)
    store.close()
    return statSync(path).size
  })
}

function turnStream(turn: number, isLast: boolean): string {
  const stream = new StreamBuilder(`resp_${turn}`).start()
  if (isLast) return sseText(stream.message(0, ['done']).end().events)
  const args = JSON.stringify({ text: `note ${turn} `.repeat(60) })
  const item = {
    type: 'function_call',
    id: `fc_${turn}`,
    call_id: `call_${turn}`,
    name: 'note',
    arguments: args,
  }
  return sseText(
    stream
      .addItem(0, item)
      .doneItem(0, { ...item, status: 'completed' })
      .end().events,
  )
}

const note = tool({
  name: 'note',
  description: 'Note a text and return it.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  execute: ({ text }) => text,
})

function agentOf(
  answer: () => readonly Uint8Array[],
  continuity: 'stateless' | 'previous_response_id',
): Agent {
  return agent({
    model: benchModel(answer),
    tools: [note],
    continuity,
    limits: { turns: 1000, toolCalls: 1000 },
  })
}

async function finish(agent: Agent, store: SqliteStore, runId: string, turnsExpected: number): Promise<void> {
  const { state, turns } = await run(agent, 'go', { store, runId }).result
  if (state !== 'done' || turns !== turnsExpected)
    throw new Error(`the run ended ${state} after ${turns} turns`)
}

async function inStore<T>(work: (store: SqliteStore, path: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'loopchart-bench-'))
  const path = join(folder, 'runs.db')
  const store = openStore(path)
  try {
    return await work(store, path)
  } finally {
    store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

function startFrame(stamp: FrameStamp): Frame {
  return makeFrame(stamp, 'run_started', {
    input: 'go',
    agent: {},
    model: 'bench',
    limits: {},
    settings: {},
    deadline_at: null,
    continuity: 'auto',
    chart_version: '',
    chart_hash: '',
    parent: null,
  })
}

function kib(bytes: number): string {
  return `${(bytes / 1024).toFixed(0)} KiB`
}
