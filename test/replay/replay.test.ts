import { readFileSync } from 'node:fs'

import { expect, test, vi } from 'vitest'

import { runLogs } from '../../scripts/fixtures/run-logs.ts'
import { loopPaths as chartPaths } from '../../src/chart/loop-paths.ts'
import { LOOP_SCENARIOS } from '../../src/chart/loop-scenarios.ts'
import { createFold } from '../../src/chart/pure-fold.ts'
import { loopMachine } from '../../machines/loop.machine.ts'
import { agent } from '../../src/agent.ts'
import type { Frame } from '../../src/frames/generated/frame.ts'
import { strict } from '../../src/protocol/strict.ts'
import { replay } from '../../src/replay-run.ts'
import { loopPaths, pathName } from '../../src/testing/loop-paths.ts'
import { runPath } from '../../src/testing/run-path.ts'
import { drivePath } from '../model/driver-host.ts'
import {
  bodyAnswer,
  finishRun,
  scriptedModel,
  startRun,
  streamAnswer,
  textAnswer,
  watchedTool,
  type ScriptedAnswer,
} from '../scripted-model.ts'
import { fixtureNames, readFixture } from './stream-fixtures.ts'
import { readLog, RUN_FIXTURES } from './read-log.ts'

vi.setConfig({ testTimeout: 60_000 })

test('the logs on disk are what npm run fixtures writes', async () => {
  const expected = await runLogs()
  for (const [path, text] of expected) {
    const file = readFileSync(new URL(`../../fixtures/${path}`, import.meta.url), 'utf8')
    expect(file === text, `${path} is stale: run npm run fixtures`).toBe(true)
  }
  expect(RUN_FIXTURES.length).toBe(expected.size)
})

test.for(RUN_FIXTURES)('the run %s replays identically', (name) => {
  const frames = readLog(name)
  expect(replay(frames)).toMatchObject({ ok: true, frames: frames.length })
})

test.for(RUN_FIXTURES)('the run %s replays as far as it goes, wherever it is cut off', (name) => {
  const frames = readLog(name)
  for (let length = 1; length <= frames.length; length += 1) {
    expect(replay(frames.slice(0, length)), `${length} frames`).toMatchObject({ ok: true, frames: length })
  }
})

test('frames of an attempt that a resume superseded are replayed too', () => {
  const frames = readLog('cut-off-twice')
  const at = frames.findIndex(({ type }) => type === 'output_text_delta' || type === 'provider_event')
  const frame = frames[at]
  const superseded = frames.find(({ type }) => type === 'run_resumed')
  expect(superseded).toMatchObject({ superseded: { turn: 1, attempt: 0 } })
  const changed = { ...frame, anomalies: [{ code: 'x', detail: 'y' }] } as Frame
  expect(replay(frames.with(at, changed))).toMatchObject({ ok: false, divergence: { seq: at } })
})

test.for(LOOP_SCENARIOS)('the chart takes every path of "$name" again from its log', async (scenario) => {
  for (const path of chartPaths(scenario)) {
    const { frames } = await drivePath(path)
    const result = replay(JSON.parse(JSON.stringify(frames)) as Frame[], { depth: 'chart' })
    expect(result, pathName(path)).toMatchObject({ ok: true, frames: frames.length })
  }
})

test('every path of an agent with tools, an approval and a second model replays, bytes and requests included', async () => {
  const made = agent({
    model: [scriptedModel([]), scriptedModel([], { name: 'scripted-2' })],
    tools: [
      watchedTool('read', () => 'read', { readOnly: true }).tool,
      watchedTool('ask', () => 'asked', { needsApproval: true, outputEncoding: 'raw' }).tool,
    ],
    limits: { ms: 60_000, toolCalls: 2, tokens: 1000 },
    onLimit: 'wrap_up',
    continuity: 'auto',
    retry: { times: 1 },
    compaction: { atTokens: 500, compact: () => Promise.resolve({ ok: true, items: [USER], usage: null }) },
  })
  const watch = createFold(loopMachine)
  const paths = await loopPaths(made)
  expect(paths.length).toBeGreaterThan(200)
  for (const path of paths) {
    const run = await runPath(made, path, { answer: 'fine', watch, patienceMs: 10_000 })
    const [started, ...rest] = run.frames
    const { settings, wallTimeMs } = path.input
    // A path's own first frame leaves out what a run needs to be taken up again.
    const whole = {
      ...started,
      settings,
      agent: made.description,
      model: 'scripted-1, scripted-2',
      limits: { ...settings.limits, wall_time_ms: wallTimeMs },
    }
    const frames = JSON.parse(JSON.stringify([whole, ...rest])) as Frame[]
    expect(replay(frames), pathName(path)).toMatchObject({ ok: true, frames: frames.length })
  }
})

const USER = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'in short' }] }

test.for(fixtureNames())('a run whose first response is the stream %s replays identically', async (name) => {
  const answers: readonly ScriptedAnswer[] = [
    readFixture(name),
    ...Array.from({ length: 9 }, (_, at) => textAnswer(at + 2, 'five')),
  ]
  const { frames } = await finishRun(startRun(answers, { retry: { times: 2 } }))
  expect(replay(JSON.parse(JSON.stringify(frames)) as Frame[])).toMatchObject({
    ok: true,
    frames: frames.length,
  })
})

test.for([
  ['application/json', '{"id":"resp_1","status":"completed","output":[],"error":null}'],
  ['application/json', '<html>'],
  ['application/json', ''],
  ['text/event-stream', ': only a comment\n\n'],
  ['text/event-stream', 'data: {"type":"resp'],
] as const)('a response of type %s with the body %s replays identically', async ([type, body]) => {
  const { frames } = await finishRun(startRun([bodyAnswer(type, body), textAnswer(2, 'five')]))
  expect(replay(frames)).toMatchObject({ ok: true, frames: frames.length })
})

test('a run that was read strictly is replayed strictly, and differs otherwise', async () => {
  const odd = streamAnswer(1, (stream) => stream.event('response.made_up').message(0, ['hi']).end())
  const noNames = odd.replaceAll(/event: .*\n/gu, '')
  const { frames } = await finishRun(startRun([noNames, textAnswer(2, 'hi')], { profile: strict }))
  expect(replay(frames, { profile: strict })).toMatchObject({ ok: true })
  expect(replay(frames)).toMatchObject({ ok: false })
})

test('a response that was too large replays identically, although what was too much was not kept', async () => {
  const { frames } = await finishRun(
    startRun([textAnswer(1, 'x'.repeat(3000))], { streamLimits: { eventBytesMax: 2000 } }),
  )
  expect(frames.at(-1)).toMatchObject({ state: 'failed', reason: 'event_too_large' })
  expect(replay(frames)).toMatchObject({ ok: true, frames: frames.length })
})

test('what is not a log of a run differs at its first frame', () => {
  const [, second] = readLog('answer')
  expect(replay(second === undefined ? [] : [{ ...second, seq: 0 }])).toMatchObject({
    ok: false,
    divergence: { seq: 0, state: '', field: 'type', expected: 'run_started', actual: 'state_entered' },
  })
  expect(replay([])).toEqual({ ok: true, frames: 0, decisions: 0 })
})

test('a divergence names the frame, the state and the field, and shows what surrounds the first other character', () => {
  const frames = readLog('calls-and-approval')
  const at = frames.findLastIndex(({ type }) => type === 'request_sent')
  const sent = frames[at]
  if (sent?.type !== 'request_sent') throw new Error('there is no second request')
  const result = replay(frames.with(at, { ...sent, body: sent.body.replace('not today', 'not to-day') }))
  if (result.ok) throw new Error('a changed request was not found')
  const { divergence } = result
  expect(divergence).toMatchObject({ seq: at, state: 'working.responding.requesting', field: 'body' })
  expect(divergence.expected).toContain('not today')
  expect(divergence.actual).toContain('not to-day')
  expect(String(divergence.actual).length).toBeLessThan(250)
})
