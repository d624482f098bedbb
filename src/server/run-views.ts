import { explain, type Explanation } from '../chart/explain.ts'
import { loopFold } from '../chart/loop-fold.ts'
import type { LoopSnapshot } from '../chart/loop-snapshot.ts'
import type { Clock } from '../clock.ts'
import { LoopchartError } from '../errors.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { RunStore, StoredRun } from '../journal/run-store.ts'
import { digest } from '../loop/decisions.ts'
import { LogFold } from '../loop/log-fold.ts'
import { summariseCalls, type CallSummary } from '../loop/restore-run.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { RunFeed } from './run-feed.ts'
import type { RunRegistry } from './run-registry.ts'
import { statusOf } from './run-status.ts'

const VIEWS_MAX = 64
const TAKE_FRAMES = 1_000
const TAKE_CHARS = 1024 * 1024

interface RunViewsOptions {
  readonly store: RunStore
  readonly registry: RunRegistry
  readonly clock: Clock
}

/** What is to be said of single runs: their logs, folded as far as they go. Those looked at last are kept. */
export class RunViews {
  readonly #store: RunStore
  readonly #registry: RunRegistry
  readonly #clock: Clock
  readonly #views = new Map<string, RunView>()

  constructor({ store, registry, clock }: RunViewsOptions) {
    this.#store = store
    this.#registry = registry
    this.#clock = clock
  }

  /** All about a run now. Throws `run_unknown`, `log_corrupt`. */
  async summary(runId: string): Promise<JsonObject> {
    const view = this.#view(runId)
    try {
      await view.catchUp()
    } catch (error) {
      this.#drop(runId)
      throw error
    }
    const stored = this.#store.find(runId)
    if (stored === null) throw new LoopchartError('run_unknown', `there is no run ${runId}`)
    return this.#json(stored, view)
  }

  close(): void {
    for (const runId of this.#views.keys()) this.#drop(runId)
  }

  #view(runId: string): RunView {
    const view =
      this.#views.get(runId) ??
      new RunView(new RunFeed({ runId, store: this.#store, driven: this.#registry, clock: this.#clock }))
    this.#views.delete(runId)
    this.#views.set(runId, view)
    const [oldest] = this.#views.keys()
    if (this.#views.size > VIEWS_MAX && oldest !== undefined) this.#drop(oldest)
    return view
  }

  #drop(runId: string): void {
    this.#views.get(runId)?.close()
    this.#views.delete(runId)
  }

  #json(stored: StoredRun, view: RunView): JsonObject {
    const { runId } = stored
    const live = this.#registry.live(runId)
    const mark = stored.kind === 'run' ? this.#registry.markOf(runId) : null
    const { snapshot } = view
    const explained = live?.explain() ?? (snapshot === null ? null : explain(snapshot))
    const status = statusOf(stored, live !== null, this.#registry.has(mark?.agent))
    return {
      run_id: runId,
      kind: stored.kind,
      state: explained?.state ?? stored.state,
      status,
      turn: snapshot?.context.turn ?? stored.turn,
      model: stored.model,
      agent: mark?.agent ?? null,
      explain: explained === null ? null : explanation(explained),
      can: explained === null ? [] : commandTypes(explained),
      usage: snapshot === null ? null : usageOf(snapshot),
      limits: snapshot === null ? null : limitsOf(snapshot),
      calls: view.calls.map(({ callId, name, outcome }) => ({ call_id: callId, name, outcome })),
      last_seq: (live?.log.length ?? stored.frames) - 1,
      owner: stored.owner === null ? null : { ...stored.owner },
      suspension: status === 'suspended' ? this.#suspension(runId, snapshot) : null,
    }
  }

  /** What is known of it here, or what its log says: one that was let go of waits for a time, or for anybody. */
  #suspension(runId: string, snapshot: LoopSnapshot | null): Json {
    const known = this.#registry.suspensionOf(runId)
    if (known !== null) return { reason: known.reason, message: known.message, retry_at: known.retryAt }
    const error = snapshot?.state === 'working.backingOff' ? snapshot.context.error : null
    if (error === null || error === undefined) return null
    return { reason: 'retry_later', message: error.message, retry_at: error.retryAt }
  }
}

/** One log, folded as far as it goes. */
class RunView {
  readonly #feed: RunFeed
  readonly #fold = new LogFold(loopFold(), digest)
  readonly #settled: CallSummary[] = []
  #reading: Promise<void> | null = null
  /** A log that this chart has no way for: of a conversation, or of another release. */
  #isForeign = false

  constructor(feed: RunFeed) {
    this.#feed = feed
  }

  get snapshot(): LoopSnapshot | null {
    return this.#isForeign ? null : this.#fold.snapshot
  }

  /** Every call so far: those with their outcomes first, then those that have none yet. */
  get calls(): readonly (Omit<CallSummary, 'outcome'> & { readonly outcome: string | null })[] {
    const calls = this.snapshot?.context.calls ?? []
    const open = calls.filter(({ status }) => status !== 'settled')
    return [...this.#settled, ...open.map(({ callId, name }) => ({ callId, name, outcome: null }))]
  }

  /** Reads what is new. Long logs are read in pieces, and others have their turn in between. */
  catchUp(): Promise<void> {
    this.#reading ??= this.#read().finally(() => (this.#reading = null))
    return this.#reading
  }

  /** Whoever reads it at the moment reads to the end first: a part of a log would be taken for the whole. */
  close(): void {
    if (this.#reading === null) this.#feed.close()
    else void this.#reading.catch(() => undefined).finally(() => this.#feed.close())
  }

  async #read(): Promise<void> {
    for (;;) {
      const frames = this.#feed.take(TAKE_FRAMES, TAKE_CHARS)
      this.#add(frames)
      if (frames.length === 0 && !this.#feed.isBehind) return
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  #add(frames: readonly Frame[]): void {
    for (const frame of frames) {
      if (this.#isForeign) return
      const before = this.#fold.snapshot?.context.calls ?? []
      try {
        this.#fold.add(frame)
      } catch {
        this.#isForeign = true
        return
      }
      const after = this.#fold.snapshot?.context.calls ?? []
      summariseCalls([frame], before, after, this.#settled)
    }
  }
}

function explanation({ state, doc, why, waitsFor, can }: Explanation): JsonObject {
  return { state, doc, why, waits_for: [...waitsFor], can: [...can] }
}

function commandTypes({ can }: Explanation): readonly string[] {
  return [...new Set(can.map((command) => command.split(' ', 1)[0] ?? command))]
}

function usageOf({ context }: LoopSnapshot): JsonObject {
  return { ...context.usage, turns: context.turn, tool_calls: context.counts.toolCalls }
}

function limitsOf({ context }: LoopSnapshot): JsonObject {
  const { turns, toolCalls, tokens, noProgress, callsPerResponse } = context.settings.limits
  const { wallTimeMs, deadlineAt } = context.deadline
  return {
    turns,
    tool_calls: toolCalls,
    tokens,
    no_progress: noProgress,
    calls_per_response: callsPerResponse,
    wall_time_ms: wallTimeMs,
    deadline_at: deadlineAt,
  }
}
