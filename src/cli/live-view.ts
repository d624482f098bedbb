import { NO_USAGE } from '../../machines/loop.rules.ts'
import type {
  Frame,
  RunEndedFrame,
  ToolEndedFrame,
  ToolFailedFrame,
  ToolStartedFrame,
} from '../frames/generated/frame.ts'
import { isUsage } from '../loop/usage.ts'
import type { AnyItem } from '../protocol/items.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { outputText } from '../protocol/output-text.ts'
import { columnAfter } from './cursor-column.ts'
import { describeCompaction } from './describe-compaction.ts'
import { describeTokens } from './describe-usage.ts'
import { countOf, durationOf, RunFigures } from './run-figures.ts'
import type { RunView } from './run-view.ts'
import { oneLine, readableText, shorten } from './safe-text.ts'
import { StatusLine } from './status-line.ts'
import type { Style, Terminal } from './terminal.ts'

const ARGUMENTS_MAX = 80
const CAUSE_MAX = 200

export interface LiveViewOptions {
  /** Takes what the model says. */
  readonly answer: Terminal
  /** Takes everything else; may be the same. */
  readonly progress: Terminal
  /** Somebody else puts the questions to the user, with what they are about. */
  readonly isAsking?: boolean
  /** `answer`: nothing of states, and of the ending only what is not as it should be. `full` when left out. */
  readonly detail?: 'full' | 'answer' | undefined
}

/** A run for people: text as it comes, a line for each call and each turn, a summary, on a terminal a status line. */
export class LiveView implements RunView {
  readonly #answer: Terminal
  readonly #progress: Terminal
  readonly #isAsking: boolean
  readonly #isFull: boolean
  readonly #figures = new RunFigures()
  readonly #names = new Map<string, KnownCall>()
  readonly #status: StatusLine | null
  #path: string[] = []
  #pathTurn = 0
  #column = 0
  #hasText = false

  constructor({ answer, progress, isAsking = false, detail = 'full' }: LiveViewOptions) {
    this.#answer = answer
    this.#isFull = detail === 'full'
    this.#isAsking = isAsking
    this.#progress = progress
    this.#status = progress.isLive
      ? new StatusLine(progress, () => (this.#isAtMargin() ? null : this.#statusText()))
      : null
  }

  frame(frame: Frame): void {
    this.#figures.take(frame)
    this.#show(frame)
    this.#status?.draw()
  }

  past(frame: Frame): void {
    this.#figures.take(frame)
    if (frame.type === 'tool_started') this.#remember(frame)
    if (frame.type === 'response_settled') for (const item of frame.items) this.#rememberItem(item)
  }

  close(): void {
    this.#endLine()
    this.#status?.close()
  }

  #show(frame: Frame): void {
    switch (frame.type) {
      case 'run_started':
        if (!this.#isFull) return
        return this.#line('dim', `model ${oneLine(frame.model)}, tools ${toolNames(frame.agent)}`)
      case 'state_entered':
        return this.#pathTo(frame.state, frame.turn)
      case 'request_sent':
        this.#hasText = false
        return
      case 'output_text_delta':
      case 'refusal_delta':
        this.#hasText = true
        return this.#text(frame.delta)
      case 'response_settled':
        // A response that was not streamed has no deltas.
        if (!this.#hasText) this.#text(outputText(frame.items.flatMap(itemOf)))
        for (const item of frame.items) this.#rememberItem(item)
        return this.#endLine()
      case 'run_resumed':
        return this.#line('dim', `resumed in turn ${this.#figures.turn}, ${this.#figures.state}`)
      case 'tool_started':
        return this.#remember(frame)
      case 'tool_ended':
      case 'tool_failed':
        return this.#call(frame)
      case 'retry_scheduled': {
        const inMs = Number(frame.figures['retry_at']) - frame.ts
        return this.#line('yellow', `sent again in ${durationOf(Math.max(inMs, 0))}: ${brief(frame.cause)}`)
      }
      case 'limit_reached': {
        const { used, allowed } = frame.figures
        return this.#line('yellow', `limit reached: ${frame.cause}, ${Number(used)} of ${Number(allowed)}`)
      }
      case 'warning':
        // What a provider said with an error is in the line that tells of the error.
        if (frame.cause === 'error_body') return
        return this.#line('yellow', `warning: ${brief(frame.cause)}`)
      case 'continuity_switched':
      case 'provider_switched':
        return this.#line('yellow', `${frame.type.replaceAll('_', ' ')}: ${brief(frame.cause)}`)
      case 'history_compacted':
        return this.#line('yellow', describeCompaction(frame))
      case 'cursor_updated':
        if (frame.cause !== 'cleared') return
        return this.#line('yellow', 'the provider does not have the earlier part any more: it is sent again')
      case 'approval_requested':
        if (this.#isAsking) return this.#endLine()
        return this.#line('yellow', `needs approval: ${shorten(oneLine(frame.shown), SHOWN_MAX)}`)
      case 'run_ended':
        return this.#summary(frame)
      default:
    }
  }

  #text(text: string): void {
    if (text === '') return
    const shown = readableText(text)
    this.#answer.stream.write(shown)
    this.#column = columnAfter(this.#column, shown, this.#columns)
  }

  /** One line of the states that a turn went through, once it is over. */
  #pathTo(state: string, turn: number): void {
    const name = state.split('.').at(-1) ?? state
    if (this.#path.length === 0) this.#pathTurn = turn
    // One call after the other goes through these again and again.
    if (!REPEATED.has(name) || !this.#path.includes(name)) this.#path.push(name)
    if (!TURN_ENDS.has(name)) return
    if (this.#isFull) this.#line('dim', `turn ${this.#pathTurn}: ${this.#path.join(' > ')}`)
    this.#path = []
  }

  #remember({ call_id: callId, name, arguments: given, ts }: ToolStartedFrame): void {
    this.#names.set(callId, { name, shown: `${name} ${given}`, startMs: ts })
  }

  /** Calls that are refused never start. */
  #rememberItem({ call_id: callId, name, arguments: given }: JsonObject): void {
    if (typeof callId !== 'string' || typeof name !== 'string') return
    this.#names.set(callId, {
      name,
      shown: `${name} ${typeof given === 'string' ? given : ''}`,
      startMs: null,
    })
  }

  #call(frame: ToolEndedFrame | ToolFailedFrame): void {
    const call = this.#names.get(frame.call_id)
    const shown = shorten(oneLine(call?.shown ?? frame.call_id), ARGUMENTS_MAX)
    const isOk = frame.outcome === 'ok'
    const why = frame.error === null ? '' : `: ${brief(frame.error.message)}`
    const outcome = this.#progress.paint(isOk ? 'green' : 'red', frame.outcome)
    const spent = spentOn(frame, call)
    this.#line(null, `  ${shown} -> ${outcome}${spent === null ? '' : `, ${durationOf(spent)}`}${why}`)
  }

  #summary({ state, reason, usage, ts, unanswered_calls: unanswered }: RunEndedFrame): void {
    if (!this.#isFull && state === 'done') return
    const { turn, calls, startMs } = this.#figures
    const spent = describeTokens(isUsage(usage) ? usage : NO_USAGE)
    const figures = [countOf(turn, 'turn'), countOf(calls, 'call'), spent, durationOf(ts - startMs)]
    const ending = reason === state ? state : `${state} (${oneLine(reason)})`
    const style = state === 'done' ? 'green' : state === 'failed' ? 'red' : 'yellow'
    this.#line(null, `${this.#progress.paint(style, ending)}: ${figures.join(', ')}`)
    if (unanswered.length > 0)
      this.#line('yellow', `calls without an answer: ${oneLine(unanswered.join(', '))}`)
  }

  #line(style: Style | null, text: string): void {
    this.#endLine()
    const { stream, paint } = this.#progress
    stream.write(`${style === null ? text : paint(style, text)}\n`)
  }

  #endLine(): void {
    if (this.#column > 0) this.#answer.stream.write('\n')
    this.#column = 0
  }

  // Not every terminal remembers, when the cursor comes back to a full row, that the next character begins another one.
  #isAtMargin(): boolean {
    return this.#column >= this.#columns
  }

  get #columns(): number {
    const { columns }: { readonly columns?: number } = this.#answer.stream
    return columns ?? Number.POSITIVE_INFINITY
  }

  #statusText(): string {
    const { state, turn, tokens, startMs, running } = this.#figures
    const [first] = running.values()
    const doing = first === undefined ? '' : ` ${shorten(oneLine(first.name), 40)}`
    const elapsedMs = startMs === 0 ? 0 : Math.max(Date.now() - startMs, 0)
    const elapsed = elapsedMs < 60_000 ? `${(elapsedMs / 1000).toFixed(1)} s` : durationOf(elapsedMs)
    return `[${state}${doing}] turn ${turn}, ${countOf(tokens, 'token')}, ${elapsed}`
  }
}

interface KnownCall {
  readonly name: string
  readonly shown: string
  /** When it was started; null: it was not. */
  readonly startMs: number | null
}

/** How long a call took; null: it never ran. */
function spentOn(
  { duration_ms, outcome, ts }: ToolEndedFrame | ToolFailedFrame,
  call?: KnownCall,
): number | null {
  if (duration_ms > 0) return duration_ms
  const startMs = call?.startMs ?? null
  if (startMs === null) return null
  // One that was given up did not come to an end by itself: its frame is written when the chart lets go of it.
  return outcome === 'cancelled' ? ts - startMs : duration_ms
}

const SHOWN_MAX = 2000
const TURN_ENDS: ReadonlySet<string> = new Set([
  'followingUp',
  'done',
  'limitExceeded',
  'failed',
  'cancelled',
])
const REPEATED: ReadonlySet<string> = new Set(['choosing', 'running'])

function itemOf(item: JsonObject): readonly AnyItem[] {
  const { type } = item
  return typeof type === 'string' ? [{ ...item, type }] : []
}

function brief(text: string): string {
  return shorten(oneLine(text), CAUSE_MAX)
}

/** The tools that the first model is told of, which are those of the others too. */
function toolNames({ plans }: JsonObject): string {
  const plan: unknown = Array.isArray(plans) ? plans[0] : undefined
  const definitions = isJsonObject(plan) ? plan['definitions'] : undefined
  const names = Array.isArray(definitions)
    ? definitions.flatMap((definition: unknown) =>
        isJsonObject(definition) && typeof definition['name'] === 'string' ? [definition['name']] : [],
      )
    : []
  return names.length === 0 ? 'none' : oneLine(names.join(', '))
}
