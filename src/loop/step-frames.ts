import type { LoopContext, LoopEmitted } from '../../machines/loop.types.ts'
import type { FrameStamp } from '../frames/frame-stamp.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { makeFrame } from '../frames/make-frame.ts'
import { batchPlannedFrame, toolOutcomeFrame } from '../frames/turn-frames.ts'
import type { LoopSnapshot } from '../chart/loop-snapshot.ts'
import type { Agent } from './agent.ts'
import type { ToolPort } from './tool-port.ts'

/** The frame for what the chart told. */
export function tellFrame(
  stamp: FrameStamp,
  { tools, models }: Pick<Agent, 'tools' | 'models'>,
  told: LoopEmitted,
  context: LoopContext,
): Frame {
  switch (told.type) {
    case 'retry_scheduled':
      return makeFrame(stamp, told.type, {
        cause: told.cause,
        figures: { attempt: told.attempt, retry_at: told.retryAt },
      })
    case 'continuity_switched':
      return makeFrame(stamp, told.type, { cause: told.cause, figures: { to: context.route.mode } })
    case 'cursor_updated':
      return makeFrame(stamp, told.type, {
        cause: 'cleared',
        figures: { reason: told.reason, previous_response_id: told.previousResponseId },
      })
    case 'provider_switched':
      return makeFrame(stamp, told.type, {
        cause: told.cause,
        figures: { from: models[told.from]?.name ?? '', to: models[told.to]?.name ?? '' },
      })
    case 'limit_reached':
      return makeFrame(stamp, told.type, {
        cause: told.limit,
        figures: { used: told.used, allowed: told.allowed },
      })
    case 'batch_planned':
      return batchPlannedFrame(stamp, context.settings.toolExecution, told.slots)
    case 'history_compacted':
      return makeFrame(stamp, told.type, {
        cause: told.cause,
        figures: {
          way: told.way,
          detail: told.detail,
          items_before: told.itemsBefore,
          items_after: told.itemsAfter,
          tokens_before: told.tokensBefore,
          tokens_after: told.tokensAfter,
        },
      })
    case 'approval_requested': {
      const call = context.calls.find(({ callId }) => callId === told.callId)
      return makeFrame(stamp, told.type, {
        call_id: told.callId,
        path: [told.callId],
        arguments_hash: call?.facts.argumentsHash ?? '',
        reason: call?.facts.approval?.reason ?? '',
        each_time: call?.facts.approval?.isEachTime ?? false,
        shown: call?.facts.approval?.shown ?? '',
      })
    }
    case 'call_settled':
      return settledFrame(stamp, tools, told)
  }
}

/** A call that did not run, or of which somebody said how it ended. */
function settledFrame(
  stamp: FrameStamp,
  tools: ToolPort,
  told: Extract<LoopEmitted, { type: 'call_settled' }>,
): Frame {
  const { outcome, output, detail } = told.answer
  return toolOutcomeFrame(stamp, {
    call_id: told.callId,
    slot: null,
    outcome,
    exit_code: null,
    artifacts: [],
    output: output ?? tools.answerText(outcome, told.name, detail),
    duration_ms: 0,
    error: outcome === 'ok' ? null : { code: outcome, message: detail ?? outcome },
    usage: null,
  })
}

/** The last frame of a run. */
export function endFrame(stamp: FrameStamp, { output }: LoopSnapshot): Frame {
  if (output === undefined) throw new Error('the chart ended without an output')
  const { state, reason, text, usage, reasoning, unansweredCalls } = output
  return makeFrame(stamp, 'run_ended', {
    state,
    reason,
    text,
    output: output.output,
    reasoning,
    usage: { ...usage },
    unanswered_calls: unansweredCalls,
  })
}
