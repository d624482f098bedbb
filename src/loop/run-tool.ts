import type { RunToolInput, RunToolOutput, TokenUsage } from '../../machines/loop.types.ts'
import type { FrameStamp } from '../frames/frame-stamp.ts'
import type { Frame, ToolEndedFrame, ToolStartedFrame } from '../frames/generated/frame.ts'
import { LoopchartError } from '../errors.ts'
import { makeFrame, type FramePayload } from '../frames/make-frame.ts'
import type { Agent } from './agent.ts'
import { hashOf, plain } from './decisions.ts'
import type { Children } from './children.ts'
import type { EffectIo } from './effect.ts'
import { sumUsage } from './usage.ts'

/** What settles a call: for the chart, and for the log. */
export interface RunToolValue extends RunToolOutput {
  readonly ended: FramePayload<ToolEndedFrame>
}

/** What the log says before a call runs. */
export function announceCall({ call, attempt }: RunToolInput): FramePayload<ToolStartedFrame> {
  const { callId, itemId, outputIndex, slot, name, facts } = call
  return {
    call_id: callId,
    item_id: itemId,
    output_index: outputIndex,
    slot,
    name,
    arguments: call.arguments,
    attempt,
    timeout_ms: facts.timeoutMs,
  }
}

/** Runs one call. Settles with a value, whatever happens. */
export async function runTool(
  agent: Agent,
  { turn, call, left }: RunToolInput,
  io: EffectIo,
  children: Children | null = null,
): Promise<RunToolValue> {
  const { callId, slot, facts } = call
  const key = `${io.runId}/${turn}/${slot}`
  let usage: TokenUsage | null = null
  const onUsage = (more: TokenUsage): void => void (usage = sumUsage(usage, more))
  const result = await agent.tools.run(call, {
    key,
    timeoutMs: facts.timeoutMs,
    signal: io.signal,
    onOutput: (stream, chunk) => {
      if (!io.isWanted()) return
      io.stamp.tick()
      const type = stream === 'stdout' ? 'tool_stdout' : 'tool_stderr'
      io.observe(makeFrame(io.stamp, type, { call_id: callId, chunk }))
    },
    onLate: (outcome) => {
      io.stamp.tick()
      io.observe(
        makeFrame(io.stamp, 'warning', { cause: 'late_result', figures: { call_id: callId, outcome } }),
      )
    },
    runAgent:
      children === null
        ? undefined
        : (child, input, signal) =>
            isAgent(child)
              ? children.run(child, input, { callId, key, left, onUsage, signal }, io)
              : Promise.reject(new LoopchartError('usage', 'that is no agent')),
  })
  const { outcome, output, exitCode, artifacts, error, durationMs } = result
  if (error?.code === 'workspace_missing') {
    io.stamp.tick()
    io.observe(untouchedFrame(io.stamp, callId))
    io.suspend({ reason: 'workspace_missing', message: error.message, retryAt: null })
    return new Promise(() => undefined)
  }
  const ended = {
    call_id: callId,
    slot,
    outcome,
    exit_code: exitCode,
    artifacts,
    output,
    duration_ms: durationMs,
    error,
    usage: plain(usage),
  }
  return { outcome, output, detail: null, outputHash: hashOf(output), usage, ended }
}

/** Said of a call that was about to run when the run was let go of: it runs when the run is resumed. */
export const UNTOUCHED = 'not_started'

/** The frame that says so. */
export function untouchedFrame(stamp: FrameStamp, callId: string): Frame {
  return makeFrame(stamp, 'warning', { cause: UNTOUCHED, figures: { call_id: callId } })
}

function isAgent(value: object): value is Agent {
  return 'models' in value && 'buildRequest' in value && 'settings' in value
}
