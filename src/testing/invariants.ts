import type { Frame } from '../frames/generated/frame.ts'
import { isJsonObject, parseJson, type JsonObject } from '../protocol/json.ts'

/** Something that no run may do, and that one did. */
export interface Violation {
  /** Which run: a path, or a cell of the matrix. */
  readonly where: string
  readonly rule: Rule
  readonly detail: string
}

/** What holds for every run, whatever happens to it. */
export const RULES = {
  one_end: 'a log has exactly one run_ended, and it is the last frame',
  named_end: 'a run ends in done, limitExceeded, failed or cancelled',
  in_sequence: 'frames are numbered from 0 without a gap',
  settled_first: 'no tool starts before the response that calls it has completed',
  started_once: 'no attempt at a call starts twice',
  ended_once: 'a call ends at most once',
  answered_in_order: 'the next request answers each call of a response exactly once, in output order',
  in_time: 'everything that was started ends in time',
} as const

export type Rule = keyof typeof RULES

const ENDS: ReadonlySet<string> = new Set(['done', 'limitExceeded', 'failed', 'cancelled'])

/** Holds the log of a run that has ended against the rules. */
export function checkFrames(where: string, frames: readonly Frame[]): readonly Violation[] {
  const broken: Violation[] = []
  const note = (rule: Rule, detail: string): void => void broken.push({ where, rule, detail })
  checkEnd(frames, note)
  checkCalls(frames, note)
  checkAnswers(frames, note)
  return broken
}

type Note = (rule: Rule, detail: string) => void

function checkEnd(frames: readonly Frame[], note: Note): void {
  const ends = frames.filter(({ type }) => type === 'run_ended')
  const last = frames.at(-1)
  if (ends.length !== 1) note('one_end', `there are ${ends.length}`)
  if (last?.type !== 'run_ended') note('one_end', `the last frame is ${last?.type ?? 'missing'}`)
  else if (!ENDS.has(last.state)) note('named_end', last.state)
  const gap = frames.findIndex(({ seq }, at) => seq !== at)
  if (gap !== -1) note('in_sequence', `frame ${gap} has the number ${frames[gap]?.seq}`)
}

function checkCalls(frames: readonly Frame[], note: Note): void {
  const callable = new Set<string>()
  const started = new Set<string>()
  const ended = new Set<string>()
  for (const frame of frames) {
    switch (frame.type) {
      case 'response_settled':
        if (frame.status === 'completed') for (const item of frame.items) callable.add(callIdOf(item))
        break
      case 'tool_started': {
        const key = `${frame.call_id}, attempt ${frame.attempt}`
        if (!callable.has(frame.call_id)) note('settled_first', `${frame.name} ${key}`)
        if (started.has(key)) note('started_once', `${frame.name} ${key}`)
        started.add(key)
        break
      }
      case 'tool_ended':
      case 'tool_failed':
        // A second call of one id is told to be that at once; the first one still ends on its own.
        if (frame.outcome === 'duplicate') break
        if (ended.has(frame.call_id)) note('ended_once', frame.call_id)
        ended.add(frame.call_id)
        break
      default:
        break
    }
  }
}

/** Item types other than calls have their id instead: a tool may claim them. */
function callIdOf({ call_id: callId, id }: JsonObject): string {
  const name = callId ?? id
  return typeof name === 'string' ? name : ''
}

function checkAnswers(frames: readonly Frame[], note: Note): void {
  let open: readonly string[] = []
  let isCompacted = false
  let turn = 0
  for (const frame of frames) {
    if (frame.type === 'history_compacted') isCompacted = true
    if (frame.type === 'response_settled' && frame.status !== 'failed') {
      open = frame.items.filter(({ type }) => type === 'function_call').map(callIdOf)
      isCompacted = false
      turn = frame.turn
    }
    if (frame.type !== 'request_sent' || frame.turn !== turn + 1 || isCompacted) continue
    const wanted = [...new Set(open)]
    const given = answeredIn(frame.body).filter((callId) => wanted.includes(callId))
    if (given.join() !== wanted.join()) {
      note('answered_in_order', `turn ${frame.turn} answers [${given.join(', ')}] of [${wanted.join(', ')}]`)
    }
  }
}

/** The calls that a request answers, in order. */
export function answeredIn(text: string): readonly string[] {
  const body = parseJson(text)
  const input = isJsonObject(body) ? body['input'] : null
  if (!Array.isArray(input)) return []
  return input
    .filter(isJsonObject)
    .filter(({ type }) => type === 'function_call_output')
    .map(callIdOf)
}
