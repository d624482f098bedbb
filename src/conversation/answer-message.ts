import { makeFrame } from '../frames/make-frame.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { LoopchartError } from '../errors.ts'
import { plain } from '../loop/decisions.ts'
import { startRun, type Run, type RunResult } from '../loop/run.ts'
import type { InputPart } from '../loop/run-input.ts'
import { agentWithin } from './agent-within.ts'
import { compileTurn, type CompiledTurn } from './compile-turn.ts'
import { entryFrame } from './conversation-log.ts'
import type { ConversationParts } from './conversation-parts.ts'
import { endFrames } from './end-frames.ts'
import type { NewEntry } from './entry-frame.ts'
import { isToldOtherwise } from './is-told-otherwise.ts'
import type { LiveTurn } from './live-turn.ts'
import { ownRun } from './own-run.ts'
import { selectionJson } from './selection-json.ts'
import { summarizedFrame, ToolSummarizer } from './tool-summarizer.ts'

/** A message before it is an entry. */
export interface NewMessage {
  readonly entry: NewEntry
  /** Of a message that is more than text. */
  readonly parts: readonly InputPart[] | null
}

/** How a message is answered: for whom, and until when. */
export interface Answering {
  readonly turn: LiveTurn
  /** Aborted when the message is taken back or the conversation is closed. */
  readonly signal: AbortSignal
}

/**
 * Answers a message: compiles what the run is told, records that and then the run, and takes what it did into the
 * conversation. A provider that refuses how earlier calls were told gets them as text, in a second run.
 */
export async function answerMessage(
  parts: ConversationParts,
  answering: Answering,
  message: NewMessage,
): Promise<RunResult> {
  const { log } = parts
  const messageSeq = log.memory.length
  await log.record((stamp) => [entryFrame(stamp, messageSeq, message.entry, message.parts)])
  return runForMessage(parts, answering, messageSeq)
}

/** Runs the agent for a message that is an entry already. */
export async function runForMessage(
  parts: ConversationParts,
  answering: Answering,
  messageSeq: number,
): Promise<RunResult> {
  const { log, store, settings } = parts
  const runId = log.memory.nextRunId(messageSeq, (id) => store !== null && hasLog(parts, id))
  const summarizer = settings.summarizationModel === null ? null : new ToolSummarizer(parts)
  const compiled = await compileTurn(log.memory, {
    agent: parts.agent,
    settings,
    place: { runId, messageSeq },
    summarize: summarizer?.summarize ?? null,
    signal: answering.signal,
  })
  await log.record((stamp) => [
    ...(summarizer?.asked ?? []).map((one) => summarizedFrame(stamp, settings.prices, one, compiled.summary)),
    makeFrame(stamp, 'context_selected', {
      child_run_id: runId,
      selection: selectionJson(compiled.selection),
    }),
    makeFrame(stamp, 'context_compiled', {
      child_run_id: runId,
      bundle_id: compiled.bundleId,
      tool_history: {
        strategy: compiled.choice.strategy,
        reason: compiled.choice.reason,
        can_fall_back: compiled.choice.canFallBack,
        calls: compiled.history.originalCount,
        calls_summarized: compiled.history.truncatedCount,
        summary: compiled.history.summary,
        unpaired: compiled.history.unpaired.map(({ callId, missing }) => ({ call_id: callId, missing })),
      },
      previous_response_id: compiled.cursor?.responseId ?? null,
    }),
    makeFrame(stamp, 'conversation_run_started', { child_run_id: runId, message_seq: messageSeq }),
  ])
  const run = await begin(parts, runId, messageSeq, compiled)
  return followRun(parts, answering, run)
}

function hasLog({ store }: ConversationParts, id: string): boolean {
  try {
    for (const _ of store?.read(id) ?? []) return true
    return false
  } catch (error) {
    // One that cannot be read is there.
    return !(error instanceof LoopchartError && error.code === 'run_unknown')
  }
}

/** Starts the run. One that cannot be started has ended: the conversation must not wait for it. */
async function begin(
  parts: ConversationParts,
  runId: string,
  messageSeq: number,
  { input, bundleId, bundle, cursor }: CompiledTurn,
): Promise<Run> {
  try {
    return startRun(agentWithin(parts, parts.agent), input, {
      runId,
      ...(parts.store !== null && { store: parts.store }),
      conversation: {
        conversation_id: parts.id,
        message_seq: messageSeq,
        bundle_id: bundleId,
        bundle: plain(bundle) ?? {},
        previous_response_id: cursor?.responseId ?? null,
      },
    })
  } catch (error) {
    const reason = error instanceof LoopchartError ? error.code : 'internal_error'
    await parts.log.record((stamp) => endFrames(stamp, parts, { run: ownRun(parts), frames: [], reason }))
    throw error
  }
}

/** Sees a run to its end and takes what it did into the conversation. One that is let go of stays open. */
export async function followRun(
  parts: ConversationParts,
  answering: Answering,
  run: Run,
): Promise<RunResult> {
  const { log } = parts
  answering.turn.begin(run)
  const result = await run.result
  if (result.status === 'suspended') return result
  const open = ownRun(parts)
  const frames: Frame[] = []
  for await (const frame of run.frames()) frames.push(frame)
  await log.record((stamp) => endFrames(stamp, parts, { run: open, frames }))
  if (answering.signal.aborted || !isToldOtherwise(parts, frames)) return result
  await log.record((stamp) => [
    makeFrame(stamp, 'tool_history_switched', {
      cause: result.reason,
      figures: { child_run_id: run.id, from: 'native', to: 'text-embed' },
    }),
  ])
  return runForMessage(parts, answering, open.messageSeq)
}
