import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { beforeAll, expect, test, vi } from 'vitest'

import type { Frame } from '../../src/frames/generated/frame.ts'
import { cli, framesIn, makeFolder, saying } from '../cli/run-cli.ts'
import { CALL, fileOf, logOf, makeLog, place, runsIn, serve, storeOf, writeAgent } from './cli-store-kit.ts'

// Each test starts processes, and the machine may have other things to do.
vi.setConfig({ testTimeout: 60_000 })

const DAY_MS = 86_400_000

let log: readonly Frame[] = []
beforeAll(async () => {
  log = await makeLog('run_a1')
})

/** The log as that of another run, so many days older. */
function copyOf(runId: string, days = 0): readonly Frame[] {
  return log.map((frame) => ({ ...frame, run_id: runId, ts: frame.ts - days * DAY_MS }))
}

/** The beginning of the log up to where its call has begun. */
function cutOff(runId: string): readonly Frame[] {
  const frames = copyOf(runId)
  return frames.slice(0, frames.findIndex(({ type }) => type === 'tool_started') + 1)
}

test('runs shows every run with its state, turn, age, model and owner', async () => {
  const store = storeOf(copyOf('run_old', 3), cutOff('run_cut'))
  const { code, out, err } = await cli(['runs', '--store', store])
  expect([code, err]).toEqual([0, ''])
  expect(out).toMatch(/^run +state +turn +age +model +owner\n/u)
  expect(out).toMatch(/^run_old +done +2 +3 d +m +-$/mu)
  expect(out).toMatch(/^run_cut +working\.executing\.running +1 +now +m +-$/mu)
})

test('runs --check says of each open run whether it could go on, and why not', async () => {
  const provider = await serve()
  const folder = makeFolder()
  const same = writeAgent(folder, 'same.ts', provider, "{ execute: () => '' }")
  const other = writeAgent(folder, 'other.ts', provider, "{ execute: () => '' }", "instructions: 'Be long.'")
  const without = writeAgent(folder, 'without.ts', provider, "{ name: 'land', execute: () => '' }")
  const store = storeOf(log, cutOff('run_cut'))
  const check = (...more: readonly string[]): ReturnType<typeof cli> =>
    cli(['runs', '--check', '--store', store, ...more])
  const verdicts = await Promise.all([
    check(),
    check('--agent', same),
    check('--agent', other),
    check('--agent', without),
  ])
  expect(verdicts.map(({ code }) => code)).toEqual([0, 0, 0, 1])
  expect(verdicts.map(({ out }) => /^run_cut +\S+ +(.*)$/mu.exec(out)?.[1])).toEqual([
    'compatible  -',
    'compatible  -',
    "migratable  the agent's instructions changed",
    'refused  it has called the tool launch, which the agent does not have',
  ])
})

test('runs prune removes what is old, says what it removed, and keeps failed runs when it is told to', async () => {
  const failed = copyOf('run_failed', 40).map((frame) =>
    frame.type === 'run_ended' || (frame.type === 'state_entered' && frame.state === 'done')
      ? { ...frame, state: 'failed' as const }
      : frame,
  )
  const store = storeOf(log, copyOf('run_old', 31), copyOf('run_young', 29), failed)
  const kept = await cli(['runs', 'prune', '--older-than', '30d', '--keep-failed', '--store', store])
  expect(kept).toEqual({ code: 0, out: 'run_old\n', err: '1 run removed, 3 left\n' })
  const all = await cli(['runs', '--store', store, 'prune', '--older-than', '4w', '--json'])
  expect(JSON.parse(all.out).removed.toSorted()).toEqual(['run_failed', 'run_young'])
})

test('a run that was exported and imported elsewhere is the same run', async () => {
  const folder = makeFolder()
  const exported = await cli(['runs', 'export', 'run_a', '--store', storeOf(log)])
  expect(framesIn(exported.out)).toEqual(log)
  const elsewhere = join(folder, 'elsewhere.db')
  const imported = await cli(['runs', 'import', '-', '--store', elsewhere], { input: exported.out })
  expect(imported).toEqual({ code: 0, out: 'run_a1\n', err: `${log.length} frames taken in\n` })
  expect(logOf({ folder, store: elsewhere, flags: [] }, 'run_a1')).toEqual(log)
})

test('what is exported has no secret of the environment', async () => {
  const secret = await makeLog('run_s', 'the-word-is-swordfish')
  const env = { SOME_TOKEN: 'swordfish' }
  const { out, err } = await cli(['runs', 'export', 'run_s', '--store', storeOf(secret)], { env })
  expect(out).not.toContain('swordfish')
  expect(out).toContain('[redacted]')
  expect(err).toMatch(/secrets were masked/u)
})

test('replay finds a run identical, from a store, a file and standard input', async () => {
  const file = fileOf(log)
  const all = await Promise.all([
    cli(['replay', 'run_a', '--store', storeOf(log)]),
    cli(['replay', file]),
    cli(['replay', '-'], { input: readFileSync(file, 'utf8') }),
  ])
  for (const { code, out, err } of all) {
    expect([code, out, err]).toEqual([0, `identical: ${log.length} frames, 4 decisions\n`, ''])
  }
})

test.for([
  ['a request', /("type":"request_sent".*?)Be brief/u, '$1Be brjef', 'body', 'working.responding.requesting'],
  [
    'a state',
    /"state":"working.followingUp"/u,
    '"state":"working.followingUq"',
    'state',
    'working.responding.requesting',
  ],
  ['the answer', /("type":"run_ended".*"text":")Gone/u, '$1Gonf', 'text', 'done'],
] as const)(
  'replay shows the first thing that does not follow after one byte of %s was changed',
  async ([, from, to, field, state]) => {
    const file = fileOf(log)
    const text = readFileSync(file, 'utf8')
    const at = text.split('\n').findIndex((line, index) => line !== text.replace(from, to).split('\n')[index])
    writeFileSync(file, text.replace(from, to))
    const { code, out, err } = await cli(['replay', file])
    expect([code, err]).toEqual([1, ''])
    expect(out).toMatch(
      new RegExp(`^differs at frame ${at}, in ${state}: ${field} is ".*", it should be ".*"\n$`, 'u'),
    )
    const json = await cli(['replay', file, '--json'])
    expect([json.code, JSON.parse(json.out)]).toMatchObject([
      1,
      { ok: false, divergence: { seq: at, state, field } },
    ])
  },
)

test('diff says that two runs go the same way, whatever their ids, or where they part', async () => {
  const store = storeOf(log, await makeLog('run_b'), await makeLog('run_c', 'exploded'))
  const same = await cli(['diff', 'run_a', 'run_b', '--store', store])
  expect([same.code, same.out]).toEqual([0, 'both runs go the same way, 4 transitions long\n'])
  const other = await cli(['diff', 'run_a', 'run_c', '--store', store])
  expect(other.code).toBe(1)
  expect(other.out).toMatch(
    /^transition 2 \(frame \d+ of a, frame \d+ of b\): the end of call 0 differs at output: .*launched.* in a, .*exploded.* in b\n$/u,
  )
  const json = await cli(['diff', fileOf(log), 'run_c', '--store', store, '--json'])
  expect(JSON.parse(json.out)).toMatchObject({ isSame: false, at: 2, part: 'decision' })
})

test('explain says why a run is where it is, what would become of it, and which decisions there were', async () => {
  const { code, out } = await cli(['explain', 'run_cut', '--store', storeOf(cutOff('run_cut'))])
  expect(code).toBe(0)
  expect(out).toMatch(
    /^run run_cut: was cut off in working\.executing\.running, turn 1; \d+ frames, resumed 0 times$/mu,
  )
  expect(out).toMatch(/^waits for: call call_7 of launch to end$/mu)
  expect(out).toMatch(/^when resumed: somebody must say what became of call call_7 of launch$/mu)
  expect(out).toMatch(
    /^frame +decision +then\n0 +the start +responding\.requesting\n\d+ +response 1 +assembling > /mu,
  )
})

test('fork begins a new run with another result of a call, and leaves the old one as it is', async () => {
  const provider = await serve(CALL, saying('Gone.'))
  const where = place(provider)
  const old = await makeLog('run_f', 'launched', provider)
  const there = { ...where, store: storeOf(old) }
  const ended = old.find(({ type }) => type === 'tool_ended')
  const change = ['--at', String(ended?.seq), '--change', 'failed:it blew up']
  const { code, out } = await cli(['fork', 'run_f', ...change, ...where.flags, '--store', there.store])
  expect([code, out]).toEqual([0, 'Gone.\n'])
  const forked = runsIn(there).find(({ runId }) => runId !== 'run_f')
  expect(forked).toMatchObject({ state: 'done', turn: 2 })
  const frames = logOf(there, forked?.runId ?? '')
  expect(frames.find(({ type }) => type === 'tool_failed')).toMatchObject({
    output: 'it blew up',
    outcome: 'error',
  })
  expect(provider.requests.at(-1)?.body).toMatchObject({
    input: [{ type: 'function_call_output', call_id: 'call_7', output: 'it blew up' }],
  })
  expect(logOf(there, 'run_f')).toEqual(old)
})
