import type { Frame } from '../frames/generated/frame.ts'
import { isDecision } from '../loop/decisions.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'

/** One step of a run: what moved it, where it went, what it asked of a model. */
export interface Transition {
  /** The frame of the decision. */
  readonly seq: number
  /** What moved it, in a word. */
  readonly by: string
  /** What was decided, without times; ids by their place in the run. */
  readonly decision: Json
  readonly states: readonly string[]
  /** The bodies sent; ids by their place in the run. */
  readonly requests: readonly string[]
}

/** The transitions of a run, from its start on. Commands that were refused moved nothing and are none. */
export function runTransitions(frames: Iterable<Frame>): readonly Transition[] {
  const names = new IdNames()
  const transitions: { -readonly [Key in keyof Transition]: Transition[Key] }[] = []
  for (const frame of frames) {
    if (frame.type === 'response_settled') names.learn(frame)
    const current = transitions.at(-1)
    if (frame.type === 'run_started' || isDecision(frame)) {
      const decision = names.replaceIn(decisionOf(frame))
      transitions.push({ seq: frame.seq, by: nameOf(frame), decision, states: [], requests: [] })
    } else if (frame.type === 'state_entered' && frame.by !== 'stream.opened' && current !== undefined) {
      current.states = [...current.states, frame.state]
    } else if (frame.type === 'request_sent' && current !== undefined) {
      current.requests = [...current.requests, names.replaceInText(frame.body)]
    }
  }
  return transitions
}

function nameOf(frame: Frame): string {
  switch (frame.type) {
    case 'command_received':
      return typeof frame.command['type'] === 'string' ? frame.command['type'] : 'a command'
    case 'tool_ended':
    case 'tool_failed':
      return `the end of call ${frame.slot}`
    case 'response_settled':
      return frame.attempt === 0
        ? `response ${frame.turn}`
        : `response ${frame.turn}, attempt ${frame.attempt + 1}`
    case 'effect_settled':
      return frame.in_doubt ? `the loss of ${frame.id}` : frame.id
    default:
      return 'the start'
  }
}

/** What counts of a decision when two runs are held side by side. */
function decisionOf(frame: Frame): Json {
  switch (frame.type) {
    case 'run_started': {
      const { input, agent, model, limits, settings } = frame
      return { input, agent, model, limits, settings }
    }
    case 'response_settled': {
      const { turn, attempt, status, items, usage, error } = frame
      return { turn, attempt, status, items, usage, error: plain(error) }
    }
    case 'tool_ended':
    case 'tool_failed': {
      const { slot, outcome, output } = frame
      return { slot, outcome, output }
    }
    case 'command_received':
      return frame.command
    case 'effect_settled': {
      const { id, value, in_doubt: isInDoubt, error } = frame
      return { id, value, in_doubt: isInDoubt, error: plain(error) }
    }
    default:
      return null
  }
}

function plain(error: { readonly code: string; readonly message: string } | null): Json {
  return error === null ? null : { code: error.code, message: error.message }
}

/** The ids of a run, each under a name that says when it came. */
class IdNames {
  readonly #names = new Map<string, string>()

  learn({ response_id: responseId, items }: Extract<Frame, { type: 'response_settled' }>): void {
    this.#add(responseId, 'response')
    for (const { id, call_id: callId } of items) {
      this.#add(id, 'item')
      this.#add(callId, 'call')
    }
  }

  replaceIn(value: Json): Json {
    if (typeof value === 'string') return this.#names.get(value) ?? value
    if (Array.isArray(value)) return value.map((one: Json) => this.replaceIn(one))
    return isJsonObject(value) ? this.#replaceFields(value) : value
  }

  replaceInText(json: string): string {
    // Ids stand in a body as they are, or with the name of what refers to them before: output_<id of the call>.
    return json.replaceAll(
      /"(output_)?([^"\\]{1,200})"/gu,
      (whole, prefix: string | undefined, text: string) => {
        const name =
          this.#names.get(text) ?? (prefix === undefined ? undefined : this.#names.get(`${prefix}${text}`))
        return name === undefined ? whole : `"${prefix ?? ''}${name}"`
      },
    )
  }

  #replaceFields(fields: JsonObject): JsonObject {
    return Object.fromEntries(
      Object.entries(fields).map(([key, value]) => [key, this.replaceIn(value ?? null)]),
    )
  }

  #add(id: Json | undefined, kind: string): void {
    if (typeof id !== 'string' || id === '' || this.#names.has(id)) return
    this.#names.set(id, `<${kind} ${this.#names.size + 1}>`)
  }
}
