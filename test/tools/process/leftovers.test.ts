import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { killLeftovers } from '../../../src/tools/process/kill-leftovers.ts'
import {
  ownProcessRecord,
  writeProcessRecord,
  type ProcessRecord,
} from '../../../src/tools/process/process-records.ts'
import { isAlive, processPlace, startTimeOf } from '../../../src/tools/process/process-table.ts'
import { place } from './command-kit.ts'

const TOKEN = '0123456789abcdef0123456789abcdef'
/** No process has started at that time. */
const DEAD = { pid: process.pid, startTime: 1 }

async function withSleeper(
  environment: Readonly<Record<string, string>>,
  use: (pid: number) => Promise<void>,
): Promise<void> {
  const child = spawn('sleep', ['1000'], {
    detached: true,
    stdio: 'ignore',
    env: { PATH: '/usr/bin:/bin', ...environment },
  })
  await once(child, 'spawn')
  const exited = once(child, 'exit')
  try {
    await use(child.pid ?? 0)
  } finally {
    child.kill('SIGKILL')
    await exited
  }
}

function recordOf(changes: Partial<ProcessRecord>): string {
  const { stateFolder } = place()
  writeProcessRecord(stateFolder, { ...ownProcessRecord(TOKEN, 'run_1/0/0', null), owner: DEAD, ...changes })
  return stateFolder
}

test('a process with the pid and the start time of the record is killed', async () => {
  await withSleeper({}, async (pid) => {
    const leader = { pid, startTime: startTimeOf(pid) ?? 0 }
    expect(await killLeftovers(recordOf({ leader }))).toEqual([{ key: 'run_1/0/0', killed: 1 }])
    expect(isAlive(leader)).toBe(false)
  })
})

test('a process that got the pid of the record later is left alone', async () => {
  await withSleeper({}, async (pid) => {
    const startTime = startTimeOf(pid) ?? 0
    expect(await killLeftovers(recordOf({ leader: { pid, startTime: startTime - 1 } }))).toMatchObject([
      { killed: 0 },
    ])
    expect(isAlive({ pid, startTime })).toBe(true)
  })
})

test('a process with the token is killed though no pid was recorded', async () => {
  await withSleeper({ LOOPCHART_CALL: TOKEN }, async (pid) => {
    const startTime = startTimeOf(pid) ?? 0
    expect(await killLeftovers(recordOf({}))).toMatchObject([{ killed: 1 }])
    expect(isAlive({ pid, startTime })).toBe(false)
  })
})

test('a record of another boot is removed and kills nobody', async () => {
  await withSleeper({ LOOPCHART_CALL: TOKEN }, async (pid) => {
    const leader = { pid, startTime: startTimeOf(pid) ?? 0 }
    expect(await killLeftovers(recordOf({ leader, place: 'another-boot pid:[1]' }))).toMatchObject([
      { killed: 0 },
    ])
    expect(isAlive(leader)).toBe(true)
  })
})

test('a record of another container on this machine is left where it is', async () => {
  const [boot] = processPlace().split(' ')
  const stateFolder = recordOf({ place: `${boot} pid:[1]` })
  expect(await killLeftovers(stateFolder)).toEqual([])
  expect(readdirSync(join(stateFolder, 'processes'))).toEqual([`${TOKEN}.json`])
})

test.each([
  '',
  '{',
  '[]',
  '{"token":"x"}',
  `{"token":"${TOKEN}","key":"k","place":"p","owner":{"pid":-1,"startTime":1}}`,
])('a record that cannot be read (%s) kills nobody', async (text) => {
  const { stateFolder } = place()
  mkdirSync(join(stateFolder, 'processes'), { recursive: true })
  writeFileSync(join(stateFolder, 'processes', `${TOKEN}.json`), text)
  expect(await killLeftovers(stateFolder)).toEqual([])
})
