import { agent } from '../src/agent.ts'
import { compileTurn, type CompiledTurn } from '../src/conversation/compile-turn.ts'
import { ConversationMemory } from '../src/conversation/conversation-memory.ts'
import { readSettings } from '../src/conversation/conversation-settings.ts'
import { entryJson, type NewEntry } from '../src/conversation/entry-frame.ts'
import { FrameStamp } from '../src/frames/frame-stamp.ts'
import { makeFrame } from '../src/frames/make-frame.ts'
import { makeCheckpoint } from '../src/history/context-bundle/make-checkpoint.ts'
import { benchModel } from './bench-model.ts'
import type { Figure } from './decode.ts'
import { median, pairedRatio } from './measure.ts'

const ROUNDS = 100
const WARM_UP = 50
const TURNS = 10_000
const FEW_TURNS = 100
const RECENT = 16
// A summary stands for all before it about so often.
const TURNS_A_SUMMARY = 50

/** What it takes to put together what a run is told, when the conversation is long and little of it is selected. */
export async function contextFigures(): Promise<readonly Figure[]> {
  const few = conversationOf(FEW_TURNS, false)
  const many = conversationOf(TURNS, false)
  const summarized = conversationOf(TURNS, true)
  const times = { few: [] as number[], many: [] as number[], summarized: [] as number[] }
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    const [fewMs, manyMs, summarizedMs] = [await millis(few), await millis(many), await millis(summarized)]
    if (round < 0) continue
    times.few.push(fewMs)
    times.many.push(manyMs)
    times.summarized.push(summarizedMs)
  }
  const about = `median of ${ROUNDS}; ${TURNS} turns with calls, the latest ${RECENT} compiled and rendered`
  return [
    { id: 'context_10000_turns_ms', value: median(times.many), unit: 'ms', budget: 20, about },
    {
      id: 'context_10000_turns_ms',
      value: median(times.summarized),
      unit: 'ms',
      budget: 20,
      about: `the same behind ${TURNS / TURNS_A_SUMMARY} summaries`,
    },
    {
      id: 'context_growth_10000_to_100_turns',
      value: pairedRatio(times.many, times.few),
      unit: 'x',
      budget: 1.5,
      about: `${(median(times.few) * 1000).toFixed(0)} us with ${FEW_TURNS} turns`,
    },
  ]
}

const answering = agent({ model: benchModel(() => []) })
const settings = readSettings(answering, {
  context: { recent: RECENT },
  toolHistory: { strategy: 'native' },
})

async function millis(memory: ConversationMemory): Promise<number> {
  const from = performance.now()
  const { input } = await compile(memory)
  const spent = performance.now() - from
  // Each turn has a message, a call with its output, and an answer; the last one only its message.
  if (input.length < RECENT * 2) throw new Error(`${input.length} items were compiled`)
  return spent
}

function compile(memory: ConversationMemory): Promise<CompiledTurn> {
  return compileTurn(memory, {
    agent: answering,
    settings,
    place: { runId: 'bench', messageSeq: memory.length - 1 },
    summarize: null,
    signal: new AbortController().signal,
  })
}

/** A conversation of so many turns, the last message of which waits for its answer. */
function conversationOf(turns: number, isSummarized: boolean): ConversationMemory {
  const memory = new ConversationMemory()
  const stamp = new FrameStamp('bench', Date.now)
  const add = (entry: NewEntry): void =>
    memory.apply(
      makeFrame(stamp, 'conversation_entry', { entry_seq: memory.length, entry: entryJson(entry) }),
    )
  for (let turn = 0; turn < turns; turn += 1) {
    if (isSummarized && turn % TURNS_A_SUMMARY === TURNS_A_SUMMARY - 1) addSummary(memory, add)
    for (const entry of turnEntries(turn, memory.length)) add(entry)
  }
  add({ type: 'message', role: 'user', text: 'And now?' })
  return memory
}

/** Of all but the latest turns, as a conversation keeps those as they are. */
function addSummary(memory: ConversationMemory, add: (entry: NewEntry) => void): void {
  const toSeq = memory.length - RECENT * 3 - 1
  add(makeCheckpoint({ seq: memory.length, text: 'They talked. '.repeat(300), fromSeq: 0, toSeq }))
}

function turnEntries(turn: number, messageSeq: number): readonly NewEntry[] {
  const runId = `bench.${messageSeq}`
  const call_id = `call_${turn}`
  return [
    { type: 'message', role: 'user', text: `What is in file ${turn}? ${'Tell me more. '.repeat(10)}` },
    {
      type: 'tool_work',
      runId,
      messageSeq,
      groups: [
        [
          { type: 'function_call', call_id, name: 'read', arguments: `{"path":"file-${turn}.txt"}` },
          { type: 'function_call_output', call_id, output: `line ${turn}\n`.repeat(40) },
        ],
      ],
    },
    { type: 'answer', runId, messageSeq, text: `File ${turn} has forty lines. `.repeat(10) },
  ]
}
