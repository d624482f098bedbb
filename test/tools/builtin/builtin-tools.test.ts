import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { builtinTools, type BuiltinOptions } from '../../../src/tools/builtin/builtin-tools.ts'
import { ownProcessRecord, writeProcessRecord } from '../../../src/tools/process/process-records.ts'
import { isAlive, startTimeOf } from '../../../src/tools/process/process-table.ts'
import { freshFolder } from '../workspace/fresh-workspace.ts'

const TOKEN = 'fedcba9876543210fedcba9876543210'

function folders(): { readonly workspace: string; readonly stateFolder: string } {
  const base = freshFolder()
  mkdirSync(join(base, 'ws'))
  return { workspace: join(base, 'ws'), stateFolder: join(base, 'state') }
}

test('fault T06: what a crashed process left running is dead when the tools are there, before any command', async () => {
  const { workspace, stateFolder } = folders()
  const child = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })
  await once(child, 'spawn')
  const exited = once(child, 'exit')
  const leader = { pid: child.pid ?? 0, startTime: startTimeOf(child.pid ?? 0) ?? 0 }
  const dead = { pid: process.pid, startTime: 1 }
  writeProcessRecord(stateFolder, { ...ownProcessRecord(TOKEN, 'run_1/0/0', leader), owner: dead })
  try {
    await builtinTools({ workspace, stateFolder, shell: { sandbox: 'off' } })
    expect(isAlive(leader)).toBe(false)
  } finally {
    child.kill('SIGKILL')
    await exited
  }
})

test.for<readonly [object, string]>([
  [{ shel: {} }, 'the options cannot have "shel", only workspace, stateFolder, isAutoEdit, shell'],
  [{ autoEdit: true }, 'the options cannot have "autoEdit"'],
  [{ isAutoEdit: 'no' }, 'isAutoEdit must be true or false'],
  [{ workspace: undefined }, 'workspace must be the path of a folder'],
  [{ workspace: '' }, 'workspace must be the path of a folder'],
  [{ stateFolder: '' }, 'stateFolder must be the path of a folder'],
  [{ stateFolder: 5 }, 'stateFolder must be the path of a folder'],
  [{ shell: 'off' }, 'shell must be an object'],
  [{ shell: { limit: {} } }, 'shell cannot have "limit", only sandbox, env, limits, isUnsandboxedAllowed'],
  [{ shell: { sandbox: 'none' } }, 'shell.sandbox must be auto or off'],
  [{ shell: { isUnsandboxedAllowed: 'yes' } }, 'shell.isUnsandboxedAllowed must be true or false'],
  [{ shell: { env: { 'A=B': 'x' } } }, 'shell.env: "A=B" is no name of a variable'],
  [{ shell: { env: { 'A\0': 'x' } } }, 'is no name of a variable'],
  [{ shell: { env: { '': 'x' } } }, 'shell.env: "" is no name of a variable'],
  [{ shell: { env: { A: 'x\0y' } } }, 'shell.env: the value of "A" must be a text without NUL'],
  [{ shell: { env: { A: 5 } } }, 'shell.env: the value of "A" must be a text without NUL'],
  [{ shell: { env: ['A'] } }, 'shell.env must be an object'],
  [{ shell: { limits: { processes: 1 } } }, 'shell.limits cannot have "processes", only memoryBytesMax'],
  [
    { shell: { limits: { memoryBytesMax: -1 } } },
    'shell.limits.memoryBytesMax must be a whole number, at least 1',
  ],
  [{ shell: { limits: { memoryBytesMax: '4GB' } } }, 'shell.limits.memoryBytesMax must be a whole number'],
  [{ shell: { limits: { fileBytesMax: 1.5 } } }, 'shell.limits.fileBytesMax must be a whole number'],
  [{ shell: { limits: { processesMax: null } } }, 'shell.limits.processesMax must be a whole number'],
  [{ shell: { limits: { cpuSecondsMax: 0 } } }, 'shell.limits.cpuSecondsMax must be a whole number'],
])('the options %j are refused at once: %s', async ([options, complaint]) => {
  const { workspace, stateFolder } = folders()
  const making = builtinTools({ workspace, stateFolder, ...options })
  await expect(making).rejects.toMatchObject({
    code: 'tool_invalid',
    message: expect.stringContaining(complaint) as unknown,
  })
  expect(existsSync(stateFolder)).toBe(false)
})

test('no options at all are refused, and those that are undefined are as if they were not there', async () => {
  const none = undefined as unknown as BuiltinOptions
  await expect(builtinTools(none)).rejects.toMatchObject({ code: 'tool_invalid' })
  const { workspace, stateFolder } = folders()
  const shell = { sandbox: undefined, limits: { processesMax: undefined, cpuSecondsMax: null } }
  const options = { workspace, stateFolder, isAutoEdit: undefined, shell } as unknown as BuiltinOptions
  expect(await builtinTools(options)).toHaveLength(8)
})
