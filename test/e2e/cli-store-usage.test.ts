import { appendFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'

import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'

import { LoopchartError } from '../../src/errors.ts'
import { formatFrame } from '../../src/frames/format-frame.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { concludeBroken } from '../../src/cli/conclude-kept.ts'
import { diffVerb } from '../../src/cli/diff-verb.ts'
import { explainVerb } from '../../src/cli/explain-verb.ts'
import { forkVerb } from '../../src/cli/fork-verb.ts'
import { pruneRuns } from '../../src/cli/prune-verb.ts'
import { replayVerb } from '../../src/cli/replay-verb.ts'
import { chatHint, resumeHint } from '../../src/cli/resume-hint.ts'
import { report } from '../../src/cli/report.ts'
import { resumeVerb, type ResumeFlags } from '../../src/cli/resume-verb.ts'
import { listRuns } from '../../src/cli/runs-verb.ts'
import { exportRun, importRun } from '../../src/cli/transfer-verbs.ts'
import { openStore } from '../../src/journal/open-store.ts'
import { makeFolder } from '../cli/run-cli.ts'
import { fileOf, makeLog, storeOf } from './cli-store-kit.ts'

// What is wrong with a command line is thrown before anything is printed or sent; how it is shown is tested with run.

const AWAY = 'http://127.0.0.1:9/v1'

let log: readonly Frame[] = []
beforeAll(async () => {
  log = await makeLog('run_a1')
})

function spied(stream: 'stdout' | 'stderr'): readonly string[] {
  const written: string[] = []
  const spy = vi.spyOn(process[stream], 'write').mockImplementation((text) => {
    written.push(String(text))
    return true
  })
  onTestFinished(() => spy.mockRestore())
  return written
}

function renamed(runId: string): readonly Frame[] {
  return log.map((frame) => ({ ...frame, run_id: runId }))
}

test.for<readonly [string, string, ResumeFlags, string, string]>([
  ['a run that is not there', 'nowhere', {}, 'has no run "nowhere"', 'run_unknown'],
  ['no beginning at all', '', {}, 'has no run ""', 'run_unknown'],
  ['a beginning that two runs have', 'run_a', {}, '2 runs begin with run_a: run_a', 'usage'],
  ['an answer that is none', 'run_a1', { reconcile: ['call_7=maybe'] }, 'CALL=done:OUTPUT', 'usage'],
  ['a text for a call that is to run', 'run_a1', { reconcile: ['call_7=rerun:now'] }, 'CALL=rerun', 'usage'],
  [
    'a call that is not in doubt',
    'run_open',
    { reconcile: ['c=done'] },
    'c is not in doubt; these are: call_7',
    'usage',
  ],
  [
    'a call in doubt where none is',
    'run_early',
    { reconcile: ['c=rerun'] },
    'c is not in doubt; no call of this run is',
    'usage',
  ],
  [
    'a call that waits for nothing',
    'run_open',
    { approveCall: ['c'] },
    'c does not wait for approval; no call of this run does',
    'usage',
  ],
  [
    'a yes to a run that has ended',
    'run_a1',
    { approveCall: ['c'] },
    'the run has ended: done',
    'resume_refused',
  ],
  [
    'neither an agent nor a provider',
    'run_open',
    {},
    'there is no provider to go on with: give --agent FILE or --base-url as the run was begun with, or set OPENAI_API_KEY',
    'provider_missing',
  ],
  ['a yes and a no', 'run_a1', { approveCall: ['c'], denyCall: ['c'] }, 'not both', 'usage'],
  ['a model beside an agent', 'run_a1', { agent: 'a.ts', model: 'm2' }, '--model has no effect', 'usage'],
  ['a run that has ended', 'run_b', { baseUrl: AWAY }, 'the run has ended: done', 'resume_refused'],
])('resume with %s says what is wrong', async ([, given, flags, message, code]) => {
  const cut = 1 + log.findIndex(({ type }) => type === 'tool_started')
  const open = renamed('run_open').slice(0, cut)
  const store = storeOf(log, renamed('run_a2'), renamed('run_b1'), open, renamed('run_early').slice(0, 3))
  await expect(resumeVerb(given, { ...flags, store })).rejects.toMatchObject({
    code,
    message: expect.stringContaining(message),
  })
})

test.for(['30', 'd', '-1d', '0d', '1.5h', '30 days', ''])(
  'runs prune --older-than %j is refused',
  async (olderThan) => {
    await expect(pruneRuns({ store: storeOf(log), olderThan })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('such as 30d'),
    })
  },
)

test('runs prune without an age is refused: it never removes everything by accident', async () => {
  await expect(pruneRuns({ store: storeOf(log) })).rejects.toMatchObject({ code: 'usage' })
})

test.for([
  ['without a decision', {}, 'run_a1', '--at must be the number'],
  ['with a number that is none', { at: '1e3' }, 'run_a1', '--at must be the number'],
  [
    'at the start',
    { at: '0' },
    'run_a1',
    'frame 0 is the start of the run: a run is forked at a decision behind its start; loopchart explain RUN',
  ],
  ['at a frame that decides nothing', { at: '1' }, 'run_a1', 'frame 1 is no decision'],
  ['beyond the end', { at: '99999' }, 'run_a1', 'frame 99999 is no decision'],
  ['with a change that is none', { at: '1', change: 'better' }, 'run_a1', 'output:TEXT, failed:TEXT'],
  ['with two changes', { at: '1', change: 'approve', model: 'm' }, 'run_a1', 'two changes'],
] as const)('fork %s says what is wrong', async ([, flags, given, message]) => {
  const store = storeOf(log)
  await expect(forkVerb(given, { ...flags, store, baseUrl: AWAY })).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining(message),
  })
})

test('a fork that could not go on is not stored', async () => {
  const store = storeOf(log)
  const at = String(log.find(({ type }) => type === 'tool_ended')?.seq)
  await expect(forkVerb('run_a1', { at, change: 'output:x', store, baseUrl: AWAY })).rejects.toMatchObject({
    code: 'resume_refused',
    message: expect.stringContaining('it has called the tool launch'),
  })
  const opened = openStore(store)
  expect(opened.list()).toHaveLength(1)
  opened.close()
})

test('a store that is not there is not made by a verb that reads', async () => {
  const store = '/nowhere/runs.db'
  const thrown = { code: 'file_unreadable', message: expect.stringContaining('there is no store') }
  for (const verb of [
    () => listRuns({ store }),
    () => resumeVerb('r', { store }),
    () => replayVerb('r', { store }),
    () => diffVerb('r', 's', { store }),
    () => explainVerb('r', { store }),
    () => exportRun('r', { store }),
    () => pruneRuns({ store, olderThan: '1d' }),
  ]) {
    await expect(verb()).rejects.toMatchObject(thrown)
  }
})

test('runs --agent without --check is refused', async () => {
  await expect(listRuns({ store: storeOf(log), agent: 'a.ts' })).rejects.toMatchObject({ code: 'usage' })
})

test('a log with a line that is no frame is refused with the number of the line', async () => {
  const file = fileOf(log.slice(0, 2))
  appendFileSync(file, '{"v":1,"type":"nothing"}\n')
  await expect(replayVerb(file, {})).rejects.toMatchObject({
    code: 'frame_invalid',
    message: expect.stringContaining('log.jsonl, line 3: '),
  })
})

test('a log without a line is not identical to anything', async () => {
  await expect(replayVerb(fileOf([]), {})).rejects.toMatchObject({ code: 'log_corrupt' })
})

test('a log whose last line was cut off is replayed without it, as it is taken in', async () => {
  const lines = log.slice(0, -1).map((frame) => formatFrame(frame))
  const cut = join(makeFolder({ 'log.jsonl': [...lines, '{"v":1,"run_id'].join('\n') }), 'log.jsonl')
  const [out, err] = [spied('stdout'), spied('stderr')]
  expect(await replayVerb(cut, {})).toBe(0)
  expect(await explainVerb(cut, {})).toBe(0)
  expect(await importRun(cut, { store: storeOf() })).toBe(0)
  const torn = 'the last line was cut off, 14 bytes were dropped'
  expect(err).toEqual([
    `loopchart: ${cut}: ${torn}\n`,
    `loopchart: ${cut}: ${torn}\n`,
    `${log.length} frames taken in; ${torn}\n`,
  ])
  expect(out[0]).toBe(`identical: ${log.length} frames, 4 decisions\n`)
})

test('a file that is no log is called so by the verb that replays it and by the one that takes it in', async () => {
  const thrown = { code: 'frame_invalid', message: expect.stringContaining('README.md') }
  await expect(replayVerb('README.md', {})).rejects.toMatchObject(thrown)
  await expect(importRun('README.md', { store: storeOf() })).rejects.toMatchObject(thrown)
})

test('what a store says of itself when it cannot take a log in is not said of the log', async () => {
  const importing = importRun(fileOf(log), { store: 'README.md' })
  await expect(importing).rejects.toMatchObject({ message: expect.not.stringContaining('log.jsonl') })
})

test('who looks for a run is told how to list those of the store that was named', async () => {
  const store = storeOf(log).replace('runs.db', "it's.db")
  renameSync(store.replace("it's.db", 'runs.db'), store)
  const listing = `loopchart runs --store '${store.replace("'", String.raw`'\''`)}' lists those`
  for (const verb of [resumeVerb, replayVerb, exportRun]) {
    await expect(verb('nowhere', { store })).rejects.toMatchObject({
      message: expect.stringContaining(listing),
    })
  }
})

test('what is neither a file nor a run is said to be neither', async () => {
  await expect(replayVerb('typo.jsonl', { store: storeOf(log) })).rejects.toMatchObject({
    code: 'run_unknown',
    message: expect.stringContaining('"typo.jsonl" is neither a file nor a run of '),
  })
})

test('a log of a run that the store has already is not taken in', async () => {
  await expect(importRun(fileOf(log), { store: storeOf(log) })).rejects.toMatchObject({ code: 'run_exists' })
})

test('a store that is full before a run begins ends with the exit code of one that becomes full', () => {
  spied('stderr')
  expect(report(new LoopchartError('store_full', 'no space is left for the store: runs.db'))).toBe(6)
})

test('K04: a disk that becomes full suspends the run and says how to go on; what is no fault of the store is thrown', () => {
  const said: string[] = []
  const full = new LoopchartError('store_full', 'no space is left for the store: runs.db')
  expect(concludeBroken(full, 'go on with: loopchart resume r', (text) => said.push(text))).toBe(6)
  expect(said).toEqual([
    'no space is left for the store: runs.db [store_full]; mend that first; go on with: loopchart resume r',
  ])
  const bug = new TypeError('a bug')
  expect(() => concludeBroken(bug, '', (text) => said.push(text))).toThrow(bug)
})

test('the command that goes on with a run has what was said when it was begun, as a shell takes it', () => {
  const flags = { store: "it's.db", agent: 'a.ts#b', envFile: '.env', stream: false, json: true } as const
  expect(resumeHint(flags, 'run_1')).toBe(
    String.raw`go on with: loopchart resume run_1 --store 'it'\''s.db' --agent a.ts#b --env-file .env --no-stream`,
  )
  expect(resumeHint({ store: true, baseUrl: 'http://h/v1?a&b' }, 'run_1')).toBe(
    "go on with: loopchart resume run_1 --base-url 'http://h/v1?a&b'",
  )
  const tools = { tools: 'builtin', workspace: 'my files', trust: true, autoEdit: true } as const
  expect(resumeHint({ ...tools, sandbox: false, allowUnsandboxed: true }, 'run_1')).toBe(
    "go on with: loopchart resume run_1 --tools builtin --workspace 'my files' --trust --auto-edit --no-sandbox --allow-unsandboxed",
  )
  expect(resumeHint({ approve: 'none' }, 'run_1')).toBe('go on with: loopchart resume run_1 --approve none')
  expect(resumeHint({ sandbox: true, stream: true }, 'run_1')).toBe('go on with: loopchart resume run_1')
  expect(resumeHint({ provider: 'scripted', store: true }, 'run_1')).toMatch(/loopchart mock/u)
})

test('the command that comes back to a conversation has what was said when it was begun', () => {
  const flags = {
    price: 'input=1,output=2',
    budget: 'tokens=9',
    crossRunCursor: true,
    baseUrl: 'http://h/v1',
  } as const
  expect(chatHint({ ...flags, compactWay: 'model', model: 'm', json: true }, "it's")).toBe(
    String.raw`come back with: loopchart chat --conversation 'it'\''s' --price input=1,output=2 --budget tokens=9 --compact-way model --cross-run-cursor --base-url http://h/v1`,
  )
  expect(chatHint({ provider: 'scripted', script: 's.json', store: 'a.db' }, 'c')).toBe(
    'come back with: loopchart chat --conversation c --provider scripted --script s.json --store a.db',
  )
  expect(resumeHint(flags, 'run_1')).toBe('go on with: loopchart resume run_1 --base-url http://h/v1')
})
