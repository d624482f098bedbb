import { can } from '../chart/can.ts'
import type { LoopPathEvent } from '../chart/loop-events.ts'
import { loopFold } from '../chart/loop-fold.ts'
import type { LoopSnapshot } from '../chart/loop-snapshot.ts'
import type { FoldedStep, StartedEffect } from '../chart/pure-fold.ts'
import { FRAME_VERSION, FrameStamp } from '../frames/frame-stamp.ts'
import type {
  CommandReceivedFrame,
  EffectSettledFrame,
  Frame,
  ProviderEventFrame,
  ResponseSettledFrame,
  RunResumedFrame,
  RunStartedFrame,
  ToolEndedFrame,
  ToolFailedFrame,
} from '../frames/generated/frame.ts'
import { stateEnteredFrame } from '../frames/turn-frames.ts'
import { fingerprintOf, type Agent } from '../loop/agent.ts'
import { IN_DOUBT } from '../loop/children.ts'
import { COMPACT_CALL } from '../loop/compact-by-model.ts'
import { COMPACTION_REFUSED } from '../loop/compact.ts'
import { decisionOf } from '../loop/decisions.ts'
import { restoreRun } from '../loop/restore-run.ts'
import type { Announcement } from '../loop/respond.ts'
import { UNTOUCHED } from '../loop/run-tool.ts'
import type { ValidationProfile } from '../protocol/validation-profile.ts'
import type { StreamLimits } from '../stream/stream-limits.ts'
import { dataBytes } from './event-bytes.ts'
import { expectedSettled } from './expected-settled.ts'
import { expectedStep, losable, type ExpectedFrame } from './expected-step.ts'
import { firstDifference, type Difference } from './first-difference.ts'
import { frameDifference } from './frame-difference.ts'
import { readDescription, recordedAgent, type AnswerTextFor } from './recorded-agent.ts'
import { ReplayedResponse, type RespondInput } from './replayed-response.ts'
import { attemptKey, type FrameSurvey } from './survey-frames.ts'

type LoopCommand = Parameters<typeof can>[1]

export interface ReplayOptions {
  readonly answerTextFor: AnswerTextFor
  /**
   * `all`, the default, makes requests, responses and everything else again. `chart` compares states and what the
   * chart tells, and takes requests and responses as they are: for a log that has been redacted.
   */
  readonly depth?: 'all' | 'chart'
  /** The profile with which responses were read; `tolerant` when left out. */
  readonly profile?: ValidationProfile
  /** The limits with which they were read. */
  readonly streamLimits?: Partial<StreamLimits>
}

/** A run that is driven again, frame by frame. */
export class Replayer {
  decisions = 0
  readonly #survey: FrameSurvey
  readonly #options: ReplayOptions
  readonly #isWhole: boolean
  readonly #pending = new Map<string, StartedEffect>()
  readonly #warned = new Set<string>()
  #stamp = new FrameStamp('', () => 0)
  #snapshot: LoopSnapshot | null = null
  #agent: Agent | null = null
  #expected: ExpectedFrame[] = []
  #announced: Announcement | null = null
  #response: ReplayedResponse | null = null
  #contentType: string | null = null
  /** Where the chart was before it was seen that a response had begun; a run that is resumed is there again. */
  #unopened: string | null = null
  #epoch = 0

  constructor(survey: FrameSurvey, options: ReplayOptions) {
    this.#survey = survey
    this.#options = options
    this.#isWhole = options.depth !== 'chart'
  }

  /** Where the chart is, as a dotted path. */
  get state(): string {
    return this.#snapshot?.state ?? ''
  }

  /** Takes the next frame; the answer says where it is not what it should be. */
  take(frame: Frame, at: number): Difference | null {
    const { v, run_id: runId, seq } = frame
    const ownId = at === 0 ? runId : this.#stamp.runId
    if (v !== FRAME_VERSION) return { field: 'v', expected: FRAME_VERSION, actual: v }
    if (seq !== at) return { field: 'seq', expected: at, actual: seq }
    if (runId !== ownId) return { field: 'run_id', expected: ownId, actual: runId }
    if (this.#snapshot === null) return this.#begin(frame)
    if (!this.#isWhole && (frame.type === 'warning' || frame.type.endsWith('_delta'))) return null
    if (frame.type === 'log_repaired' && this.#expected.length > 0) {
      // A torn log has lost whatever came next, be it the end of a run that had ended.
      this.#expected = []
      return null
    }
    const due = this.#due(frame)
    return due === null ? this.#follow(frame, this.#snapshot) : frameDifference(due.frame, frame, due.fields)
  }

  #begin(frame: Frame): Difference | null {
    if (frame.type !== 'run_started') return { field: 'type', expected: 'run_started', actual: frame.type }
    this.#stamp = new FrameStamp(frame.run_id, () => 0)
    const steps: FoldedStep[] = []
    const { snapshot } = restoreRun([frame], (_, step) => steps.push(step))
    const { settings } = snapshot.context
    const { wall_time_ms: wallTime, ...limits } = frame.limits
    const isTimed = frame.deadline_at !== null
    const difference = this.#isWhole
      ? (firstDifference({ ...settings.limits }, limits, 'limits') ??
        firstDifference(isTimed ? 'number' : 'object', typeof wallTime, 'limits.wall_time_ms'))
      : null
    if (difference !== null) return difference
    const unknown = this.#describe(frame, settings)
    if (unknown !== null) return unknown
    for (const step of steps) this.#fold(step, frame.type)
    return null
  }

  /** Takes the agent that is in force from a frame on. */
  #describe(frame: RunStartedFrame | RunResumedFrame, settings: Agent['settings']): Difference | null {
    const { agent: given } = frame
    // Another process took the run up with the same agent.
    if (given === null) return null
    const read = this.#isWhole ? readDescription(given) : NOTHING_KNOWN
    if (read === null) return { field: 'agent', expected: 'what requests are made from', actual: given }
    this.#agent = recordedAgent(read, {
      answerTextFor: this.#options.answerTextFor,
      profile: this.#options.profile ?? null,
      streamLimits: this.#options.streamLimits ?? {},
      endpoints: this.#survey.endpoints,
      settings,
    })
    if (!this.#isWhole) return null
    const names = this.#agent.models.map(({ name }) => name).join(', ')
    return (
      firstDifference(fingerprintOf(read), read.fingerprint, 'agent.fingerprint') ??
      (frame.type === 'run_started' ? firstDifference(names, frame.model, 'model') : null)
    )
  }

  /** The frame that must come now; null when that is up to the world. */
  #due(frame: Frame): ExpectedFrame | null {
    // A process that died has lost what it had seen and was about to start.
    const isLost = frame.type === 'run_resumed' && this.#expected.every(({ isLosable }) => isLosable)
    if (isLost) this.#expected = []
    const [first] = this.#expected
    if (first?.isOptional === true && first.frame.type !== frame.type) this.#expected.shift()
    return this.#expected.shift() ?? null
  }

  #follow(frame: Frame, snapshot: LoopSnapshot): Difference | null {
    if (snapshot.status !== 'active') return { field: 'type', expected: null, actual: frame.type }
    switch (frame.type) {
      case 'run_resumed':
        return this.#resume(frame, snapshot)
      case 'response_settled':
        return this.#settle(frame) ?? this.#decide(frame, snapshot)
      case 'tool_ended':
      case 'tool_failed':
        return this.#endCall(frame) ?? this.#decide(frame, snapshot)
      case 'effect_settled':
        return this.#endEffect(frame) ?? this.#decide(frame, snapshot)
      case 'command_received':
        return this.#answer(frame, snapshot) ?? this.#decide(frame, snapshot)
      case 'request_sent':
        return this.#ofCompaction(frame) ?? firstDifference('compact', frame.kind, 'kind')
      case 'response_headers':
        if (this.#pending.has('compact')) return this.#ofCompaction(frame)
        this.#contentType = frame.content_type
        return this.#ofAttempt(frame)
      case 'response_first_byte':
        return this.#ofAttempt(frame) ?? this.#firstByte()
      case 'provider_event':
        if (this.#pending.has('compact')) return this.#ofCompaction(frame)
        return this.#ofAttempt(frame) ?? this.#event(frame, snapshot)
      case 'tool_stdout':
      case 'tool_stderr':
      case 'child_started':
        return this.#ofCall(frame.call_id)
      case 'approval_requested':
        return this.#ofCall(frame.path[0] ?? '')
      case 'warning':
        return this.#warning(frame)
      case 'log_repaired':
        return null
      default:
        // All others follow from something, and it did not come.
        return { field: 'type', expected: null, actual: frame.type }
    }
  }

  #decide(frame: Frame, snapshot: LoopSnapshot): Difference | null {
    const event = decisionOf(frame)
    if (event === null) return null
    if ('actorId' in event) this.#pending.delete(event.actorId)
    this.#fold(loopFold().next(snapshot, event), event.type)
    return null
  }

  #fold(step: FoldedStep, by: string): void {
    const agent = this.#agent
    if (agent === null) throw new Error('a run was begun without its agent')
    this.decisions += 1
    this.#snapshot = step.snapshot
    if (step.snapshot.state !== 'working.responding.streaming') this.#unopened = null
    for (const id of step.stopped) this.#pending.delete(id)
    for (const effect of step.started) {
      this.#pending.set(effect.id, effect)
      if (effect.effect === 'respond') this.#forgetResponse()
    }
    this.#expected.push(
      ...expectedStep(
        {
          stamp: this.#stamp,
          agent,
          depth: this.#isWhole ? 'all' : 'chart',
          warned: this.#warned,
          onAnnounced: (announced) => {
            this.#announced = announced
          },
        },
        by,
        step,
      ),
    )
  }

  #forgetResponse(): void {
    this.#response = null
    this.#contentType = null
  }

  #resume(frame: RunResumedFrame, snapshot: LoopSnapshot): Difference | null {
    this.#epoch += 1
    const asked = this.#asked()
    const superseded = asked === null ? null : { turn: asked.turn, attempt: asked.attempt }
    const difference = frameDifference({ ...frame, epoch: this.#epoch, superseded }, frame, [
      'epoch',
      'superseded',
    ])
    if (this.#unopened !== null) this.#snapshot = { ...snapshot, state: this.#unopened }
    this.#unopened = null
    // Another process, which has said nothing yet.
    this.#warned.clear()
    return difference ?? this.#describe(frame, snapshot.context.settings)
  }

  /** What the request that is out was made from. */
  #asked(): RespondInput | null {
    const started = this.#pending.get('respond')
    return started?.effect === 'respond' ? started.input : null
  }

  #ofAttempt(frame: { readonly turn: number; readonly attempt: number }): Difference | null {
    const input = this.#asked()
    if (input === null) return { field: 'type', expected: null, actual: 'a frame of a response' }
    const { turn, attempt } = frame
    return firstDifference({ turn: input.turn, attempt: input.attempt }, { turn, attempt })
  }

  /** What a compaction asked and saw is as the log has it; only that it was that compaction can be checked. */
  #ofCompaction(frame: { readonly turn: number; readonly attempt: number }): Difference | null {
    const started = this.#pending.get('compact')
    if (started?.effect !== 'compact') return { field: 'type', expected: null, actual: 'a compaction' }
    const { turn, attempt } = frame
    return firstDifference({ turn: started.input.turn, attempt: started.input.attempt }, { turn, attempt })
  }

  #firstByte(): Difference | null {
    const response = this.#read()
    if (response.hasBegun) return { field: 'type', expected: null, actual: 'response_first_byte' }
    response.hasBegun = true
    return null
  }

  #read(): ReplayedResponse {
    const input = this.#asked()
    if (input === null || this.#agent === null) throw new Error('nothing is being read')
    this.#response ??= new ReplayedResponse(this.#stamp.runId, this.#agent, input, this.#contentType)
    return this.#response
  }

  #event(frame: ProviderEventFrame, snapshot: LoopSnapshot): Difference | null {
    const isFirst = this.#response?.hasEvents !== true
    if (isFirst && this.#isWhole && !this.#read().hasBegun && dataBytes(frame).length > 0) {
      return { field: 'type', expected: 'response_first_byte', actual: frame.type }
    }
    const [first, ...rest] = this.#isWhole ? this.#read().event(frame, this.#isCutOff(frame)) : [frame]
    if (!this.#isWhole) this.#read().hasEvents = true
    if (first === undefined) return { field: 'type', expected: null, actual: frame.type }
    if (isFirst) this.#open(snapshot)
    this.#expected.push(...rest.map(losable))
    return frameDifference(first, frame, null)
  }

  #open(snapshot: LoopSnapshot): void {
    const event: LoopPathEvent = { type: 'stream.opened' }
    const { entered, snapshot: opened } = loopFold().next(snapshot, event)
    this.#unopened = snapshot.state
    this.#snapshot = opened
    for (const { state, turn } of entered) {
      this.#expected.push(losable(stateEnteredFrame(this.#stamp, state, event.type, turn)))
    }
  }

  /**
   * Half an event at the end of a body is the connection's doing, half an event before it the provider's: what the
   * response was found to be tells them apart.
   */
  #isCutOff(frame: ProviderEventFrame): boolean {
    if (frame.status !== 'invalid_json') return false
    const key = attemptKey(frame)
    const settled = this.#survey.settled.get(key)
    return this.#survey.lastEvents.get(key) === frame.seq && settled?.error?.code !== 'malformed_event'
  }

  #settle(frame: ResponseSettledFrame): Difference | null {
    const input = this.#asked()
    if (input === null || this.#agent === null) return { field: 'type', expected: null, actual: frame.type }
    const { turn, attempt } = input
    if (!this.#isWhole) return frameDifference({ ...frame, turn, attempt }, frame, ['turn', 'attempt'])
    const announced = this.#announced
    if (announced === null) throw new Error('a response was awaited without a request')
    const assembled = this.#response?.end() ?? null
    const expected = expectedSettled(frame, { agent: this.#agent, input, announced, assembled })
    return frameDifference(expected, frame, null)
  }

  #endCall(frame: ToolEndedFrame | ToolFailedFrame): Difference | null {
    const { slot, outcome, error, exit_code: exitCode } = frame
    const started = slot === null ? undefined : this.#pending.get(`tool.${slot}`)
    if (started?.effect !== 'runTool') return { field: 'slot', expected: 'a call that runs', actual: slot }
    if (!this.#isWhole) return null
    const expected = {
      type: outcome === 'ok' ? 'tool_ended' : 'tool_failed',
      call_id: started.input.call.callId,
      exit_code: outcome === 'ok' ? 0 : exitCode,
      error: outcome === 'ok' ? null : (error ?? 'why it failed'),
    }
    return frameDifference(expected, frame, null)
  }

  #endEffect({ id, value, in_doubt: isInDoubt, error }: EffectSettledFrame): Difference | null {
    const started = this.#pending.get(id)
    if (started === undefined) return { field: 'id', expected: [...this.#pending.keys()], actual: id }
    const isEmpty = started.effect === 'timer' || isInDoubt || error !== null
    return (
      (isEmpty ? firstDifference(null, value, 'value') : null) ??
      (isInDoubt ? firstDifference(null, error, 'error') : null)
    )
  }

  #answer(frame: CommandReceivedFrame, snapshot: LoopSnapshot): Difference | null {
    const event = decisionOf({ ...frame, answer: { answer: 'accepted' } })
    const command = event === null ? null : commandOf(event)
    if (command === null) return { field: 'command', expected: 'a command', actual: frame.command }
    return firstDifference(can(snapshot, command), frame.answer, 'answer')
  }

  #ofCall(callId: unknown): Difference | null {
    const running = [...this.#pending.values()].flatMap((started) => {
      if (started.effect === 'compact') return [COMPACT_CALL]
      return started.effect === 'runTool' ? [started.input.call.callId] : []
    })
    return running.some((one) => one === callId)
      ? null
      : { field: 'call_id', expected: running, actual: callId }
  }

  #warning({ cause, figures }: Extract<Frame, { type: 'warning' }>): Difference | null {
    if (cause === 'late_result') return null
    if (cause === UNTOUCHED || cause === IN_DOUBT) return this.#ofCall(figures['call_id'])
    const compaction = this.#pending.get('compact')
    if (cause === COMPACTION_REFUSED)
      return compaction === undefined ? { field: 'cause', expected: null, actual: cause } : null
    if (cause !== 'error_body') return { field: 'cause', expected: null, actual: cause }
    const input = compaction?.effect === 'compact' ? compaction.input : this.#asked()
    const expected = { turn: input?.turn, attempt: input?.attempt, body: figures['body'] }
    return firstDifference(expected, figures, 'figures')
  }
}

const NOTHING_KNOWN = { fingerprint: '', plans: [], encodings: {} }

function commandOf(event: LoopPathEvent): LoopCommand | null {
  switch (event.type) {
    case 'run.cancel':
    case 'run.steer':
    case 'call.approve':
    case 'call.deny':
    case 'call.reconcile':
      return event
    default:
      return null
  }
}
