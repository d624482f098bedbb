import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** One line of the table: what /proc says about a living process. */
export interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  readonly group: number
  /** In clock ticks since the machine started: with the pid, it names a process for good. */
  readonly startTime: number
}

/** A process that can be told from a later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number
  readonly startTime: number
}

/**
 * Every living process. Those that have ended and wait for their parent to notice are left out: nothing of them runs.
 * Empty on a machine without /proc.
 */
export function readProcessTable(): readonly ProcessEntry[] {
  return pids().flatMap((pid) => {
    const stat = readStat(pid)
    return stat === null || stat.hasEnded ? [] : [stat]
  })
}

/** When that process started; null when there is none. One that has ended counts until its parent notices. */
export function startTimeOf(pid: number): number | null {
  return readStat(pid)?.startTime ?? null
}

/** Whether that very process lives, not another one that got its pid. */
export function isAlive({ pid, startTime }: ProcessIdentity): boolean {
  const stat = readStat(pid)
  return stat !== null && !stat.hasEnded && stat.startTime === startTime
}

/** Whether the process was started with that text in its environment. False when it may not be read. */
export function hasInEnvironment(pid: number, entry: string): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`)
    return environment.includes(`${entry}\0`)
  } catch {
    return false
  }
}

/**
 * What makes pids and start times comparable: the boot of the machine and the namespace that counts pids. Records of
 * another place say nothing about processes here.
 */
export function processPlace(): string {
  return `${readText('/proc/sys/kernel/random/boot_id').trim()} ${readLink('/proc/self/ns/pid')}`
}

/** Sends a signal; false when there is nobody to take it. A negative pid is a group. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

function pids(): readonly number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^[1-9]\d*$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

interface ProcessStat extends ProcessEntry {
  readonly hasEnded: boolean
}

function readStat(pid: number): ProcessStat | null {
  const stat = readText(`/proc/${pid}/stat`)
  // The name is in parentheses and may hold spaces and parentheses itself: the last one ends it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, parent, group] = fields
  const startTime = Number(fields[19])
  if (state === undefined || !Number.isSafeInteger(startTime)) return null
  const hasEnded = state === 'Z' || state === 'X'
  return { pid, parent: Number(parent), group: Number(group), startTime, hasEnded }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
