import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test, vi } from 'vitest'

import { saying } from '../cli/run-cli.ts'
import { framesOf, readStream, startRunAt, startServe } from './cli-serve-kit.ts'
import { CALL, logOf, place, serve } from './cli-store-kit.ts'

// Each test starts processes, and the machine may have other things to do.
vi.setConfig({ testTimeout: 60_000 })

test('a call that is at work when SIGTERM comes has time to end, and is not asked about at the next start', async () => {
  const tool =
    "{ execute: async () => { did('begun'); while (!hasDone('go on')) await new Promise((r) => setTimeout(r, 10)); return 'up' } }"
  const where = place(await serve(CALL, saying('Landed.')), tool)
  const first = await startServe(where.flags)
  const runId = await startRunAt(first)
  const effects = join(where.folder, 'effects.txt')
  await expect
    .poll(() => readFileSync(effects, { encoding: 'utf8', flag: 'a+' }), { timeout: 20_000 })
    .toContain('begun')
  first.child.kill('SIGTERM')
  await first.until('err', /calls that are at work have 3 seconds/u)
  writeFileSync(effects, 'go on\n', { flag: 'a' })
  expect((await first.done).code).toBe(0)
  expect(logOf(where, runId).some(({ type }) => type === 'tool_ended')).toBe(true)
  const second = await startServe(where.flags)
  const address = `${second.url}/runs/${runId}/frames`
  const frames = framesOf(await readStream(address, second.announced.tokens?.read ?? ''))
  expect(frames.at(-1)).toMatchObject({ type: 'run_ended', state: 'done', text: 'Landed.' })
})

test('--log-level notes what runs do in the log of the process, without secrets', async () => {
  const where = place(await serve(saying('The word is hunter2-hunter2.')))
  const logFile = join(where.folder, 'serve.log')
  const serving = await startServe([...where.flags, '--log-level', 'trace', '--log-file', logFile], {
    env: { SOME_SECRET: 'hunter2-hunter2' },
  })
  const runId = await startRunAt(serving)
  await readStream(`${serving.url}/runs/${runId}/frames`, serving.announced.tokens?.read ?? '')
  serving.child.kill('SIGTERM')
  await serving.done
  const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n')
  const entries = lines.map((line) => JSON.parse(line) as { msg: string; run: string; seq: number })
  expect(entries.filter(({ run }) => run === runId).map(({ msg }) => msg)).toContain('run ended')
  expect(lines.join('\n')).not.toContain('hunter2')
  expect(lines.join('\n')).toContain('[redacted]')
})
