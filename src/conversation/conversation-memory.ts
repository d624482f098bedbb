import { addUsage } from '../../machines/call.rules.ts'
import { NO_USAGE } from '../../machines/loop.rules.ts'
import type { TokenUsage } from '../../machines/loop.types.ts'
import { LoopchartError } from '../errors.ts'
import type { ConversationEntryFrame, ConversationRunEndedFrame, Frame } from '../frames/generated/frame.ts'
import type {
  Checkpoint,
  ConversationEntry,
  ConversationSource,
} from '../history/context-bundle/conversation-source.ts'
import { COMPACTION_REFUSED } from '../loop/compact.ts'
import { isUsage } from '../loop/usage.ts'
import type { InputPart } from '../loop/run-input.ts'
import type { JsonObject } from '../protocol/json.ts'
import { entryParts, parseEntry } from './entry-frame.ts'

/** A place in the provider's own memory: a cache, never needed to go on. */
export interface ProviderCursor {
  readonly endpoint: string
  readonly model: string
  readonly responseId: string
  /** How many entries the conversation had there: with any other number it is a place in something else. */
  readonly entries: number
  /** Of the agent that got there. */
  readonly fingerprint: string
}

/** A run that was begun for a message and of which no end is known. */
export interface OpenRun {
  readonly runId: string
  readonly messageSeq: number
  /** How many entries there were when it began. */
  readonly entriesBefore: number
}

/** What a model said about calls that had become old, and about which. */
export interface ToolSummary {
  readonly key: string
  readonly text: string
}

/** All that a conversation knows: the fold of its log, frame by frame. */
export class ConversationMemory implements ConversationSource {
  usage: TokenUsage = NO_USAGE
  /** In the currency of the prices; what was used without prices is not in it. */
  cost = 0
  runs = 0
  /** Messages of the user. */
  messages = 0
  cursor: ProviderCursor | null = null
  openRun: OpenRun | null = null
  /** The provider has refused calls of earlier runs as items. */
  hasFallenBack = false
  toolSummary: ToolSummary | null = null
  /** Up to which entry a summary was tried last, and came to nothing; -1: none was. */
  refusedTo = -1
  /** How often a run was begun for each message. */
  readonly #attempts = new Map<number, number>()
  readonly #entries: ConversationEntry[] = []
  readonly #checkpoints: Checkpoint[] = []
  readonly #parts = new Map<number, readonly InputPart[]>()
  #id = ''

  get threadId(): string {
    return this.#id
  }

  get length(): number {
    return this.#entries.length
  }

  get entries(): readonly ConversationEntry[] {
    return this.#entries
  }

  entry(seq: number): ConversationEntry {
    const entry = this.#entries[seq]
    if (entry === undefined) throw new LoopchartError('usage', `the conversation has no entry ${seq}`)
    return entry
  }

  checkpoints(): readonly Checkpoint[] {
    return this.#checkpoints
  }

  /** The parts of a message that is more than text. */
  partsOf(messageSeq: number): readonly InputPart[] | null {
    return this.#parts.get(messageSeq) ?? null
  }

  /** Names the next run for a message: the same for the same log, unless something else has that name. */
  nextRunId(messageSeq: number, isTaken: (runId: string) => boolean): string {
    for (let attempt = (this.#attempts.get(messageSeq) ?? 0) + 1; ; attempt += 1) {
      const runId = `${this.#id}.${messageSeq}${attempt === 1 ? '' : `-${attempt}`}`
      if (!isTaken(runId)) return runId
    }
  }

  /** Takes the next frame of the log. */
  apply(frame: Frame): void {
    switch (frame.type) {
      case 'conversation_started':
        this.#id = frame.run_id
        break
      case 'conversation_entry':
        this.#add(frame)
        break
      case 'conversation_run_started': {
        const { child_run_id: runId, message_seq: messageSeq } = frame
        this.openRun = { runId, messageSeq, entriesBefore: this.length }
        this.#attempts.set(messageSeq, (this.#attempts.get(messageSeq) ?? 0) + 1)
        this.runs += 1
        break
      }
      case 'conversation_run_ended':
        this.#end(frame)
        break
      case 'cursor_updated':
        this.cursor = cursorOf(frame.figures)
        break
      case 'tool_history_switched':
        this.hasFallenBack = true
        break
      case 'history_summarized':
        this.toolSummary = summaryOf(frame.figures)
        this.#use(frame.figures)
        break
      case 'history_compacted':
        this.#use(frame.figures)
        break
      case 'warning':
        if (frame.cause === COMPACTION_REFUSED) this.#refuse(frame.figures)
        break
      default:
    }
  }

  #add({ entry_seq: seq, entry: json }: ConversationEntryFrame): void {
    if (seq !== this.#entries.length) {
      throw new LoopchartError('log_corrupt', `entry ${this.#entries.length} of the conversation is missing`)
    }
    const entry = parseEntry(seq, json)
    this.#entries.push(entry)
    if (entry.type === 'checkpoint') this.#checkpoints.push(entry)
    if (entry.type !== 'message') return
    if (entry.role === 'user') this.messages += 1
    const parts = entryParts(json)
    if (parts !== null) this.#parts.set(seq, parts)
  }

  #end({ usage, cost }: ConversationRunEndedFrame): void {
    this.openRun = null
    this.#use({ usage, cost })
  }

  #refuse(figures: JsonObject): void {
    const { to_seq: toSeq } = figures
    if (typeof toSeq === 'number') this.refusedTo = toSeq
    this.#use(figures)
  }

  /** Adds up what was used, and what it cost at the time. */
  #use({ usage, cost }: JsonObject): void {
    if (isUsage(usage)) this.usage = addUsage(this.usage, usage)
    if (typeof cost === 'number') this.cost += cost
  }
}

function cursorOf(figures: JsonObject): ProviderCursor | null {
  const { endpoint, model, previous_response_id: responseId, entries, fingerprint } = figures
  if (typeof endpoint !== 'string' || typeof model !== 'string' || typeof responseId !== 'string') return null
  if (typeof entries !== 'number' || typeof fingerprint !== 'string') return null
  return { endpoint, model, responseId, entries, fingerprint }
}

function summaryOf({ key, text }: JsonObject): ToolSummary | null {
  return typeof key === 'string' && typeof text === 'string' ? { key, text } : null
}
