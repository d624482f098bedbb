import type { Frame } from '../frames/generated/frame.ts'
import type { RunStore } from '../journal/run-store.ts'
import { IN_DOUBT } from '../loop/children.ts'
import type { Run } from '../loop/run.ts'

/** What became of a call, as somebody says. */
export interface Reconciliation {
  readonly as: 'done' | 'failed' | 'rerun'
  readonly output: string
}

/** Why a run was let go of. */
export type LetGo = 'signal' | 'unapproved' | 'in_doubt'

export interface KeptRunOptions {
  readonly store: RunStore
  /** What became of calls in doubt, by their paths; nobody has said anything when left out. */
  readonly reconciled?: ReadonlyMap<string, Reconciliation>
  /** How to go on with the run. */
  readonly resumeHint: (runId: string) => string
}

// A call that comes to its end now is one that nobody has to be asked about later.
const CALLS_END_WITHIN_MS = 4000

/** A run of this process that a store keeps: it is let go of rather than ended when it cannot go on here. */
export class KeptRun {
  readonly store: RunStore
  readonly resumeHint: KeptRunOptions['resumeHint']
  readonly #reconciled: ReadonlyMap<string, Reconciliation>
  readonly #sent = new Set<string>()
  readonly #doubted = new Set<string>()
  #leaving: LetGo | null = null
  #gone: Promise<boolean> | null = null
  #timer: NodeJS.Timeout | null = null

  constructor({ store, reconciled = new Map(), resumeHint }: KeptRunOptions) {
    this.store = store
    this.resumeHint = resumeHint
    this.#reconciled = reconciled
  }

  /** The calls in doubt that nobody has said anything about, by their paths. */
  get doubted(): readonly string[] {
    return [...this.#doubted]
  }

  /** Why it was let go of, once what it had is written; null: it was not, or it had ended before. */
  async letGo(): Promise<LetGo | null> {
    return (await this.#gone) === true ? this.#leaving : null
  }

  /**
   * Lets go as soon as no call runs; after a signal, calls have four seconds for that. A call that is a run of its own
   * is let go of with it, and has nothing to lose by that.
   */
  leave(live: Run, why: LetGo): void {
    this.#leaving ??= why
    if (!isRunningCalls(live) || live.children.size > 0) return this.#release(live)
    if (why === 'signal') this.#timer ??= setTimeout(() => this.#release(live), CALLS_END_WITHIN_MS)
  }

  /** Sees each new frame: says what became of calls in doubt, and lets go when nobody has said it. */
  follow(live: Run, frame: Frame): void {
    if (this.#leaving !== null && !isRunningCalls(live)) return this.#release(live)
    if (live.state.endsWith('.reconciling')) {
      this.#reconcile(
        live,
        callsIn(live, 'call.reconcile').map((callId) => [callId]),
      )
    }
    const path = pathInDoubt(frame)
    if (path !== null) this.#reconcile(live, [path])
  }

  /** It is over: nothing is waited for any more. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  #release(live: Run): void {
    if (this.#gone !== null) return
    this.#gone = live.suspend()
    // Whoever shows the run asks for it later: until then, that it failed is not an unhandled rejection.
    this.#gone.catch(() => undefined)
  }

  #reconcile(live: Run, open: readonly (readonly string[])[]): void {
    const names = open.map((path) => path.join('/'))
    if (!names.some((name) => this.#reconciled.has(name))) {
      for (const name of names) this.#doubted.add(name)
      return this.leave(live, 'in_doubt')
    }
    for (const path of open) {
      const name = path.join('/')
      const said = this.#reconciled.get(name)
      if (said === undefined || this.#sent.has(name)) continue
      this.#sent.add(name)
      void live.reconcile(path, said.as, said.output)
    }
  }
}

/** The call further in that a frame says is in doubt. */
function pathInDoubt(frame: Frame): readonly string[] | null {
  if (frame.type !== 'warning' || frame.cause !== IN_DOUBT) return null
  const { path } = frame.figures
  return Array.isArray(path) ? path.filter((id) => typeof id === 'string') : null
}

/** The calls for which a command would be taken now. */
export function callsIn(live: Pick<Run, 'explain'>, command: string): readonly string[] {
  const prefix = `${command} `
  return live
    .explain()
    .can.filter((one) => one.startsWith(prefix))
    .map((one) => one.slice(prefix.length))
}

/** The numbers of the frames in which an earlier process asked for an approval that nobody has given or refused. */
export function openRequests(past: readonly Frame[], live: Run): ReadonlySet<number> {
  const open = callsIn(live, 'call.approve').flatMap((callId) => {
    const asked = past.findLast((frame) => isQuestionOf(frame, callId))
    return asked === undefined ? [] : [asked.seq]
  })
  return new Set(open)
}

// A call further in may have the id of one of ours; its own run asks about it again.
function isQuestionOf(frame: Frame, callId: string): boolean {
  return frame.type === 'approval_requested' && frame.path.length === 1 && frame.call_id === callId
}

function isRunningCalls({ state }: Run): boolean {
  return state.endsWith('.executing.running')
}
