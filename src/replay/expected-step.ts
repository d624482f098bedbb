import type { FoldedStep, StartedEffect } from '../chart/pure-fold.ts'
import type { FrameStamp } from '../frames/frame-stamp.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { makeFrame } from '../frames/make-frame.ts'
import { requestSentFrame, stateEnteredFrame, toolStartedFrame } from '../frames/turn-frames.ts'
import type { Agent } from '../loop/agent.ts'
import { announceRequest, type Announcement } from '../loop/respond.ts'
import { announceCall } from '../loop/run-tool.ts'
import { endFrame, tellFrame } from '../loop/step-frames.ts'

/** A frame that the log must have next. */
export interface ExpectedFrame {
  readonly frame: Frame
  /** The fields that count; null: all that the frame has. */
  readonly fields: readonly string[] | null
  /** Whether a process that died, or a fork, may have left it out: something seen or about to start, not decided. */
  readonly isLosable: boolean
  /** Whether the log may go on without it. */
  readonly isOptional: boolean
}

export interface StepMaker {
  readonly stamp: FrameStamp
  readonly agent: Agent
  readonly depth: 'all' | 'chart'
  /** Warnings that were given already. */
  readonly warned: Set<string>
  readonly onAnnounced: (announced: Announcement) => void
}

/** The frames that follow the one of a decision, in the order in which the driver commits them. */
export function expectedStep(maker: StepMaker, by: string, step: FoldedStep): readonly ExpectedFrame[] {
  const { stamp, agent, depth } = maker
  const { entered, told, started, snapshot } = step
  const { context } = snapshot
  return [
    ...entered.map(({ state, turn }) => whole(stateEnteredFrame(stamp, state, by, turn))),
    ...told.map((one) => {
      const frame = tellFrame(stamp, agent, one, context)
      return depth === 'all' ? whole(frame) : part(frame)
    }),
    ...started.flatMap((effect) => intents(maker, effect)),
    ...(snapshot.status === 'done' ? [whole(endFrame(stamp, snapshot))] : []),
  ]
}

/** What the log says before an effect starts. */
function intents(maker: StepMaker, started: StartedEffect): readonly ExpectedFrame[] {
  const { stamp } = maker
  if (started.effect === 'runTool') {
    return [losable(toolStartedFrame(stamp, announceCall(started.input)))]
  }
  if (started.effect !== 'respond') return []
  const { turn, attempt, kind, mode: continuity } = started.input
  if (maker.depth === 'chart') {
    const sent = { turn, attempt, kind, continuity, endpoint: '', model: '', body: '' }
    return [{ ...part(requestSentFrame(stamp, sent)), isLosable: true, isOptional: true }]
  }
  const announced = announceRequest(maker.agent, started.input)
  maker.onAnnounced(announced)
  if (!announced.ok) return []
  const fresh = announced.warnings.filter((cause) => !maker.warned.has(cause))
  for (const cause of fresh) maker.warned.add(cause)
  return [
    ...fresh.map((cause) => losable(makeFrame(stamp, 'warning', { cause, figures: {} }))),
    losable(requestSentFrame(stamp, announced.sent)),
  ]
}

/** A frame that was seen and not decided. */
export function losable(frame: Frame): ExpectedFrame {
  return { frame, fields: null, isLosable: true, isOptional: false }
}

function whole(frame: Frame): ExpectedFrame {
  return { frame, fields: null, isLosable: false, isOptional: false }
}

// Without the agent nobody knows what models are called, and what is said about a call that did not run.
const CHART_FIELDS: Readonly<Partial<Record<Frame['type'], readonly string[]>>> = {
  request_sent: ['type', 'turn', 'attempt', 'kind', 'continuity'],
  provider_switched: ['type', 'cause'],
  tool_ended: ['type', 'call_id', 'slot', 'outcome', 'error'],
  tool_failed: ['type', 'call_id', 'slot', 'outcome', 'error'],
}

function part(frame: Frame): ExpectedFrame {
  return { ...whole(frame), fields: CHART_FIELDS[frame.type] ?? null }
}
