import { appendBatch, type Batch } from './run-rows.ts'
import type { StoreFile } from './store-file.ts'

/** A log that is written to. */
export interface Appender {
  /** Whether somebody waits for what it has to be on disk. */
  readonly isAwaited: boolean
  /** What it has to write; null: nothing. */
  collect(): Batch | null
  /** It is written. */
  written(): void
  /** It is not, because the run has another owner. */
  refused(): void
  /** It is not, and nothing further will be. */
  failed(error: unknown): void
}

const SYNC_WITHIN_MS = 50

/**
 * The place of a log in a group, as long as it is written to. Whoever leaves is let go of here: a set keeps what was in it
 * in tables that it does not use any more, until the next collection of everything, and a log is a whole run.
 */
export class Membership {
  appender: Appender | null
  isDirty = false

  constructor(appender: Appender) {
    this.appender = appender
  }
}

/**
 * Writes what the runs of this process have to write once an event-loop turn, all in one transaction: a hundred runs
 * that commit together wait for one sync. A turn in which nobody waits is not synced by itself, but with the next
 * that is, or within 50 ms.
 */
export class GroupCommit {
  readonly #file: StoreFile
  readonly #members = new Set<Membership>()
  #dirty: Membership[] = []
  #turn: NodeJS.Immediate | null = null
  #syncTimer: NodeJS.Timeout | null = null

  constructor(file: StoreFile) {
    this.#file = file
  }

  join(appender: Appender): Membership {
    const member = new Membership(appender)
    this.#members.add(member)
    return member
  }

  leave(member: Membership): void {
    this.#members.delete(member)
    member.appender = null
  }

  /** Has a member written before the next turn. */
  ask(member: Membership): void {
    if (!member.isDirty) this.#dirty.push(member)
    member.isDirty = true
    this.#turn ??= setImmediate(() => this.flush())
  }

  /** Writes at once. What fails is told to the appenders, not to the caller. */
  flush(): void {
    if (this.#turn !== null) clearImmediate(this.#turn)
    this.#turn = null
    const isAwaited = this.#dirty.some(({ appender }) => appender?.isAwaited === true)
    const batches = this.#collect()
    if (batches.size === 0) return
    let refused: readonly Appender[]
    try {
      refused = this.#write(batches, isAwaited)
    } catch (error) {
      this.#fail(error)
      return
    }
    for (const appender of batches.keys()) {
      if (refused.includes(appender)) appender.refused()
      else appender.written()
    }
  }

  /** Nothing further is written. */
  close(): void {
    this.flush()
    this.#disarm()
  }

  #collect(): ReadonlyMap<Appender, Batch> {
    const batches = new Map<Appender, Batch>()
    const dirty = this.#dirty
    this.#dirty = []
    for (const member of dirty) {
      const { appender } = member
      member.isDirty = false
      if (appender === null) continue
      try {
        const batch = appender.collect()
        if (batch !== null) batches.set(appender, batch)
      } catch (error) {
        // What it has cannot be written at all; the others have no part in that.
        appender.failed(error)
      }
    }
    return batches
  }

  #write(batches: ReadonlyMap<Appender, Batch>, isAwaited: boolean): readonly Appender[] {
    const refused: Appender[] = []
    this.#file.transaction(isAwaited ? 'durable' : 'soon', () => {
      for (const [appender, batch] of batches) {
        if (!appendBatch(this.#file, batch)) refused.push(appender)
      }
    })
    if (isAwaited) this.#disarm()
    else this.#syncTimer ??= setTimeout(() => this.#sync(), SYNC_WITHIN_MS).unref()
    return refused
  }

  #sync(): void {
    this.#syncTimer = null
    try {
      // SQLite syncs its log when a transaction is written to it, and there is one log for all.
      this.#file.transaction('durable', () => this.#file.run('UPDATE store SET syncs = syncs + 1'))
    } catch (error) {
      this.#fail(error)
    }
  }

  #disarm(): void {
    if (this.#syncTimer !== null) clearTimeout(this.#syncTimer)
    this.#syncTimer = null
  }

  // Also those that had nothing to write now: what they wrote before and was not synced may be lost with this.
  #fail(error: unknown): void {
    this.#disarm()
    for (const { appender } of this.#members) appender?.failed(error)
  }
}
