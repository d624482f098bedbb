import { LoopchartError } from '../errors.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { makeFrame } from '../frames/make-frame.ts'
import type { ConversationEntry } from '../history/context-bundle/conversation-source.ts'
import type { Agent } from '../loop/agent.ts'
import { startRun, type Run } from '../loop/run.ts'
import type { InputPart } from '../loop/run-input.ts'
import { answerMessage, followRun, runForMessage, type Answering, type NewMessage } from './answer-message.ts'
import { compactConversation, compactionDue } from './compact-conversation.ts'
import { ContextSize } from './context-size.ts'
import type {
  CompactionResult,
  CompactionWay,
  Conversation,
  ConversationOptions,
  ConversationTurn,
  ConversationUsage,
  ForkConversationOptions,
  TurnReceipt,
  TurnResult,
} from './conversation-api.ts'
import { beginLog, openLog, type OpenedLog } from './conversation-log.ts'
import type { ConversationParts } from './conversation-parts.ts'
import { readSettings, settingsJson, type ConversationSettings } from './conversation-settings.ts'
import { endFrames } from './end-frames.ts'
import { endedRun } from './ended-run.ts'
import { entryJson } from './entry-frame.ts'
import { HeldStore } from './held-store.ts'
import { LiveTurn } from './live-turn.ts'
import { parseMessage } from './parse-message.ts'
import { readOpenRun } from './read-open-run.ts'
import {
  CLOSED,
  NOT_KEPT,
  NOTHING_OPEN,
  QUEUE_FULL,
  refused,
  stateRefusal,
  STORE_FAILED,
  TAKEN_BACK,
  WAITING_MAX,
  type Refusal,
} from './turn-refusal.ts'

/**
 * Opens a conversation, or begins one. Each message is answered by a run of its own, which is told what the conversation
 * holds. Throws `usage` for options that mean nothing, `run_locked` when another process has it open.
 */
export function conversation(agent: Agent, options: ConversationOptions = {}): Conversation {
  const settings = readSettings(agent, options)
  checkId(options.id)
  const held = new HeldStore(options.store)
  try {
    const opened = openLog({ agent, store: held.store, id: options.id, settings: settingsJson(settings) })
    return new LiveConversation(agent, options, { settings, held, opened })
  } catch (error) {
    held.release()
    throw error
  }
}

interface OpenedConversation {
  readonly settings: ConversationSettings
  readonly held: HeldStore
  readonly opened: OpenedLog
}

class LiveConversation implements Conversation {
  readonly id: string
  readonly agent: Agent
  readonly #options: ConversationOptions
  readonly #parts: ConversationParts
  readonly #held: HeldStore
  /** What is under way, and what waits for it. */
  #queue: Promise<void>
  #waiting = 0
  #running: Run | null = null
  readonly #closing = new AbortController()
  #closed: Promise<void> | null = null
  /** The log of a run that was let go of and that no store has. */
  #unkept: readonly Frame[] = []

  constructor(agent: Agent, options: ConversationOptions, { settings, held, opened }: OpenedConversation) {
    this.id = opened.id
    this.agent = agent
    this.#options = options
    this.#held = held
    const size = new ContextSize(settings.countTokens)
    this.#parts = { id: opened.id, agent, settings, store: held.store, log: opened.log, size }
    this.#queue = this.#catchUp(opened.written)
    this.#queue.catch(() => undefined)
  }

  get state(): Conversation['state'] {
    if (this.#waiting > 0) return 'running'
    return this.openRun === null ? 'idle' : 'open'
  }

  get openRun(): string | null {
    return this.#waiting > 0 ? null : (this.#parts.log.memory.openRun?.runId ?? null)
  }

  get usage(): ConversationUsage {
    const { usage, cost, messages, runs } = this.#parts.log.memory
    return { ...usage, cost: this.#parts.settings.prices === null ? null : cost, messages, runs }
  }

  get entries(): readonly ConversationEntry[] {
    return this.#parts.log.memory.entries
  }

  frames(from = 0): AsyncIterable<Frame> {
    return this.#parts.log.frames(from)
  }

  send(
    message: string | readonly InputPart[],
    { signal }: { readonly signal?: AbortSignal } = {},
  ): ConversationTurn {
    const { actorId, origin } = this.#parts.settings
    const parsed = parseMessage(message, { actorId, origin })
    signal?.throwIfAborted()
    // What a run that is under way leaves behind is known when it is this message's turn.
    const now = this.#waiting === 0 ? this.#refusal() : this.#brokenRefusal()
    return this.#enqueue(signal, now, async (answering) => {
      const refusal = this.#refusal()
      return refusal === null ? this.#answer(answering, parsed) : refused(refusal)
    })
  }

  resume({ signal }: { readonly signal?: AbortSignal } = {}): ConversationTurn {
    signal?.throwIfAborted()
    const isOpen = this.#waiting > 0 || this.#parts.log.memory.openRun !== null
    const refusal: Refusal | null = isOpen ? this.#brokenRefusal() : NOTHING_OPEN
    return this.#enqueue(signal, refusal, (answering) => this.#resumeOpen(answering))
  }

  abandon(): Promise<boolean> {
    return this.#exclusively(async () => {
      const { log, store } = this.#parts
      const { openRun } = log.memory
      if (openRun === null || this.#closing.signal.aborted) return false
      // Nobody else may be driving it.
      const frames = store === null ? this.#unkept : readOpenRun(this.#parts, openRun, 'take')
      await log.record((stamp) => endFrames(stamp, this.#parts, { run: openRun, frames: frames ?? [] }))
      return true
    })
  }

  compact({
    way = this.#parts.settings.compaction.way,
  }: { readonly way?: CompactionWay } = {}): Promise<CompactionResult> {
    return this.#exclusively(async () => {
      const broken = this.#brokenRefusal()
      if (broken !== null) return { status: 'refused', reason: broken.message }
      if (this.#parts.log.memory.openRun !== null) {
        return { status: 'refused', reason: 'a run of this conversation has not ended' }
      }
      return compactConversation(this.#parts, 'asked', way, this.#closing.signal)
    })
  }

  fork(options: ForkConversationOptions = {}): Promise<Conversation> {
    return this.#copy(this.agent, options, 'fork', null)
  }

  async handoff(
    agent: Agent,
    { note, ...options }: ForkConversationOptions & { readonly note?: string } = {},
  ): Promise<Conversation> {
    if (note !== undefined && (typeof note !== 'string' || note === '')) {
      throw new LoopchartError('usage', 'note must be a text that is not empty')
    }
    const next = await this.#copy(agent, options, 'handoff', note ?? null)
    const model = agent.models.map(({ name }) => name).join(', ')
    try {
      // Not in the queue: a tool of the run that is under way may be what hands off.
      await this.#parts.log.record((stamp) => [makeFrame(stamp, 'handed_off', { to: next.id, model })])
    } catch (error) {
      await next.close()
      throw error
    }
    return next
  }

  close(): Promise<void> {
    this.#closed ??= this.#finish()
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #finish(): Promise<void> {
    this.#closing.abort()
    try {
      if (this.#running !== null) await this.#letGo(this.#running)
      await this.#queue.catch(nothing)
      await this.#parts.log.close()
    } finally {
      this.#held.release()
    }
  }

  /** A run that another process saw to its end while nobody had the conversation open is taken in first. */
  async #catchUp(written: Promise<void>): Promise<void> {
    const { log, store } = this.#parts
    const { openRun } = log.memory
    // At once, so that nobody sees a run as open that is not.
    const frames = openRun === null || store === null ? null : readOpenRun(this.#parts, openRun, 'read')
    if (openRun !== null && frames?.at(-1)?.type === 'run_ended') {
      await log.record((stamp) => endFrames(stamp, this.#parts, { run: openRun, frames }))
    }
    await written
  }

  async #answer(answering: Answering, message: NewMessage): Promise<TurnResult> {
    const { compaction } = this.#parts.settings
    const due = compactionDue(this.#parts)
    if (due !== null) await compactConversation(this.#parts, due, compaction.way, answering.signal)
    // Writing a summary takes time, and tokens.
    const refusal = answering.turn.signal.aborted ? TAKEN_BACK : this.#refusal()
    if (refusal !== null) return refused(refusal)
    return this.#followed(answering, () => answerMessage(this.#parts, answering, message))
  }

  async #resumeOpen(answering: Answering): Promise<TurnResult> {
    const { log, store, agent } = this.#parts
    const { openRun } = log.memory
    if (openRun === null) return refused(NOTHING_OPEN)
    if (store === null) return refused(NOT_KEPT)
    const { runId, messageSeq } = openRun
    const known = readOpenRun(this.#parts, openRun, 'read')
    if (known?.at(-1)?.type === 'run_ended') {
      // Somebody else has seen it to its end.
      await log.record((stamp) => endFrames(stamp, this.#parts, { run: openRun, frames: known }))
      return endedRun(known)
    }
    if (known !== null) {
      return this.#followed(answering, () =>
        followRun(this.#parts, answering, startRun(agent, { resume: runId }, { store })),
      )
    }
    await log.record((stamp) => endFrames(stamp, this.#parts, { run: openRun, frames: [] }))
    return this.#followed(answering, () => runForMessage(this.#parts, answering, messageSeq))
  }

  /** Knows the run while it is at work, so that closing lets go of it. */
  async #followed({ turn }: Answering, work: () => Promise<TurnResult>): Promise<TurnResult> {
    const watch = async (): Promise<void> => {
      for await (const run of turn.runs()) {
        this.#running = run
        if (this.#closing.signal.aborted) void this.#letGo(run)
      }
    }
    void watch()
    try {
      const result = await work()
      if (result.status === 'suspended' && this.#running !== null) await this.#keep(this.#running)
      return result
    } finally {
      this.#running = null
    }
  }

  async #letGo(run: Run): Promise<void> {
    const isKept = this.#parts.store !== null
    // Whoever waits for the run hears when that failed.
    await (isKept ? run.suspend() : run.cancel('the conversation was closed')).then(nothing, nothing)
  }

  /** Without a store, this is all that is left of a run that was let go of. */
  async #keep(run: Run): Promise<void> {
    if (this.#parts.store !== null) return
    const frames: Frame[] = []
    for await (const frame of run.frames()) frames.push(frame)
    this.#unkept = frames
  }

  #enqueue(
    signal: AbortSignal | undefined,
    refusal: Refusal | null,
    work: (answering: Answering) => Promise<TurnResult>,
  ): LiveTurn {
    const ahead = this.#waiting
    const full = refusal ?? (ahead >= WAITING_MAX ? QUEUE_FULL : null)
    const turn = new LiveTurn(
      full === null ? taken(ahead) : { answer: 'refused', reason: full.message, ahead },
    )
    if (full !== null) {
      turn.refuse(full.reason, full.message)
      return turn
    }
    const onAbort = (): void => void turn.cancel('aborted')
    signal?.addEventListener('abort', onAbort, { once: true })
    const done = this.#exclusively(async (): Promise<TurnResult> => {
      if (this.#closing.signal.aborted) return refused(CLOSED)
      if (turn.signal.aborted) return refused(TAKEN_BACK)
      const signals = AbortSignal.any([turn.signal, this.#closing.signal])
      return guarded(() => work({ turn, signal: signals }))
    })
    void done
      .then(
        (result) => turn.settle(result),
        (error: unknown) => turn.fail(error),
      )
      .finally(() => signal?.removeEventListener('abort', onAbort))
    return turn
  }

  /** Runs work when all that was asked for before is done. */
  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting += 1
    const result = this.#queue.then(work).finally(() => {
      this.#waiting -= 1
    })
    this.#queue = result.then(nothing, nothing)
    return result
  }

  /** Why a message cannot be taken now; null: it can. */
  #refusal(): Refusal | null {
    return this.#brokenRefusal() ?? stateRefusal(this.#parts)
  }

  #brokenRefusal(): Refusal | null {
    if (this.#closing.signal.aborted) return CLOSED
    return this.#parts.log.hasFailed ? STORE_FAILED : null
  }

  async #copy(
    agent: Agent,
    { at, id }: ForkConversationOptions,
    kind: 'fork' | 'handoff',
    note: string | null,
  ): Promise<Conversation> {
    const { store, log } = this.#parts
    const { id: _, ...options } = this.#options
    if (this.#closing.signal.aborted) throw new LoopchartError('usage', CLOSED.message)
    checkId(id)
    const settings = readSettings(agent, options)
    const last = at ?? log.memory.length - 1
    if (!Number.isInteger(last) || last < -1 || last >= log.memory.length) {
      throw new LoopchartError('usage', `the conversation has no entry ${last}`)
    }
    const copied = log.memory.entries.slice(0, last + 1)
    const told = note === null ? [] : [entryJson({ type: 'message', role: 'developer', text: note })]
    const held = this.#held.hold()
    try {
      const opened = beginLog(
        { agent, store, id, settings: settingsJson(settings) },
        {
          from: { conversation_id: this.id, entry_seq: last, kind },
          entries: [...copied.map((entry) => entryJson(entry, log.memory.partsOf(entry.seq))), ...told],
          hasFallenBack: kind === 'fork' && log.memory.hasFallenBack,
        },
      )
      await opened.written.catch(async (error: unknown) => {
        await opened.log.close().catch(nothing)
        throw error
      })
      return new LiveConversation(agent, options, { settings, held, opened })
    } catch (error) {
      held.release()
      throw error
    }
  }
}

function checkId(id: unknown): void {
  if (id === undefined || (typeof id === 'string' && id !== '')) return
  throw new LoopchartError('usage', 'the id of a conversation must be a text that is not empty')
}

/** A memory that cannot be put together is why a message is refused; anything else that is thrown is no answer. */
async function guarded(work: () => Promise<TurnResult>): Promise<TurnResult> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof LoopchartError) || error.code !== 'context_compile_failed') throw error
    return refused({ reason: 'context_compile_failed', message: error.message })
  }
}

function taken(ahead: number): TurnReceipt {
  return { answer: ahead === 0 ? 'accepted' : 'queued', reason: null, ahead }
}

function nothing(): void {
  // Whoever asked for the work hears what became of it.
}
