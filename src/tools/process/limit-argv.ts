import { readdirSync, readFileSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'

import { findProgram } from './find-program.ts'

/** What a command may use. Memory, file size and CPU time count for each process of it, the number for all. */
export interface CommandLimits {
  /** Memory that a process can write to; 4 GiB without it. */
  readonly memoryBytesMax: number
  /** 256 without it. */
  readonly processesMax: number
  /** The size of a file that it writes; 1 GiB without it. */
  readonly fileBytesMax: number
  /** CPU time; what the timeout gives on every core without it. */
  readonly cpuSecondsMax: number | null
}

export interface LimitOptions {
  readonly limits: CommandLimits
  readonly timeoutMs: number
  /** No program in there is used to hold anything to limits. */
  readonly workspaceRoot: string
}

/** The limits of a command for which nobody asked for others. */
export const LIMITS_DEFAULT: CommandLimits = {
  memoryBytesMax: 4 * 1024 ** 3,
  processesMax: 256,
  fileBytesMax: 1024 ** 3,
  cpuSecondsMax: null,
}

// Node, Go and the JVM reserve many times what they use, 10 GiB for each WebAssembly memory alone.
const RESERVED_PER_USED = 32
// The kernel counts threads, and those of all commands at once; the exact count is taken by whoever watches.
const THREADS_PER_PROCESS = 16

/** The argv that runs another one within limits; null when there is no prlimit to hold it to them. */
export function limitArgv(argv: readonly string[], options: LimitOptions): readonly string[] | null {
  const { limits, timeoutMs, workspaceRoot } = options
  const prlimit = findProgram('prlimit', workspaceRoot)
  if (prlimit === null) return null
  const { memoryBytesMax, processesMax, fileBytesMax } = limits
  const cpuSeconds = limits.cpuSecondsMax ?? Math.ceil(timeoutMs / 1000) * availableParallelism()
  const threads = ownThreads()
  return [
    prlimit,
    // Not the address space alone: it counts what is only reserved, so a limit that node can live with limits nothing.
    `--data=${memoryBytesMax}`,
    `--as=${memoryBytesMax * RESERVED_PER_USED}`,
    `--fsize=${fileBytesMax}`,
    // A second between the signal that can be told from others and the one that ends everything.
    `--cpu=${cpuSeconds}:${cpuSeconds + 1}`,
    '--core=0',
    ...(threads === null ? [] : [`--nproc=${threads + processesMax * THREADS_PER_PROCESS}`]),
    '--',
    ...argv,
  ]
}

/** How many threads our user has: the limit counts those too. Null for root, whom it does not hold. */
function ownThreads(): number | null {
  const user = process.getuid?.() ?? 0
  if (user === 0) return null
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .reduce((sum, pid) => sum + threadsOf(pid, user), 0)
}

function threadsOf(pid: string, user: number): number {
  try {
    if (statSync(`/proc/${pid}`).uid !== user) return 0
    const threads = /^Threads:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
    return Number(threads?.[1] ?? 1)
  } catch {
    return 0
  }
}
