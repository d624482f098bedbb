import { agent } from '../src/agent.ts'
import type { Frame } from '../src/frames/generated/frame.ts'
import { restoreRun } from '../src/loop/restore-run.ts'
import { run } from '../src/loop/run.ts'
import { replay } from '../src/replay-run.ts'
import { tool } from '../src/tools/tool.ts'
import { callItem, sseText, StreamBuilder } from '../scripts/fixtures/stream-builder.ts'
import { benchModel } from './bench-model.ts'
import type { Figure } from './decode.ts'
import { median } from './measure.ts'
import { deltaStream } from './streams.ts'

const ROUNDS = 7
const FRAMES = 20_000
const TURNS = 1000

/** What it costs to read a log again: all of it, or its decisions only. */
export async function replayFigures(): Promise<readonly Figure[]> {
  // Each delta gives two frames.
  const long = await logOf([deltaStream(FRAMES / 2)], 1)
  const many = await logOf(callStreams(TURNS), TURNS)
  return [
    {
      id: 'replay_20000_frames_ms',
      value: millis(() => checked(long)),
      unit: 'ms',
      budget: 1000,
      about: `median of ${ROUNDS}; ${long.length} frames of one response, all of them made again and compared`,
    },
    {
      id: 'fold_1000_turns_ms',
      value: millis(() => void restoreRun(many)),
      unit: 'ms',
      budget: 1000,
      about: `median of ${ROUNDS}; the decisions of ${many.length} frames folded, as when a run is resumed`,
    },
    {
      id: 'replay_1000_turns_ms',
      value: millis(() => checked(many)),
      unit: 'ms',
      budget: Number.POSITIVE_INFINITY,
      about: `median of ${ROUNDS}; the same, replayed: 1,000 requests built and compared`,
    },
  ]
}

function checked(frames: readonly Frame[]): void {
  const result = replay(frames)
  if (!result.ok) throw new Error(`the replay differs: ${JSON.stringify(result.divergence)}`)
}

/** CPU milliseconds: other work of the machine does not count. */
function millis(work: () => void): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  return median(times)
}

function callStreams(turns: number): readonly Uint8Array[] {
  return Array.from({ length: turns }, (_, turn) => {
    const stream = new StreamBuilder(`resp_${turn}`).start()
    if (turn === turns - 1) return Buffer.from(sseText(stream.message(0, ['done']).end().events))
    const item = { ...callItem(0, 'note', `{"text":"${turn}"}`), call_id: `call_${turn}` }
    return Buffer.from(
      sseText(
        stream
          .addItem(0, { ...item, arguments: '' })
          .doneItem(0, item)
          .end().events,
      ),
    )
  })
}

/** The log of a run over these streams, as it comes from a file. */
async function logOf(streams: readonly Uint8Array[], turns: number): Promise<readonly Frame[]> {
  const left = [...streams]
  const model = benchModel(() => left.splice(0, 1))
  const note = tool({
    name: 'note',
    description: 'Note a text and return its length.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    execute: (args) => JSON.stringify(args),
  })
  const live = run(agent({ model, tools: [note], limits: { turns: 2000, toolCalls: 2000 } }), 'go')
  const frames: Frame[] = []
  for await (const frame of live) frames.push(frame)
  const { state, turns: taken } = await live.result
  if (state !== 'done' || taken !== turns) throw new Error(`the run ended ${state} after ${taken} turns`)
  return JSON.parse(JSON.stringify(frames)) as Frame[]
}
