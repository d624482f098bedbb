import { finished } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'

import type { CallProcesses } from './call-processes.ts'
import type { ProcessExit, SpawnedCommand } from './spawn-command.ts'
import { watchCommand, type StopReason, type WatchOptions } from './watch-command.ts'

/** How long a command has between SIGTERM and SIGKILL. */
const TERMINATE_MS = 700
/** How long others may hold the streams of a command that has ended. */
const PIPE_GRACE_MS = 1000
/** How long everything may take that a SIGKILL has made certain. */
const KILL_MS = 300
const KILL_ROUND_MS = 10

/** What is known when nothing of a command is left. */
export interface SettledCommand {
  /** Null when the kernel did not let go of the process. */
  readonly exit: ProcessExit | null
  /** Null when it ended by itself. */
  readonly stopped: StopReason | null
  readonly escaped: number
  readonly survivors: number
  /** Whether somebody who was not found holds its streams open still: a process that got away. */
  readonly isHeldOpen: boolean
}

/** Waits for the end of a command, or brings it about, and clears away what it leaves. Never rejects. */
export async function settleCommand(
  child: SpawnedCommand,
  processes: CallProcesses,
  options: WatchOptions,
): Promise<SettledCommand> {
  const closed = Promise.all([whenClosed(child.stdout), whenClosed(child.stderr)])
  const watch = watchCommand(processes, options)
  await Promise.race([child.exited, watch.stopped])
  // What was asked for before the end counts; what comes while others hold the streams only shortens the wait.
  const stopped = watch.reason()
  if (stopped === null) {
    await within(PIPE_GRACE_MS, Promise.race([closed, watch.stopped]))
  } else {
    processes.terminate()
    await within(TERMINATE_MS, Promise.all([child.exited, closed]))
  }
  watch.end()
  const survivors = await killEverything(processes)
  const isHeldOpen = (await within(KILL_MS, closed)) === null
  child.stdout.destroy()
  child.stderr.destroy()
  const exit = await within(KILL_MS, child.exited)
  if (child.status !== null) await within(KILL_MS, whenClosed(child.status))
  child.status?.destroy()
  return { exit, stopped, escaped: processes.escaped, survivors, isHeldOpen }
}

async function whenClosed(stream: SpawnedCommand['stdout']): Promise<void> {
  try {
    await finished(stream)
  } catch {
    // A stream that broke has nothing more to say either.
  }
}

/** The answer is how many could not be killed. */
async function killEverything(processes: CallProcesses): Promise<number> {
  let living = processes.killAll()
  for (let waitedMs = 0; living > 0 && waitedMs < KILL_MS; waitedMs += KILL_ROUND_MS) {
    await pause(KILL_ROUND_MS)
    living = processes.killAll()
  }
  return living
}

/** What a promise gives, or null when it takes longer. The timer goes with the race: it would hold up our own exit. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  const timer = new AbortController()
  const elapsed = pause(ms, null, { signal: timer.signal }).catch(() => null)
  try {
    return await Promise.race([promise, elapsed])
  } finally {
    timer.abort()
  }
}
