import type { CallEnd, CallQuestion, CallRecord, CallReply } from './call-records.ts'
import { countSeen, lastSeen } from './seen-records.ts'

/** Where a call stands: what it waits for, or the outcome that it has. */
type CallState = 'proposed' | 'asked' | 'approved' | 'denied' | 'running' | 'in_doubt' | 'ended'

/** A call as it stood at a frame. */
export interface CallView {
  readonly call: CallRecord
  readonly state: CallState
  /** Null before its end. */
  readonly end: CallEnd | null
  readonly questions: readonly CallQuestion[]
  readonly replies: readonly CallReply[]
  readonly children: CallRecord['children']
  /** How often it was started. */
  readonly starts: number
  readonly startedTs: number | null
  readonly stdoutLength: number
  readonly stderrLength: number
}

/** A call as it stood at a frame; binary searches only. */
export function callAt(call: CallRecord, at: number): CallView {
  const start = lastSeen(call.starts, at)
  const end = call.end !== null && call.end.seq <= at ? call.end : null
  return {
    call,
    state: stateAt(call, at),
    end,
    questions: call.questions.slice(0, countSeen(call.questions, at)),
    replies: call.replies.slice(0, countSeen(call.replies, at)),
    children: call.children.slice(0, countSeen(call.children, at)),
    starts: countSeen(call.starts, at),
    startedTs: start?.ts ?? null,
    stdoutLength: call.stdout.lengthAt(at),
    stderrLength: call.stderr.lengthAt(at),
  }
}

function stateAt(call: CallRecord, at: number): CallState {
  if (call.end !== null && call.end.seq <= at) return 'ended'
  const started = lastSeen(call.starts, at)?.seq ?? -1
  const doubted = call.doubts.findLast(({ seq, path }) => seq <= at && path.length === 1)?.seq ?? -1
  if (doubted > started) return 'in_doubt'
  if (started >= 0) return 'running'
  const asked = lastSeen(call.questions, at)
  if (asked === null) return 'proposed'
  return answered(call, asked.seq, at) ?? 'asked'
}

function answered({ replies }: CallRecord, since: number, at: number): 'approved' | 'denied' | null {
  const taken = replies.find(({ seq, answer }) => seq > since && seq <= at && answer !== 'refused')
  if (taken === undefined || taken.command === 'call.reconcile') return null
  return taken.command === 'call.approve' ? 'approved' : 'denied'
}

/** The questions about calls that were open at a frame, and the calls in doubt: what a person can do something about. */
export function openQuestions(calls: readonly CallRecord[], at: number): readonly CallQuestion[] {
  return calls.slice(0, countSeen(calls, at)).flatMap((call) => openAbout(call, at))
}

function openAbout(call: CallRecord, at: number): readonly CallQuestion[] {
  const state = stateAt(call, at)
  if (state === 'ended') return []
  const seen = call.questions.slice(0, countSeen(call.questions, at))
  // Whether one further in was answered is in the log of its own run: as long as the call runs, it may be open. Asked
  // again, it is the later question that counts.
  const inner = seen.filter(({ path }) => path.length > 1)
  const latest = new Map(inner.map((question) => [question.path.join('/'), question]))
  const own = state === 'asked' ? seen.filter(({ path }) => path.length === 1).slice(-1) : []
  return [...own, ...latest.values()]
}

/** Calls of which nobody knew at a frame how they ended, each as a path of ids. */
export function callsInDoubt(calls: readonly CallRecord[], at: number): readonly (readonly string[])[] {
  return calls
    .slice(0, countSeen(calls, at))
    .filter((call) => call.end === null || call.end.seq > at)
    .flatMap((call) => {
      const doubts = call.doubts.filter(({ seq, path }) => seq <= at && path.length > 1)
      const inner = new Map(doubts.map(({ path }) => [path.join('/'), path]))
      return [...(stateAt(call, at) === 'in_doubt' ? [[call.callId]] : []), ...inner.values()]
    })
}
