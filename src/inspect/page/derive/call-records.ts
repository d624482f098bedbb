import type { JsonObject } from '../../../protocol/json.ts'
import { JoinedText } from './joined-text.ts'
import { fieldsOf, listIn, numberIn, objectIn, textIn, textsIn } from './json-fields.ts'
import { jsonText } from './json-text.ts'

/** A question that somebody was asked about a call, or about one further in. */
export interface CallQuestion {
  readonly seq: number
  /** Ids from the call of this run inwards. */
  readonly path: readonly string[]
  readonly argumentsHash: string
  readonly shown: string
  readonly reason: string
  readonly isEachTime: boolean
}

/** What somebody said about a call. */
export interface CallReply {
  readonly seq: number
  /** `call.approve`, `call.deny` or `call.reconcile`. */
  readonly command: string
  /** A reason, or what a reconciled call is said to have done. */
  readonly said: string
  readonly remember: string | null
  readonly answer: string
  readonly refusal: string | null
}

/** How a call ended. */
export interface CallEnd {
  readonly seq: number
  readonly outcome: string
  readonly exitCode: number | null
  readonly durationMs: number
  readonly error: { readonly code: string; readonly message: string } | null
  /** For the model: text, or its parts as JSON text. */
  readonly output: string
  readonly artifacts: number
}

/** One call of a run, with everything that happened to it in the order of the log. */
export interface CallRecord {
  readonly seq: number
  /** Its place among all calls of the run. */
  readonly index: number
  readonly turn: number
  readonly callId: string
  readonly name: string
  readonly arguments: string
  readonly slot: number | null
  readonly disposition: string
  /** Why somebody has to agree, as the response had it; null: nobody need be asked, or the log does not say. */
  readonly approval: string | null
  readonly starts: readonly { readonly seq: number; readonly ts: number; readonly attempt: number }[]
  readonly questions: readonly CallQuestion[]
  readonly replies: readonly CallReply[]
  readonly children: readonly { readonly seq: number; readonly runId: string }[]
  /** Frames that say that nobody knows how it ended. */
  readonly doubts: readonly { readonly seq: number; readonly path: readonly string[] }[]
  readonly stdout: JoinedText
  readonly stderr: JoinedText
  readonly end: CallEnd | null
}

interface OpenRecord extends CallRecord {
  readonly starts: { seq: number; ts: number; attempt: number }[]
  readonly questions: CallQuestion[]
  readonly replies: CallReply[]
  readonly children: { seq: number; runId: string }[]
  readonly doubts: { seq: number; path: readonly string[] }[]
  end: CallEnd | null
}

// More calls than one response has, as agents are bounded.
const OPEN_MAX = 128

/** The calls of a run in the order in which they were made. */
export class CallRecords {
  readonly #all: OpenRecord[] = []
  readonly #byId = new Map<string, OpenRecord[]>()
  readonly #counted: number[] = []
  #turn = 0

  get all(): readonly CallRecord[] {
    return this.#all
  }

  /** Frames at which a call was first run or asked about: those are what a limit of calls counts. */
  get counted(): readonly number[] {
    return this.#counted
  }

  /** Takes a frame in. */
  add(seq: number, type: string, fields: JsonObject, turn: number): void {
    this.#turn = turn
    switch (type) {
      case 'response_settled':
        for (const call of proposedCalls(fields)) this.#make(seq, call)
        break
      case 'approval_requested':
        this.#ask(seq, fields)
        break
      case 'command_received':
        this.#reply(seq, fields)
        break
      case 'tool_started':
        this.#start(seq, fields)
        break
      case 'child_started':
        this.#latestOf(seq, fields).children.push({ seq, runId: textIn(fields, 'child_run_id') ?? '' })
        break
      case 'tool_stdout':
        this.#latestOf(seq, fields).stdout.add(seq, textIn(fields, 'chunk') ?? '')
        break
      case 'tool_stderr':
        this.#latestOf(seq, fields).stderr.add(seq, textIn(fields, 'chunk') ?? '')
        break
      case 'tool_ended':
      case 'tool_failed':
        this.#endedOf(seq, fields).end ??= endOf(seq, fields)
        break
      case 'effect_settled':
      case 'warning':
        this.#doubt(seq, type, fields)
        break
      default:
    }
  }

  #make(seq: number, call: JsonObject): OpenRecord {
    const callId = textIn(call, 'callId') ?? textIn(call, 'call_id') ?? ''
    const facts = fieldsOf(call['facts'])
    const record: OpenRecord = {
      seq,
      index: this.#all.length,
      turn: this.#turn,
      callId,
      name: textIn(call, 'name') ?? '',
      arguments: argumentsOf(call),
      slot: numberIn(call, 'slot'),
      disposition: textIn(call, 'disposition') ?? 'ready',
      approval: textIn(fieldsOf(facts['approval']), 'reason'),
      starts: [],
      questions: [],
      replies: [],
      children: [],
      doubts: [],
      stdout: new JoinedText(),
      stderr: new JoinedText(),
      end: null,
    }
    this.#all.push(record)
    const others = this.#byId.get(callId)
    if (others === undefined) this.#byId.set(callId, [record])
    else {
      others.push(record)
      // Only calls of the latest response are ever meant; a log that repeats one id for ever must not slow its reader.
      if (others.length > 2 * OPEN_MAX) others.splice(0, OPEN_MAX)
    }
    return record
  }

  /** The calls of an id, or a new one for a log that begins in the middle or leaves something out. */
  #of(seq: number, callId: string, fields: JsonObject): OpenRecord[] {
    return this.#byId.get(callId) ?? [this.#make(seq, { ...fields, callId })]
  }

  #start(seq: number, fields: JsonObject): void {
    const record = this.#startedOf(seq, fields)
    this.#count(seq, record)
    const ts = numberIn(fields, 'ts') ?? 0
    record.starts.push({ seq, ts, attempt: numberIn(fields, 'attempt') ?? 0 })
  }

  #count(seq: number, { starts, questions }: OpenRecord): void {
    if (starts.length + questions.length === 0) this.#counted.push(seq)
  }

  #latestOf(seq: number, fields: JsonObject): OpenRecord {
    const records = this.#of(seq, textIn(fields, 'call_id') ?? '', fields)
    return records.findLast(({ starts }) => starts.length > 0) ?? lastOf(records)
  }

  #startedOf(seq: number, fields: JsonObject): OpenRecord {
    const records = this.#of(seq, textIn(fields, 'call_id') ?? '', fields)
    const slot = numberIn(fields, 'slot')
    return records.findLast((record) => record.slot === slot) ?? lastOf(records)
  }

  // A response may have two calls of one id: the second is settled as a duplicate, and never runs.
  #endedOf(seq: number, fields: JsonObject): OpenRecord {
    const slot = numberIn(fields, 'slot')
    if (slot !== null) return this.#startedOf(seq, fields)
    const records = this.#of(seq, textIn(fields, 'call_id') ?? '', fields)
    const isDuplicate = fields['outcome'] === 'duplicate'
    const open = records.filter(({ end }) => end === null)
    const meant = open.find(({ disposition }) => (disposition === 'duplicate') === isDuplicate)
    return meant ?? open[0] ?? lastOf(records)
  }

  #ask(seq: number, fields: JsonObject): void {
    const callId = textIn(fields, 'call_id') ?? ''
    const given = textsIn(fields, 'path')
    const path = given.length === 0 ? [callId] : given
    const records = this.#of(seq, path[0] ?? callId, { name: fields['name'] })
    const record =
      records.find(({ end, disposition }) => end === null && disposition !== 'duplicate') ?? lastOf(records)
    this.#count(seq, record)
    record.questions.push({
      seq,
      path,
      argumentsHash: textIn(fields, 'arguments_hash') ?? '',
      shown: textIn(fields, 'shown') ?? '',
      reason: textIn(fields, 'reason') ?? '',
      isEachTime: fields['each_time'] === true,
    })
  }

  #reply(seq: number, fields: JsonObject): void {
    const command = fieldsOf(fields['command'])
    const answer = fieldsOf(fields['answer'])
    const [type, callId] = [textIn(command, 'type') ?? '', textIn(command, 'callId')]
    const records = callId === null ? undefined : this.#byId.get(callId)
    if (!type.startsWith('call.') || records === undefined) return
    const record = records.find(({ end, disposition }) => end === null && disposition !== 'duplicate')
    const reply = {
      seq,
      command: type,
      said: textIn(command, 'reason') ?? textIn(command, 'as') ?? '',
      remember: textIn(command, 'remember'),
      answer: textIn(answer, 'answer') ?? 'unknown',
      refusal: textIn(answer, 'reason'),
    }
    ;(record ?? lastOf(records)).replies.push(reply)
  }

  /** A call that was at work when the process died; or one further in, of which the log of this run is told. */
  #doubt(seq: number, type: string, fields: JsonObject): void {
    if (type === 'warning') {
      if (fields['cause'] !== 'call_in_doubt') return
      const path = textsIn(fieldsOf(fields['figures']), 'path')
      const records = this.#byId.get(path[0] ?? '')
      if (records !== undefined) lastOf(records).doubts.push({ seq, path })
      return
    }
    const id = textIn(fields, 'id') ?? ''
    if (fields['in_doubt'] !== true || !id.startsWith('tool.')) return
    const slot = Number(id.slice('tool.'.length))
    const record = this.#all
      .slice(-OPEN_MAX)
      .findLast((one) => one.slot === slot && one.starts.length > 0 && one.end === null)
    record?.doubts.push({ seq, path: [record.callId] })
  }
}

function lastOf(records: OpenRecord[]): OpenRecord {
  const last = records.at(-1)
  if (last === undefined) throw new Error('an id has calls as soon as it is known')
  return last
}

/** The calls of a response as the chart was told of them; where a log does not say, those among its items. */
function proposedCalls(fields: JsonObject): readonly JsonObject[] {
  const decision = fieldsOf(fields['decision'])
  if (decision['ok'] === false) return []
  const response = objectIn(decision, 'response')
  if (response !== null && Array.isArray(response['calls'])) return listIn(response, 'calls').map(fieldsOf)
  if (fields['status'] === 'failed') return []
  return listIn(fields, 'items')
    .map(fieldsOf)
    .filter(({ type }) => type === 'function_call')
}

function argumentsOf(call: JsonObject): string {
  const value = call['arguments']
  if (typeof value === 'string') return value
  return value === undefined ? '' : jsonText(value)
}

function endOf(seq: number, fields: JsonObject): CallEnd {
  const error = objectIn(fields, 'error')
  const output = fields['output']
  return {
    seq,
    outcome: textIn(fields, 'outcome') ?? 'unknown',
    exitCode: numberIn(fields, 'exit_code'),
    durationMs: numberIn(fields, 'duration_ms') ?? 0,
    error:
      error === null ? null : { code: textIn(error, 'code') ?? '', message: textIn(error, 'message') ?? '' },
    output: typeof output === 'string' ? output : output === undefined ? '' : jsonText(output),
    artifacts: listIn(fields, 'artifacts').length,
  }
}
