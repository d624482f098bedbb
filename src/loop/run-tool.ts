import type { RunToolInput, RunToolOutput } from '../../machines/loop.types.ts'
import type { ToolEndedFrame, ToolStartedFrame } from '../frames/generated/frame.ts'
import { makeFrame, type FramePayload } from '../frames/make-frame.ts'
import type { Agent } from './agent.ts'
import { hashOf } from './decisions.ts'
import type { EffectIo } from './effect.ts'

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
  { turn, call }: RunToolInput,
  io: EffectIo,
): Promise<RunToolValue> {
  const { callId, slot, facts } = call
  const result = await agent.tools.run(call, {
    key: `${io.runId}/${turn}/${slot}`,
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
  })
  const { outcome, output, exitCode, artifacts, error, durationMs } = result
  const ended = {
    call_id: callId,
    slot,
    outcome,
    exit_code: exitCode,
    artifacts,
    output,
    duration_ms: durationMs,
    error,
  }
  return { outcome, output, detail: null, outputHash: hashOf(output), ended }
}
