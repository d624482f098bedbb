import { randomUUID } from 'node:crypto'

import { timeText } from '../clock.ts'
import { LoopchartError } from '../errors.ts'
import { FrameStamp } from '../frames/frame-stamp.ts'
import type { ConversationStartedFrame, Frame } from '../frames/generated/frame.ts'
import { makeFrame } from '../frames/make-frame.ts'
import { MemoryJournal } from '../journal/memory-journal.ts'
import type { RunJournal, RunStore, TakenRun } from '../journal/run-store.ts'
import { RunLockedError } from '../journal/store-error.ts'
import type { Agent } from '../loop/agent.ts'
import { plain } from '../loop/decisions.ts'
import type { EffectIo } from '../loop/effect.ts'
import type { InputPart } from '../loop/run-input.ts'
import type { JsonObject } from '../protocol/json.ts'
import { ConversationMemory } from './conversation-memory.ts'
import { entryJson, type NewEntry } from './entry-frame.ts'

/** Makes the frames of one step, with the stamp that they need. */
export type MakeFrames = (stamp: FrameStamp) => readonly Frame[]

/** The log of a conversation, and what it knows: one is the fold of the other. */
export class ConversationLog {
  readonly memory = new ConversationMemory()
  readonly #journal: RunJournal
  readonly #stamp: FrameStamp
  readonly #seen: Frame[] = []
  #failure: unknown = null

  constructor(id: string, journal: RunJournal, agent: Agent, past: readonly Frame[]) {
    this.#journal = journal
    this.#stamp = new FrameStamp(id, () => agent.clock.now(), past.at(-1))
    for (const frame of past) this.memory.apply(frame)
  }

  /** Whether it could not be written: nothing further is taken then. */
  get hasFailed(): boolean {
    return this.#failure !== null
  }

  /** Takes the frames of one step into the log, all or none. Rejects when it cannot be written. */
  async record(make: MakeFrames): Promise<void> {
    if (this.#failure !== null) throw this.#failure
    this.#stamp.tick()
    const made = make(this.#stamp)
    // What was seen has its numbers already, and goes first.
    const seen = this.#seen.splice(0)
    if (seen.length + made.length === 0) return
    for (const frame of made) this.memory.apply(frame)
    try {
      await this.#journal.commit([...seen, ...made])
    } catch (error) {
      this.#failure = error
      throw error
    }
  }

  /** Has frames go before those of the next step. */
  see(make: MakeFrames): void {
    const frames = make(this.#stamp)
    for (const frame of frames) this.memory.apply(frame)
    this.#seen.push(...frames)
  }

  /** Does work whose frames are seen in the log, whatever comes of it. */
  async observed<T>(signal: AbortSignal, work: (io: EffectIo) => Promise<T>): Promise<T> {
    try {
      return await work({
        runId: this.#stamp.runId,
        signal,
        stamp: this.#stamp,
        isWanted: () => !signal.aborted,
        observe: (frame) => this.see(() => [frame]),
        opened: () => undefined,
        suspend: () => undefined,
      })
    } finally {
      await this.record(() => [])
    }
  }

  frames(from = 0): AsyncIterable<Frame> {
    return this.#journal.log.read(from)
  }

  close(): Promise<void> {
    return this.#journal.close()
  }
}

/** What a new conversation begins with. */
export interface Beginning {
  readonly from: ConversationStartedFrame['from']
  readonly entries: readonly JsonObject[]
  /** The provider has refused calls of earlier runs as items. */
  readonly hasFallenBack: boolean
}

const NOTHING: Beginning = { from: null, entries: [], hasFallenBack: false }

export interface OpenLogOptions {
  readonly agent: Agent
  readonly store: RunStore | null
  readonly id: string | undefined
  readonly settings: JsonObject
}

/** A log that was opened, and what has to be written to it before anything else. */
export interface OpenedLog {
  readonly id: string
  readonly log: ConversationLog
  readonly written: Promise<void>
}

/**
 * Opens the log of a conversation, and begins one where there is none of that id. Throws `run_locked`, with who has it
 * open, and `usage` when the id is that of a run.
 */
export function openLog(options: OpenLogOptions): OpenedLog {
  const { agent, store, id } = options
  const taken = store === null || id === undefined ? null : takeUp(store, id, agent)
  if (taken === null || id === undefined) return beginLog(options, NOTHING)
  const [first] = taken.frames
  if (first?.type !== 'conversation_started') {
    void taken.journal.close()
    throw new LoopchartError('usage', `${id} is a run, not a conversation`)
  }
  return { id, log: openTaken(id, taken, agent), written: Promise.resolve() }
}

/** Begins the log of a new conversation, with entries of another if it comes from one. Throws `run_exists`. */
export function beginLog(
  { agent, store, id = randomUUID(), settings }: OpenLogOptions,
  { from, entries, hasFallenBack }: Beginning,
): OpenedLog {
  const journal = createJournal(store, id, agent)
  const log = new ConversationLog(id, journal, agent, [])
  const begin: MakeFrames = (stamp) => [
    makeFrame(stamp, 'conversation_started', {
      agent: plain(agent.description) ?? {},
      model: agent.models.map(({ name }) => name).join(', '),
      settings,
      from,
    }),
    ...entries.map((entry, at) => makeFrame(stamp, 'conversation_entry', { entry_seq: at, entry })),
    ...(hasFallenBack
      ? [
          makeFrame(stamp, 'tool_history_switched', {
            cause: 'copied',
            figures: { from: 'native', to: 'text-embed' },
          }),
        ]
      : []),
  ]
  // One in which nothing is ever said leaves nothing behind.
  if (from === null) log.see(begin)
  const written = from === null ? Promise.resolve() : log.record(begin)
  // Whoever waits for it hears of it; until then, that it failed is not an unhandled rejection.
  written.catch(() => undefined)
  return { id, log, written }
}

function createJournal(store: RunStore | null, id: string, agent: Agent): RunJournal {
  if (store === null) return new MemoryJournal(agent.clock)
  try {
    return store.create(id, agent.clock)
  } catch (error) {
    if (!(error instanceof LoopchartError) || error.code !== 'run_exists') throw error
    // Somebody has begun it and said nothing yet, or it is the id of something else by now.
    throw new LoopchartError('run_exists', `there is a conversation or a run ${id} already`, { cause: error })
  }
}

function openTaken(id: string, { journal, frames }: TakenRun, agent: Agent): ConversationLog {
  try {
    return new ConversationLog(id, journal, agent, frames)
  } catch (error) {
    void journal.close()
    throw error
  }
}

function takeUp(store: RunStore, id: string, agent: Agent): TakenRun | null {
  try {
    return store.take(id, agent.clock)
  } catch (error) {
    if (error instanceof LoopchartError && error.code === 'run_unknown') return null
    if (error instanceof RunLockedError) {
      const { pid, host, since } = error.owner
      const when = timeText(since)
      throw new LoopchartError(
        'run_locked',
        `conversation ${id} is open in process ${pid} on ${host} since ${when}`,
        { cause: error },
      )
    }
    throw error
  }
}

/** The frame of a new entry. */
export function entryFrame(
  stamp: FrameStamp,
  seq: number,
  entry: NewEntry,
  parts: readonly InputPart[] | null = null,
): Frame {
  return makeFrame(stamp, 'conversation_entry', { entry_seq: seq, entry: entryJson(entry, parts) })
}
