import type { Frame } from '../../frames/generated/frame.ts'
import { isJsonObject, type Json, type JsonObject } from '../../protocol/json.ts'

/** What a token may do, as `GET /access` says it. */
export interface Access {
  readonly scopes: readonly string[]
  /** The runs it is bound to; null for all. */
  readonly runs: readonly string[] | null
  readonly agents: readonly string[]
  readonly version: string
}

/** One row of `GET /runs`. */
export interface RunRow {
  readonly runId: string
  readonly kind: string
  readonly state: string
  readonly status: string
  readonly turn: number
  readonly model: string
  readonly agent: string | null
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly updatedAt: number
  readonly frames: number
  readonly needs: string | null
}

/** One page of `GET /runs`. */
export interface RunPage {
  readonly runs: readonly RunRow[]
  /** What to give as `before` for the next page; null after the last. */
  readonly next: string | null
}

/** `GET /runs/:id`. */
export interface RunSummary {
  readonly runId: string
  readonly state: string
  readonly status: string
  readonly turn: number
  readonly model: string
  readonly agent: string | null
  /** Types of the commands that would be taken now. */
  readonly can: readonly string[]
  readonly usage: JsonObject | null
  readonly limits: JsonObject | null
  readonly calls: readonly {
    readonly callId: string
    readonly name: string
    readonly outcome: string | null
  }[]
  readonly lastSeq: number
  readonly suspension: JsonObject | null
}

/** A page of frames as JSON. */
export interface FramePage {
  readonly frames: readonly Frame[]
  readonly lastSeq: number
  readonly isEnded: boolean
}

/** What the service answered to a command that it took. */
export interface CommandAnswer {
  readonly answer: string
  readonly reason: string | null
  readonly state: string
}

/** `GET /diff`. */
export interface RunDiff {
  readonly isSame: boolean
  readonly text: string
  /** Where the runs part, in each of them; null when they do not. */
  readonly at: { readonly a: number | null; readonly b: number | null } | null
  readonly part: string | null
  /** The step of the runs at which they part, counted from 0; null when they do not. */
  readonly transition: number | null
}

/** Reads `GET /access`. */
export function parseAccess(value: unknown): Access {
  const answer = objectOf(value)
  return {
    scopes: textsOf(answer['scopes']),
    runs: answer['runs'] === null || answer['runs'] === undefined ? null : textsOf(answer['runs']),
    agents: textsOf(answer['agents']),
    version: textOf(answer['version']),
  }
}

/** Reads `GET /runs`. */
export function parseRunPage(value: unknown): RunPage {
  const answer = objectOf(value)
  return {
    runs: listOf(answer['runs']).map((row) => parseRunRow(objectOf(row))),
    next: wordOf(answer['next']),
  }
}

function parseRunRow(row: JsonObject): RunRow {
  return {
    runId: textOf(row['run_id']),
    kind: textOf(row['kind']),
    state: textOf(row['state']),
    status: textOf(row['status']),
    turn: numberOf(row['turn']),
    model: textOf(row['model']),
    agent: wordOf(row['agent']),
    startedAt: timeOf(row['started_at']),
    updatedAt: timeOf(row['updated_at']),
    frames: numberOf(row['frames']),
    needs: wordOf(row['needs']),
  }
}

/** Reads `GET /runs/:id`. */
export function parseRunSummary(value: unknown): RunSummary {
  const answer = objectOf(value)
  return {
    runId: textOf(answer['run_id']),
    state: textOf(answer['state']),
    status: textOf(answer['status']),
    turn: numberOf(answer['turn']),
    model: textOf(answer['model']),
    agent: wordOf(answer['agent']),
    can: textsOf(answer['can']),
    usage: maybeObject(answer['usage']),
    limits: maybeObject(answer['limits']),
    calls: listOf(answer['calls'])
      .map(objectOf)
      .map((call) => ({
        callId: textOf(call['call_id']),
        name: textOf(call['name']),
        outcome: wordOf(call['outcome']),
      })),
    lastSeq: numberOf(answer['last_seq']),
    suspension: maybeObject(answer['suspension']),
  }
}

/** Reads a page of frames. */
export function parseFramePage(value: unknown): FramePage {
  const answer = objectOf(value)
  const frames: unknown = answer['frames']
  return {
    frames: Array.isArray(frames) ? frames.filter(isFrame) : [],
    lastSeq: numberOf(answer['last_seq']),
    isEnded: answer['is_ended'] === true,
  }
}

/** Reads the answer to a command. */
export function parseCommandAnswer(value: unknown): CommandAnswer {
  const answer = objectOf(value)
  return {
    answer: textOf(answer['answer']),
    reason: wordOf(answer['reason']),
    state: textOf(answer['state']),
  }
}

/** Reads `GET /diff`. */
export function parseRunDiff(value: unknown): RunDiff {
  const answer = objectOf(value)
  const at = maybeObject(answer['at'])
  return {
    isSame: answer['is_same'] === true,
    text: textOf(answer['text']),
    at: at === null ? null : { a: seqOf(at['a']), b: seqOf(at['b']) },
    part: wordOf(answer['part']),
    transition: seqOf(answer['transition']),
  }
}

/** Whether a value has what every frame has. The service has checked the rest when it was written. */
export function isFrame(value: unknown): value is Frame {
  return (
    isJsonObject(value) &&
    typeof value['seq'] === 'number' &&
    typeof value['ts'] === 'number' &&
    typeof value['type'] === 'string'
  )
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

function maybeObject(value: Json | undefined): JsonObject | null {
  return isJsonObject(value) ? value : null
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : []
}

function textsOf(value: Json | undefined): readonly string[] {
  return listOf(value).filter((entry) => typeof entry === 'string')
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

function wordOf(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null
}

function numberOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0
}

function seqOf(value: Json | undefined): number | null {
  return typeof value === 'number' ? value : null
}

/** Milliseconds since 1970, from a number or from an ISO time. */
function timeOf(value: Json | undefined): number {
  if (typeof value === 'number') return value
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? 0 : ms
}
