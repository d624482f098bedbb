import { LoopchartError } from '../errors.ts'
import type { FrameStamp } from '../frames/frame-stamp.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { makeFrame } from '../frames/make-frame.ts'
import { plain } from '../loop/decisions.ts'
import type { OpenRun, ProviderCursor } from './conversation-memory.ts'
import { entryFrame } from './conversation-log.ts'
import type { ConversationParts } from './conversation-parts.ts'
import { costOf } from './cost-of.ts'
import { harvestRun, type Harvest } from './harvest-run.ts'

/** A run that nobody drives any more. */
export interface FinishedRun {
  readonly run: OpenRun
  /** Its log; empty when it never began. */
  readonly frames: readonly Frame[]
  /** Why it never began, by code. */
  readonly reason?: string
}

/** What a conversation records when a run for one of its messages has ended, or is left for good. */
export function endFrames(
  stamp: FrameStamp,
  parts: ConversationParts,
  { run, frames, reason: given = 'lost' }: FinishedRun,
): readonly Frame[] {
  const { agent, settings, log } = parts
  const { memory } = log
  const { runId, messageSeq } = run
  const last = frames.at(-1)
  const harvest = harvestOf(parts, run, frames)
  // A log that was cut off within a step may have some of them already.
  const fresh = (harvest?.entries ?? []).slice(memory.length - run.entriesBefore)
  const { state, reason } =
    last?.type === 'run_ended'
      ? last
      : { state: 'abandoned', reason: frames.length === 0 ? given : 'abandoned' }
  const found = harvest?.cursor ?? null
  const cursor =
    found === null
      ? null
      : {
          ...found,
          entries: memory.length + fresh.length,
          fingerprint: agent.description.fingerprint,
        }
  return [
    ...fresh.map((entry, at) => entryFrame(stamp, memory.length + at, entry)),
    ...cursorFrames(stamp, memory.cursor, cursor, { runId, state, lost: lostReason(frames) }),
    makeFrame(stamp, 'conversation_run_ended', {
      child_run_id: runId,
      message_seq: messageSeq,
      state,
      reason,
      usage: plain(harvest?.usage ?? null),
      cost: harvest === null ? null : costOf(harvest.usage, settings.prices),
    }),
  ]
}

/** Null when there is nothing to take in, or nothing that can be read: a conversation must be able to leave any run. */
function harvestOf(
  { agent }: ConversationParts,
  { messageSeq, entriesBefore }: OpenRun,
  frames: readonly Frame[],
): Harvest | null {
  if (frames.length === 0) return null
  try {
    return harvestRun(frames, { agent, messageSeq, nextSeq: entriesBefore })
  } catch (error) {
    if (error instanceof LoopchartError) return null
    throw error
  }
}

interface CursorChange {
  readonly runId: string
  readonly state: string
  readonly lost: string | null
}

/** The place in the provider's memory follows each run; one that did not come to its end leaves none to go on from. */
function cursorFrames(
  stamp: FrameStamp,
  before: ProviderCursor | null,
  after: ProviderCursor | null,
  { runId, state, lost }: CursorChange,
): readonly Frame[] {
  const isElsewhere = before?.endpoint !== after?.endpoint || before?.model !== after?.model
  const isCleared = before !== null && (after === null || lost !== null || isElsewhere)
  const why = lost ?? (after === null ? `run_${state}` : 'another_model')
  const cleared = isCleared ? [clearedCursor(stamp, before, why, runId)] : []
  if (after === null) return cleared
  return [
    ...cleared,
    makeFrame(stamp, 'cursor_updated', {
      cause: before === null || isCleared ? 'set' : 'rotated',
      figures: {
        endpoint: after.endpoint,
        model: after.model,
        previous_response_id: after.responseId,
        entries: after.entries,
        fingerprint: after.fingerprint,
        reason: 'run_done',
        child_run_id: runId,
      },
    }),
  ]
}

/** Why the provider could not go on from its own memory, when the run found that out. */
function lostReason(frames: readonly Frame[]): string | null {
  for (const frame of frames) {
    if (frame.type === 'continuity_switched') return frame.cause
    if (frame.type !== 'cursor_updated' || frame.cause !== 'cleared') continue
    const { reason } = frame.figures
    return typeof reason === 'string' ? reason : frame.cause
  }
  return null
}

/** The frame that says that the provider's memory is no longer gone on from. */
export function clearedCursor(
  stamp: FrameStamp,
  { endpoint, model }: ProviderCursor,
  reason: string,
  runId: string | null = null,
): Frame {
  return makeFrame(stamp, 'cursor_updated', {
    cause: 'cleared',
    figures: { endpoint, model, previous_response_id: null, reason, child_run_id: runId },
  })
}
