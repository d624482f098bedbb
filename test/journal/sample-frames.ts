import { FrameStamp } from '../../src/frames/frame-stamp.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { makeFrame, outputTextDeltaFrame, providerEventFrame } from '../../src/frames/make-frame.ts'
import { responseFirstByteFrame } from '../../src/frames/turn-frames.ts'

export function startFrame(stamp: FrameStamp): Frame {
  return makeFrame(stamp, 'run_started', {
    input: 'go',
    agent: {},
    model: 'sample-1',
    limits: {},
    settings: {},
    deadline_at: null,
    continuity: 'auto',
    chart_version: '',
    chart_hash: '',
    parent: null,
  })
}

export function stateFrame(stamp: FrameStamp, state: string, turn: number): Frame {
  return makeFrame(stamp, 'state_entered', { state, by: 'test', turn })
}

export function deltaFrame(stamp: FrameStamp, delta: string): Frame {
  return outputTextDeltaFrame(stamp, { delta, item_id: 'msg_0', output_index: 0 })
}

export function eventFrame(stamp: FrameStamp, raw: string, anomalies: readonly string[] = []): Frame {
  return providerEventFrame(stamp, 1, 0, {
    status: 'event',
    event_name: 'response.output_text.delta',
    raw,
    raw_base64: null,
    errors: [],
    response_errors: [],
    anomalies: anomalies.map((code) => ({ code, detail: '' })),
  })
}

export function requestFrame(stamp: FrameStamp, body: string): Frame {
  return makeFrame(stamp, 'request_sent', {
    turn: 1,
    attempt: 0,
    kind: 'follow_up',
    continuity: 'stateless',
    endpoint: 'sample:',
    model: 'sample-1',
    body,
  })
}

export function endedFrame(stamp: FrameStamp, state: 'done' | 'failed'): Frame {
  return makeFrame(stamp, 'run_ended', {
    state,
    reason: state,
    text: '',
    reasoning: [],
    usage: null,
    unanswered_calls: [],
  })
}

const item = (at: number): string =>
  `{"type":"message","role":"user","content":"line ${at} of what was said"}`

/** A log of every kind of line: repeated frames, requests that extend each other, texts that are kept apart. */
export function sampleLog(runId: string): readonly Frame[] {
  let ms = 1_000_000
  const stamp = new FrameStamp(runId, () => ms)
  const large = 'large text '.repeat(8000)
  const head = `{"model":"sample-1","instructions":"${'be brief. '.repeat(20)}","max_tool_calls":`
  const body = (turn: number): string =>
    `${head}${10 - turn},"input":[${Array.from({ length: 40 * turn }, (_, at) => item(at)).join(',')}]}`
  const frames: Frame[] = [startFrame(stamp)]
  for (const turn of [1, 2, 3]) {
    frames.push(stateFrame(stamp, 'working.responding.requesting', turn), requestFrame(stamp, body(turn)))
    frames.push(responseFirstByteFrame(stamp, { turn, attempt: 0 }))
    for (const word of ['a', 'b\nc', '\u{1F600}', '\uD800', '', 'tab\tand\u0000nul', 'x'.repeat(70_000)]) {
      ms += turn
      stamp.tick()
      frames.push(eventFrame(stamp, word), deltaFrame(stamp, word))
    }
    frames.push(eventFrame(stamp, 'odd', ['item_not_added']), eventFrame(stamp, 'even'))
    const output = [
      { type: 'input_text', text: large },
      { type: 'input_text', text: 'short' },
    ]
    frames.push(
      makeFrame(stamp, 'tool_ended', {
        call_id: `call_${turn}`,
        outcome: 'ok',
        exit_code: 0,
        usage: null,
        artifacts: [],
        output,
        duration_ms: 1,
        error: null,
        slot: 0,
      }),
    )
  }
  frames.push(stateFrame(stamp, 'done', 3), endedFrame(stamp, 'done'))
  return frames
}
