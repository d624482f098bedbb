import { Readable } from 'node:stream'

import { findProgram } from './find-program.ts'
import { SandboxStatus, STATUS_DESCRIPTOR, STATUS_FLAGS } from './sandbox-status.ts'

/** A bubblewrap that has been seen to work here. */
export interface Sandbox {
  /** The absolute path of bwrap. */
  readonly path: string
  /** The flags for what every sandboxed command gets, whatever it may see. */
  readonly flags: readonly string[]
}

const PROBE_TIMEOUT_MS = 10_000

// No network, no processes of others, no privileges (root would keep all of its own), no terminal to type into. It
// dies with us, also when we are killed.
const FLAGS: readonly string[] = [
  '--unshare-pid',
  '--unshare-ipc',
  '--unshare-uts',
  '--unshare-net',
  '--unshare-cgroup-try',
  '--cap-drop',
  'ALL',
  '--die-with-parent',
  '--new-session',
]

const found = new Map<string, Promise<Sandbox | null>>()

/**
 * The sandbox of this machine; null when bubblewrap is not installed or may not do its work, as in some containers.
 * Found out once in a process, by running it. One that lies in the workspace does not count.
 */
export async function findSandbox(workspaceRoot: string): Promise<Sandbox | null> {
  const path = findProgram('bwrap', workspaceRoot)
  if (path === null) return null
  const finding = found.get(path) ?? probe(path)
  found.set(path, finding)
  return finding
}

async function probe(path: string): Promise<Sandbox | null> {
  // Root without the right to make namespaces can still make one of users, and in it all others.
  for (const flags of [FLAGS, ['--unshare-user', ...FLAGS]]) {
    if (await works(path, flags)) return { path, flags }
  }
  return null
}

async function works(path: string, flags: readonly string[]): Promise<boolean> {
  const { execa } = await import('execa')
  const view = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp']
  const covered = ['--ro-bind', '/dev/null', '/tmp/covered']
  const child = execa(path, [...flags, ...STATUS_FLAGS, ...view, ...covered, '--', 'true'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    buffer: false,
    reject: false,
    timeout: PROBE_TIMEOUT_MS,
    killSignal: 'SIGKILL',
    extendEnv: false,
    env: { PATH: '/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin' },
  })
  const stream = child.nodeChildProcess.stdio[STATUS_DESCRIPTOR]
  const status = stream instanceof Readable ? new SandboxStatus(stream) : null
  const { failed } = await child
  // Without its word on that, a command that fails could not be told from one that never ran.
  return !failed && status?.hasStarted === true
}
