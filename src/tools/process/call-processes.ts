import {
  hasInEnvironment,
  isAlive,
  readProcessTable,
  sendSignal,
  startTimeOf,
  type ProcessEntry,
  type ProcessIdentity,
} from './process-table.ts'

/** The name of the variable that marks every process of a call. */
export const CALL_VARIABLE = 'LOOPCHART_CALL'

/**
 * The processes of one command: its group, what has the token of the call in its environment, and the children of all
 * of these, also of those seen earlier. Only a process that leaves the group, drops its environment and its parent
 * between two looks is not found; in a sandbox, that does not help it either.
 */
export class CallProcesses {
  readonly leader: ProcessIdentity
  /** How many of them are not the command's own: bubblewrap outside and inside of its sandbox. */
  readonly overhead: number
  readonly #token: string
  readonly #isSandboxed: boolean
  readonly #seen = new Map<number, number>()
  readonly #escaped = new Set<number>()

  /** `pid` leads its own group. */
  constructor(pid: number, token: string, isSandboxed: boolean) {
    // There is one right after the spawn, also of a process that has ended: Node has not collected it yet.
    this.leader = { pid, startTime: startTimeOf(pid) ?? 0 }
    this.#token = token
    this.#isSandboxed = isSandboxed
    this.overhead = isSandboxed ? 2 : 0
  }

  /** Those that live now. */
  list(): readonly ProcessEntry[] {
    const { pid: group, startTime } = this.leader
    // A process that is older than the leader cannot come from it.
    const younger = readProcessTable().filter(
      (entry) => entry.startTime >= startTime && entry.pid !== process.pid,
    )
    const isGroupOurs = this.#isGroupOurs()
    const members = new Map<number, ProcessEntry>()
    for (const entry of younger) {
      const isMember =
        (isGroupOurs && entry.group === group) ||
        this.#seen.get(entry.pid) === entry.startTime ||
        hasInEnvironment(entry.pid, `${CALL_VARIABLE}=${this.#token}`)
      if (isMember) members.set(entry.pid, entry)
    }
    addChildren(members, younger)
    for (const { pid, startTime } of members.values()) this.#seen.set(pid, startTime)
    return [...members.values()]
  }

  /** How many had left the group when they were asked to end or killed. In a sandbox, leaving it leads nowhere. */
  get escaped(): number {
    return this.#isSandboxed ? 0 : this.#escaped.size
  }

  /**
   * Asks them to end. In a sandbox each one but the leader: that is bubblewrap, and its end would be the end of all
   * others at once.
   */
  terminate(): void {
    // Looked at before: who loses its parent now is only known for having been seen.
    const outside = this.#outsideOf(this.list())
    if (!this.#isSandboxed) this.#signalGroup('SIGTERM')
    for (const entry of outside) signalOne(entry, 'SIGTERM')
  }

  /** Kills them. The answer is how many were found alive then; it takes them a moment to end. */
  killAll(): number {
    this.#signalGroup('SIGKILL')
    const entries = this.list()
    for (const entry of this.#outsideOf(entries)) signalOne(entry, 'SIGKILL')
    return entries.length
  }

  #outsideOf(entries: readonly ProcessEntry[]): readonly ProcessEntry[] {
    const outside = entries.filter(({ group }) => group !== this.leader.pid)
    for (const { pid } of outside) this.#escaped.add(pid)
    return outside
  }

  #signalGroup(signal: NodeJS.Signals): void {
    if (this.#isGroupOurs()) sendSignal(-this.leader.pid, signal)
  }

  // A pid is not given away while a group has that number; when the leader is another process, the group has gone.
  #isGroupOurs(): boolean {
    const { pid, startTime } = this.leader
    const now = startTimeOf(pid)
    return now === null || now === startTime
  }
}

/** Kills one process, unless its pid has gone to another one. */
export function signalOne(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  return isAlive(identity) && sendSignal(identity.pid, signal)
}

function addChildren(members: Map<number, ProcessEntry>, entries: readonly ProcessEntry[]): void {
  for (let sizeBefore = -1; sizeBefore !== members.size;) {
    sizeBefore = members.size
    for (const entry of entries) if (members.has(entry.parent)) members.set(entry.pid, entry)
  }
}
