import type { Frame } from '../../src/frames/generated/frame.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import { answeredIn } from '../../src/testing/invariants.ts'
import { framesOf } from '../scripted-model.ts'
import type { SimulatedRun } from './simulate.ts'

/** What a run did that no run may do, whatever happened to it: a line each. */
export function checkRun(run: SimulatedRun): readonly string[] {
  const { frames } = run
  return [
    ...checkNumbers(frames),
    ...checkCalls(frames),
    ...checkAnswers(frames),
    ...checkLimits(frames),
    ...checkExecutions(run),
  ]
}

function checkNumbers(frames: readonly Frame[]): readonly string[] {
  const broken: string[] = []
  if (frames.some(({ seq }, at) => seq !== at)) broken.push('frames are not numbered from 0 without a gap')
  if (frames.some(({ ts }, at) => ts < (frames[at - 1]?.ts ?? 0))) broken.push('time goes back')
  if (framesOf(frames, 'run_ended').length !== 1) broken.push('there is not exactly one run_ended')
  if (frames.at(-1)?.type !== 'run_ended') broken.push('run_ended is not the last frame')
  return broken
}

/** Each call is of a response that completed, and is started once an attempt and ended once. Ids may come again. */
function checkCalls(frames: readonly Frame[]): readonly string[] {
  const broken: string[] = []
  let calls: readonly string[] = []
  let started = new Set<string>()
  let ended: string[] = []
  for (const frame of frames) {
    if (frame.type === 'response_settled' && frame.status !== 'failed') {
      calls = frame.items.map(callIdOf)
      started = new Set()
      ended = []
    } else if (frame.type === 'tool_started') {
      const key = `${frame.slot}, attempt ${frame.attempt}`
      if (!calls.includes(frame.call_id)) broken.push(`frame ${frame.seq}: a call that no response has`)
      if (ended.includes(`${frame.slot}`)) broken.push(`frame ${frame.seq}: a call that had ended runs again`)
      if (started.has(key)) broken.push(`frame ${frame.seq}: call ${key} starts twice`)
      started.add(key)
    } else if (frame.type === 'tool_ended' || frame.type === 'tool_failed') {
      if (frame.slot !== null) ended.push(`${frame.slot}`)
      ended.push(frame.call_id)
      const [made, times] = [calls, ended].map((ids) => ids.filter((id) => id === frame.call_id).length)
      if ((times ?? 0) > (made ?? 0)) broken.push(`frame ${frame.seq}: call ${frame.call_id} ends twice`)
    }
  }
  return broken
}

/** The next request answers each call of a response exactly once, in output order. */
function checkAnswers(frames: readonly Frame[]): readonly string[] {
  const broken: string[] = []
  let wanted: readonly string[] = []
  let turn = 0
  for (const frame of frames) {
    if (frame.type === 'history_compacted') wanted = []
    if (frame.type === 'response_settled' && frame.status !== 'failed') {
      wanted = [...new Set(frame.items.filter(({ type }) => type === 'function_call').map(callIdOf))]
      turn = frame.turn
    }
    if (frame.type !== 'request_sent' || frame.turn !== turn + 1 || wanted.length === 0) continue
    const given = answeredIn(frame.body).slice(-wanted.length)
    // An id that was used before is sent under another name.
    const isRight = wanted.every((id, at) => given[at] === id || /^call_[0-9a-f]{32}$/u.test(given[at] ?? ''))
    if (!isRight) broken.push(`frame ${frame.seq} answers [${given.join()}] of [${wanted.join()}]`)
  }
  return broken
}

function checkLimits(frames: readonly Frame[]): readonly string[] {
  const [start] = framesOf(frames, 'run_started')
  if (start === undefined) return ['the run did not start']
  const { turns, toolCalls } = start.limits
  const { retriesMax, fallbackModes } = start.settings
  const requests = framesOf(frames, 'request_sent')
  const broken: string[] = []
  const started = framesOf(frames, 'tool_started').filter(({ attempt }) => attempt === 0).length
  if (started > Number(toolCalls))
    broken.push(`${started} calls ran, ${JSON.stringify(toolCalls)} are allowed`)
  const asked = new Set(requests.filter(({ kind }) => kind !== 'wrap_up').map(({ turn }) => turn)).size
  if (asked > Number(turns)) broken.push(`${asked} turns, ${JSON.stringify(turns)} are allowed`)
  const models = 1 + (Array.isArray(fallbackModes) ? fallbackModes.length : 0)
  const resumed = framesOf(frames, 'run_resumed').length
  // A request that is sent in another way, since the provider could not go on from a response, has all its attempts.
  const anew = framesOf(frames, 'continuity_switched').length + framesOf(frames, 'cursor_updated').length
  const attemptsMax = (models + anew) * (1 + Number(retriesMax)) + resumed
  for (const { seq, attempt } of requests) {
    if (attempt >= attemptsMax)
      broken.push(`frame ${seq}: attempt ${attempt}, less than ${attemptsMax} are allowed`)
  }
  return broken
}

/** The world's own record: what has ended never runs again, and what may not be repeated is not. */
function checkExecutions({ frames, executions }: SimulatedRun): readonly string[] {
  const broken: string[] = []
  const times = new Map<string, number>()
  const reruns = framesOf(frames, 'command_received').filter(
    ({ command, answer }) => command['as'] === 'rerun' && answer['answer'] === 'accepted',
  ).length
  for (const { name, key, at } of executions) {
    times.set(key, (times.get(key) ?? 0) + 1)
    const slot = Number(key.split('/').at(-1))
    const since = frames.slice(0, at).findLastIndex(({ type }) => type === 'response_settled')
    const hasEnded = frames
      .slice(since, at)
      .some((frame) => (frame.type === 'tool_ended' || frame.type === 'tool_failed') && frame.slot === slot)
    if (hasEnded) broken.push(`${key} runs after it has ended`)
    const hasStarted = frames
      .slice(since, at)
      .some((frame) => frame.type === 'tool_started' && frame.slot === slot)
    if (!hasStarted) broken.push(`${key} runs before the log says so`)
    if (!REPEATABLE.has(name) && (times.get(key) ?? 0) > 1 + reruns)
      broken.push(`${key}, ${name}, is repeated`)
  }
  return broken
}

const REPEATABLE: ReadonlySet<string> = new Set(['read', 'put', 'chatty'])

function callIdOf({ call_id: callId }: JsonObject): string {
  return typeof callId === 'string' ? callId : ''
}
