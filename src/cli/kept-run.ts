import type { Frame } from '../frames/generated/frame.ts'
import type { RunStore } from '../journal/run-store.ts'
import type { Run } from '../loop/run.ts'
import { HeldStore } from './held-store.ts'

/** What became of a call, as somebody says. */
export interface Reconciliation {
  readonly as: 'done' | 'failed' | 'rerun'
  readonly output: string
}

/** Why a run was let go of. */
export type LetGo = 'signal' | 'unapproved' | 'in_doubt'

export interface KeptRunOptions {
  readonly store: RunStore
  /** What became of calls in doubt, by their ids. */
  readonly reconciled: ReadonlyMap<string, Reconciliation>
  /** How to go on with the run. */
  readonly resumeHint: (runId: string) => string
}

// A call that comes to its end now is one that nobody has to be asked about later.
const CALLS_END_WITHIN_MS = 4000

/** A run of this process that a store keeps: it is let go of rather than ended when it cannot go on here. */
export class KeptRun {
  readonly store: HeldStore
  readonly resumeHint: KeptRunOptions['resumeHint']
  readonly #reconciled: KeptRunOptions['reconciled']
  readonly #sent = new Set<string>()
  #leaving: LetGo | null = null
  #gone: Promise<boolean> | null = null
  #timer: NodeJS.Timeout | null = null

  constructor({ store, reconciled, resumeHint }: KeptRunOptions) {
    this.store = new HeldStore(store)
    this.resumeHint = resumeHint
    this.#reconciled = reconciled
  }

  /** Why it was let go of, once what it had is written; null: it was not, or it had ended before. */
  async letGo(): Promise<LetGo | null> {
    return (await this.#gone) === true ? this.#leaving : null
  }

  /** Lets go as soon as no call runs; after a signal, calls have four seconds for that. */
  leave(live: Run, why: LetGo): void {
    this.#leaving ??= why
    if (!isRunningCalls(live)) return this.#release()
    if (why === 'signal') this.#timer ??= setTimeout(() => this.#release(), CALLS_END_WITHIN_MS)
  }

  /** Sees each new frame: says what became of calls in doubt, and lets go when nobody has said it. */
  follow(live: Run): void {
    if (this.#leaving !== null && !isRunningCalls(live)) return this.#release()
    if (live.state.endsWith('.reconciling')) this.#reconcile(live)
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.store.close()
  }

  #release(): void {
    if (this.#gone !== null) return
    this.#gone = this.store.letGo()
    // Whoever shows the run asks for it later: until then, that it failed is not an unhandled rejection.
    this.#gone.catch(() => undefined)
  }

  #reconcile(live: Run): void {
    const open = callsIn(live, 'call.reconcile')
    if (!open.some((callId) => this.#reconciled.has(callId))) return this.leave(live, 'in_doubt')
    for (const callId of open) {
      const said = this.#reconciled.get(callId)
      if (said === undefined || this.#sent.has(callId)) continue
      this.#sent.add(callId)
      void live.reconcile(callId, said.as, said.output)
    }
  }
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
    const asked = past.findLast((frame) => frame.type === 'approval_requested' && frame.call_id === callId)
    return asked === undefined ? [] : [asked.seq]
  })
  return new Set(open)
}

function isRunningCalls({ state }: Run): boolean {
  return state.endsWith('.executing.running')
}
