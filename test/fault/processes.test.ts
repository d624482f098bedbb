import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { measureShellOutput } from '../../bench/shell-output.ts'
import { killLeftovers } from '../../src/tools/process/kill-leftovers.ts'
import { need } from '../need.ts'
import { mark, pidsWith, place, run, sleepers, until, type RunOptions } from '../tools/process/command-kit.ts'

const SLOW_MS = 60_000

/** Runs a script until it says `ready`, aborts it, and says how long it took to settle after that. */
async function cancel(
  script: string,
  options: RunOptions = {},
): Promise<{ readonly tookMs: number; readonly escaped: number; readonly kind: string }> {
  const abort = new AbortController()
  let abortedAtMs = 0
  const onOutput = (_: string, text: string): void => {
    if (!text.includes('ready') || abortedAtMs > 0) return
    abortedAtMs = performance.now()
    abort.abort()
  }
  const { ending, escaped } = await run(script, { ...options, onOutput, signal: abort.signal })
  return { tookMs: performance.now() - abortedAtMs, escaped, kind: ending.kind }
}

test('fault T03: a command that has ended settles a second later though a child holds its streams, and the child is dead', async () => {
  const seconds = mark()
  const startMs = performance.now()
  const { ending, stdout } = await run(`sleep ${seconds} & echo said; exit 3`)
  expect(ending).toEqual({ kind: 'exited', exitCode: 3 })
  expect(stdout.text).toBe('said\n')
  expect(performance.now() - startMs).toBeLessThan(3000)
  expect(pidsWith(seconds)).toEqual([])
})

test.for([false, true])(
  'fault T03: an abort first asks the processes to end, and hears what they say then, sandbox: %s',
  async (isSandboxed, context) => {
    if (isSandboxed) need(context, 'bubblewrap')
    const seconds = mark()
    const abort = new AbortController()
    const { ending, stdout } = await run(
      `trap 'echo asked; exit' TERM; echo ready; sleep ${seconds} & wait`,
      { isSandboxed, signal: abort.signal, onOutput: () => abort.abort() },
    )
    expect(ending).toEqual({ kind: 'aborted' })
    expect(stdout.text).toBe('ready\nasked\n')
    expect(pidsWith(seconds)).toEqual([])
  },
)

test('fault T03: a timeout settles with what the command said until then', async () => {
  const seconds = mark()
  const result = await run(`echo before; sleep ${seconds} & wait`, { timeoutMs: 300 })
  expect(result.ending).toEqual({ kind: 'timed_out' })
  expect(result.stdout.text).toBe('before\n')
  expect(pidsWith(seconds)).toEqual([])
})

test('fault T04: a grandchild that ignores SIGTERM and has no streams is killed with its group', async () => {
  const seconds = mark()
  const script = `(trap '' TERM; echo ready; exec >&- 2>&- <&-; sleep ${seconds}; sleep ${seconds}) & wait`
  const { tookMs } = await cancel(script)
  expect(tookMs).toBeLessThan(2000)
  expect(pidsWith(seconds)).toEqual([])
})

test('fault T04: a grandchild without streams does not outlive a command that ends well', async () => {
  const seconds = mark()
  const { ending, escaped } = await run(`trap '' TERM; sleep ${seconds} >/dev/null 2>&1 & exit 0`)
  expect(ending).toEqual({ kind: 'exited', exitCode: 0 })
  expect(escaped).toBe(0)
  expect(pidsWith(seconds)).toEqual([])
})

test.each([
  ['setsid', (seconds: string) => `setsid sh -c 'echo ready; exec sleep ${seconds}' & wait`],
  ['a double fork', (seconds: string) => `(setsid bash -c 'sleep ${seconds} & echo ready' &); sleep 9`],
])(
  'fault T05: a process that left the group by %s is found by its token, killed and counted',
  async (_, script) => {
    const seconds = mark()
    const { tookMs, escaped } = await cancel(script(seconds))
    expect(tookMs).toBeLessThan(2000)
    expect(escaped).toBeGreaterThanOrEqual(1)
    expect(pidsWith(seconds)).toEqual([])
  },
)

test('fault T05: a daemon that holds the streams of a command that ended does not hold its result', async () => {
  const seconds = mark()
  const startMs = performance.now()
  const { ending, escaped } = await run(`setsid sleep ${seconds} & exit 0`)
  expect(ending).toEqual({ kind: 'exited', exitCode: 0 })
  expect(performance.now() - startMs).toBeLessThan(3000)
  expect(escaped).toBe(1)
  expect(pidsWith(seconds)).toEqual([])
})

test('fault T05: in the sandbox nothing outlives the command, whatever it does to leave', async (context) => {
  need(context, 'bubblewrap')
  const seconds = mark()
  const { ending } = await run(`(env -i setsid sleep ${seconds} >/dev/null 2>&1 &); exit 0`, {
    isSandboxed: true,
  })
  expect(ending).toEqual({ kind: 'exited', exitCode: 0 })
  await until(() => pidsWith(seconds).length === 0, 'the sandbox is empty')
})

test('a command that is cancelled before it starts does not start', async () => {
  const there = place()
  const started = run('touch started', { ...there, signal: AbortSignal.abort() })
  await expect(started).rejects.toMatchObject({ code: 'tool_cancelled' })
  expect(readdirSync(there.workspaceRoot)).toEqual([])
})

test('fault T05: a process of another is not touched', async () => {
  const seconds = mark()
  const other = spawn('sleep', [seconds], { detached: true, stdio: 'ignore' })
  const exited = once(other, 'exit')
  try {
    await until(() => sleepers(seconds).length === 1, 'the other process runs')
    await cancel('sleep 1000 & echo ready; wait')
    expect(sleepers(seconds)).toEqual([other.pid])
  } finally {
    other.kill('SIGKILL')
    await exited
  }
})

const CHILD = fileURLToPath(new URL('toolbox/command-child.ts', import.meta.url))

/** A loopchart that runs a script, killed with SIGKILL once the script is in place. */
async function killedWhileRunning(script: string, isSandboxed: boolean): Promise<string> {
  const { workspaceRoot, stateFolder } = place()
  const child = spawn(process.execPath, [CHILD, workspaceRoot, stateFolder, script, String(isSandboxed)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await until(() => said.includes('ready'), 'the command is in place')
  await until(() => recordsIn(stateFolder).some((record) => record.includes('"leader":{')), 'it is on record')
  child.kill('SIGKILL')
  await once(child, 'exit')
  return stateFolder
}

function recordsIn(stateFolder: string): readonly string[] {
  const folder = join(stateFolder, 'processes')
  if (!existsSync(folder)) return []
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'))
  return names.map((name) => readFileSync(join(folder, name), 'utf8'))
}

test(
  'fault T06: what outlived a killed loopchart is found by its record and killed, also in another session',
  async () => {
    const seconds = mark()
    const script = `trap '' TERM; sleep ${seconds} & setsid sleep ${seconds} & echo ready; wait; sleep ${seconds}`
    const stateFolder = await killedWhileRunning(script, false)
    await until(() => sleepers(seconds).length === 2, 'both children sleep')
    const leftovers = await killLeftovers(stateFolder)
    expect(leftovers).toEqual([{ key: 'run_1/2/0', killed: 3 }])
    expect(pidsWith(seconds)).toEqual([])
    expect(recordsIn(stateFolder)).toEqual([])
    expect(await killLeftovers(stateFolder)).toEqual([])
  },
  SLOW_MS,
)

test(
  'fault T06: in the sandbox everything dies with a killed loopchart, by itself',
  async (context) => {
    need(context, 'bubblewrap')
    const seconds = mark()
    const script = `trap '' TERM; sleep ${seconds} & env -i setsid sleep ${seconds} & echo ready; wait; sleep ${seconds}`
    const stateFolder = await killedWhileRunning(script, true)
    await until(() => pidsWith(seconds).length === 0, 'the sandbox is empty')
    expect(await killLeftovers(stateFolder)).toEqual([{ key: 'run_1/2/0', killed: 0 }])
  },
  SLOW_MS,
)

test('fault T06: the command of a living loopchart is left alone', async () => {
  const { workspaceRoot, stateFolder } = place()
  const { promise: isReady, resolve } = Promise.withResolvers<void>()
  const abort = new AbortController()
  const running = run('echo ready; sleep 1000', {
    workspaceRoot,
    stateFolder,
    signal: abort.signal,
    onOutput: () => resolve(),
  })
  await isReady
  expect(await killLeftovers(stateFolder)).toEqual([])
  expect(recordsIn(stateFolder)).toHaveLength(1)
  expect(statSync(join(stateFolder, 'processes')).mode & 0o777).toBe(0o700)
  abort.abort()
  expect((await running).ending).toEqual({ kind: 'aborted' })
  expect(recordsIn(stateFolder)).toEqual([])
})

test.for([
  ['head -c 1G /dev/zero', 1024 ** 3],
  ['yes | head -c 1G', 1024 ** 3],
  ['head -c 1G /dev/zero >&2', 0],
] as const)(
  'fault T07: 1 GiB of output (%s) raises the memory by at most 64 MB',
  { timeout: 2 * SLOW_MS },
  ([command, stdoutBytes]) => {
    const { stdout, riseMiB } = measureShellOutput(command)
    expect(stdout.bytes_total).toBe(stdoutBytes)
    expect(riseMiB).toBeLessThanOrEqual(64)
  },
)

test('fault T08: output that is no text comes as text with a note, its bytes in an artifact, newlines in place', async () => {
  const live: string[] = []
  const script = String.raw`printf 'a\xff\x00\n\x1b]52;c;aGk=\x07\x1b[31mred\n\xe2\x82'`
  const { stdout } = await run(script, { onOutput: (_, text) => live.push(text) })
  const text = 'a�\0\n\u001B]52;c;aGk=\u0007\u001B[31mred\n�'
  expect(stdout.text).toBe(`${text}\n[what is not UTF-8 is shown as U+FFFD]\n`)
  expect(stdout.artifact?.bytes).toBe(27)
  expect(live.join('')).toBe(text)
})

test('fault T08: a line of a million characters is shown by its ends', async () => {
  const { stdout } = await run(`head -c 1000000 /dev/zero | tr '\\0' x`)
  expect(stdout).toMatchObject({ bytesTotal: 1_000_000, isTruncated: true })
  expect(stdout.text).toMatch(
    /^x+\n\[\.\.\. \d+ bytes left out: artifact_fetch with id [0-9a-f]{64} .*\]\nx+$/,
  )
})

test.each<readonly [string, readonly string[] | string, string]>([
  ['no such program', ['no-such-program-here'], 'command_not_found'],
  ['a file that is not executable', ['./plain.txt'], 'command_invalid'],
  ['nothing', [''], 'command_invalid'],
  ['blanks', '  \n ', 'command_invalid'],
  ['a NUL', ['echo', 'a\0b'], 'command_invalid'],
  ['a NUL in a script', 'echo a\0b', 'command_invalid'],
  ['a long argument', ['echo', 'x'.repeat(200_000)], 'command_too_long'],
  ['a long script', `: ${'x'.repeat(200_000)}`, 'command_too_long'],
])('fault T09: a command of %s does not run and says why', async (_, command, code) => {
  const kinds: Readonly<Record<string, string>> = {
    not_found: 'command_not_found',
    not_runnable: 'command_invalid',
  }
  const there = place()
  writeFileSync(join(there.workspaceRoot, 'plain.txt'), 'text')
  chmodSync(join(there.workspaceRoot, 'plain.txt'), 0o644)
  const said = await run(command, there).then(
    ({ ending }) => kinds[ending.kind],
    (error: { readonly code: string }) => error.code,
  )
  expect(said).toBe(code)
})

test('fault T09: without prlimit, what the system says about a program is told as well', async () => {
  // A name with a slash does not depend on PATH; the limit is what would otherwise start it.
  const { spawnCommand } = await import('../../src/tools/process/spawn-command.ts')
  const { workspaceRoot } = place()
  writeFileSync(join(workspaceRoot, 'plain.txt'), 'text')
  const started = (argv: readonly string[], cwd: string): Promise<unknown> =>
    spawnCommand({
      argv,
      shownAs: argv[0] ?? '',
      environment: { PATH: '/usr/bin:/bin' },
      cwd,
      isReporting: false,
    })
  await expect(started(['no-such-program'], workspaceRoot)).rejects.toMatchObject({
    code: 'command_not_found',
  })
  await expect(started(['./plain.txt'], workspaceRoot)).rejects.toMatchObject({ code: 'command_invalid' })
  rmSync(workspaceRoot, { recursive: true })
  await expect(started(['true'], workspaceRoot)).rejects.toMatchObject({ code: 'workspace_missing' })
})

test.for([false, true])(
  'fault T09: exit codes and signals are told apart, sandbox: %s',
  async (isSandboxed, context) => {
    if (isSandboxed) need(context, 'bubblewrap')
    const ending = async (command: string | readonly string[]): Promise<unknown> =>
      (await run(command, { isSandboxed })).ending
    expect(await ending('exit 0')).toEqual({ kind: 'exited', exitCode: 0 })
    expect(await ending('exit 42')).toEqual({ kind: 'exited', exitCode: 42 })
    expect(await ending('no-such-program')).toEqual({ kind: 'exited', exitCode: 127 })
    expect(await ending(['no-such-program'])).toEqual({ kind: 'not_found' })
    expect(await ending('kill -SEGV $$')).toEqual({ kind: 'signalled', signal: 'SIGSEGV' })
    expect(await ending('kill -KILL $$')).toEqual({ kind: 'signalled', signal: 'SIGKILL' })
  },
)

test('fault T05: a process that gets away without being found, and holds a stream open, is told', async () => {
  const seconds = mark()
  // In a group of its own, with no environment, and its parent gone before anybody looks.
  const script = `(env -i setsid sh -c 'sleep ${seconds} & exit' &); exit 0`
  const result = await run(script)
  const left = sleepers(seconds)
  for (const pid of left) process.kill(pid, 'SIGKILL')
  expect(result.ending).toEqual({ kind: 'exited', exitCode: 0 })
  expect({ isHeldOpen: result.isHeldOpen, left: left.length }).toEqual({ isHeldOpen: true, left: 1 })
  expect((await run('sleep 0')).isHeldOpen).toBe(false)
})
