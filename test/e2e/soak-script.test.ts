import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { expect, onTestFinished, test } from 'vitest'

const script = fileURLToPath(new URL('../../bench/soak/main.ts', import.meta.url))

function figuresFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'loopchart-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'soak.json')
}

test('a soak of a few messages ends with its table, and every message came to what it had to', async () => {
  const out = figuresFile()
  // The messages of this seed do many things and none that takes long.
  const args = ['--messages', '40', '--conversations', '4', '--pause-ms', '5', '--seed', '4', '--out', out]
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...args])
  expect(stdout).toContain('| measure | measured | limit | |\n|---|---|---|---|\n')
  expect(stdout).toContain(
    '| messages with the answer or the failure that they asked for | 40 of 40 | all | ok |',
  )
  expect(stdout.trimEnd()).toMatch(/Everything is as it must be\.$/u)
  const { measured, tally } = JSON.parse(readFileSync(out, 'utf8'))
  expect(measured).toMatchObject({ answered: 40, unexpected: 0, hangs: 0, alarms: 0, listenersLeft: 0 })
  expect(tally.unexpected).toEqual([])
})

test('Ctrl-C ends a soak early, with its table', async () => {
  const args = ['--minutes', '10', '--conversations', '2', '--pause-ms', '5', '--out', figuresFile()]
  const child = spawn(process.execPath, [script, ...args])
  onTestFinished(() => void child.kill('SIGKILL'))
  let stdout = ''
  child.stdout.on('data', (chunk) => (stdout += String(chunk)))
  const ended = once(child, 'exit')
  await once(child.stderr, 'data')
  child.kill('SIGINT')
  await ended
  expect(stdout).toContain('| measure | measured | limit | |')
})

test('an option that means nothing is refused before anything starts', async () => {
  const refused = promisify(execFile)(process.execPath, [script, '--minutes', 'many'])
  await expect(refused).rejects.toThrow('--minutes must be a number above 0, it is "many"')
})
