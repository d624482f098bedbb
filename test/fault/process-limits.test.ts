import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

import { need } from '../need.ts'
import { mark, pidsWith, place, run } from '../tools/process/command-kit.ts'

const MIB = 1024 ** 2
const SLOW_MS = 30_000

/** A folder that is not among those that every sandbox has empty. */
function folderElsewhere(): string {
  return realpathSync(
    mkdtempSync(fileURLToPath(new URL('../../node_modules/.loopchart-test-', import.meta.url))),
  )
}

test('fault T15: a sandboxed command neither sees nor changes the state of loopchart', async (context) => {
  need(context, 'bubblewrap')
  const stateFolder = join(folderElsewhere(), 'state')
  mkdirSync(stateFolder)
  writeFileSync(join(stateFolder, 'approvals.json'), 'secret')
  const script = `cat ${stateFolder}/approvals.json; ls -A ${stateFolder}; echo evil > ${stateFolder}/approvals.json; exit 0`
  const { stdout } = await run(script, { isSandboxed: true, stateFolder })
  expect(stdout.text).toBe('')
  expect(statSync(join(stateFolder, 'approvals.json')).size).toBe('secret'.length)
  const outside = await run(`cat ${stateFolder}/approvals.json`, { stateFolder })
  expect(outside.stdout.text).toBe('secret')
  rmSync(join(stateFolder, '..'), { recursive: true })
})

test('fault T15: a workspace inside the state folder is there, the state around it is not', async (context) => {
  need(context, 'bubblewrap')
  const stateFolder = folderElsewhere()
  const workspaceRoot = join(stateFolder, 'trees', 'one')
  mkdirSync(workspaceRoot, { recursive: true })
  writeFileSync(join(stateFolder, 'runs.db'), 'secret')
  writeFileSync(join(workspaceRoot, 'a.txt'), 'text')
  const { stdout } = await run('cat a.txt ../../runs.db; echo new > b.txt', {
    isSandboxed: true,
    stateFolder,
    workspaceRoot,
  })
  expect(stdout.text).toBe('text')
  expect(statSync(join(workspaceRoot, 'b.txt')).size).toBe(4)
  rmSync(stateFolder, { recursive: true })
})

test.for([false, true])(
  'fault T16: a command gets listed variables only, sandbox: %s',
  async (isSandboxed, context) => {
    if (isSandboxed) need(context, 'bubblewrap')
    process.env['OPENAI_API_KEY'] = 'sk-test-of-env'
    try {
      const { stdout } = await run('env', { isSandboxed, extra: { MINE: 'given' } })
      const names = stdout.text.split('\n').flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? [])
      const allowed = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TERM', 'TZ', 'MINE', 'LOOPCHART_CALL']
      // These bash makes itself.
      expect(names.filter((name) => ![...allowed, 'PWD', 'SHLVL', '_', 'OLDPWD'].includes(name))).toEqual([])
      expect(stdout.text).toContain('MINE=given\n')
      expect(stdout.text).not.toContain('sk-test-of-env')
    } finally {
      delete process.env['OPENAI_API_KEY']
    }
  },
)

test('fault T16: in the sandbox the environment of loopchart is out of reach', async (context) => {
  need(context, 'bubblewrap')
  // Without a sandbox it is not: the variables that a process was started with stay readable.
  const script = `cat /proc/[0-9]*/environ | tr '\\0' '\\n'`
  const seen = (await run(script, { isSandboxed: true })).stdout.text
  expect(seen).toContain('HOME=/tmp/home\n')
  expect(seen).not.toContain('VITEST')
  const outside = await run(`cat /proc/${process.pid}/environ; ls /proc/${process.ppid}`, {
    isSandboxed: true,
  })
  expect(outside.stderr.text.match(/No such file or directory/g)).toHaveLength(2)
})

test('fault T16: an empty or relative folder in PATH, or one in the workspace, is not passed on', async () => {
  const there = place()
  const before = process.env['PATH']
  process.env['PATH'] = `.::bin:${there.workspaceRoot}/node_modules/.bin:/usr/bin:/bin`
  try {
    expect((await run('echo "$PATH"', there)).stdout.text).toBe('/usr/bin:/bin\n')
  } finally {
    process.env['PATH'] = before
  }
})

test.for([false, true])(
  'fault T22: a command with more processes than allowed is stopped, sandbox: %s',
  { timeout: SLOW_MS },
  async (isSandboxed, context) => {
    if (isSandboxed) need(context, 'bubblewrap')
    const seconds = mark()
    const script = `for i in {1..400}; do sleep ${seconds} & done; wait`
    const { ending } = await run(script, { isSandboxed, timeoutMs: 15_000 })
    expect(ending).toEqual({ kind: 'over_limit', limit: 'processes' })
    expect(pidsWith(seconds)).toEqual([])
  },
)

test(
  'fault T22: a command with as many processes as allowed is not stopped',
  { timeout: SLOW_MS },
  async () => {
    const script = 'for i in {1..19}; do sleep 1 & done; wait'
    expect((await run(script, { limits: { processesMax: 20 } })).ending).toEqual({
      kind: 'exited',
      exitCode: 0,
    })
    const more = 'for i in {1..20}; do sleep 1 & done; wait'
    expect((await run(more, { limits: { processesMax: 20 } })).ending).toMatchObject({ kind: 'over_limit' })
  },
)

test('fault T22: a process gets as much memory as its limit and no more', { timeout: SLOW_MS }, async () => {
  const hog = 'const held=[];for(let at=0;at<4;at++)held.push(new Uint8Array(512*2**20));console.log("held")'
  const { ending, stderr } = await run([process.execPath, '-e', hog], {
    limits: { memoryBytesMax: 1024 * MIB },
  })
  expect(ending).toEqual({ kind: 'exited', exitCode: 1 })
  expect(stderr.text).toContain('allocation failed')
  expect((await run([process.execPath, '-e', hog])).stdout.text).toBe('held\n')
})

test.for([false, true])(
  'fault T22: a file grows to its limit and no further, sandbox: %s',
  async (isSandboxed, context) => {
    if (isSandboxed) need(context, 'bubblewrap')
    const there = place()
    const argv = ['dd', 'if=/dev/zero', 'of=filler', 'bs=1M', 'count=64']
    const { ending } = await run(argv, { ...there, isSandboxed, limits: { fileBytesMax: 8 * MIB } })
    expect(ending).toEqual({ kind: 'over_limit', limit: 'file_size' })
    expect(statSync(join(there.workspaceRoot, 'filler')).size).toBe(8 * MIB)
  },
)

test('fault T22: a process that uses up its CPU time is stopped', { timeout: SLOW_MS }, async () => {
  const { ending } = await run('while :; do :; done', { limits: { cpuSecondsMax: 1 }, timeoutMs: 20_000 })
  expect(ending).toEqual({ kind: 'over_limit', limit: 'cpu_time' })
})

test('fault T22: node and npm run within the default limits', { timeout: SLOW_MS }, async () => {
  const wasm = 'new WebAssembly.Memory({ initial: 1, maximum: 65536 }); console.log("fine")'
  expect((await run([process.execPath, '-e', wasm])).stdout.text).toBe('fine\n')
  expect((await run(['npm', '--version'])).stdout.text).toMatch(/^\d+\.\d+\.\d+\n$/)
})
