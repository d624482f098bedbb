import { Buffer } from 'node:buffer'

import { expect, test } from 'vitest'

import type { Frame } from '../../src/frames/generated/frame.ts'
import type { ModelRequest } from '../../src/loop/model.ts'
import { forkRun, replay } from '../../src/replay-run.ts'
import { diffRuns } from '../../src/replay/diff-runs.ts'
import { explainRun } from '../../src/replay/explain-run.ts'
import { callsAnswer, finishRun, startRun, textAnswer } from '../scripted-model.ts'

const LONG = `{"a":1,"b":2,"note":"${'a long story '.repeat(60)}"}`
const TURNS = [callsAnswer(1, [['add', LONG]]), callsAnswer(2, [['add', LONG]]), textAnswer(3, 'three')]
const OUTPUT = { output: [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'b3BhcXVl' }] }

async function compactedLog(): Promise<readonly Frame[]> {
  const compaction = { way: 'provider', atItems: 5, keepTokens: 100 } as const
  const compact = {
    endpoint: 'scripted:/compact',
    send: (request: ModelRequest) => {
      request.onHead({ status: 200, requestId: null, contentType: 'application/json' })
      request.onChunk(Buffer.from(JSON.stringify(OUTPUT)))
      return Promise.resolve(null)
    },
  }
  const { frames } = await finishRun(startRun(TURNS, { compaction }, { compact }))
  return JSON.parse(JSON.stringify(frames)) as Frame[]
}

function changed(frames: readonly Frame[], at: number, change: object): readonly Frame[] {
  return frames.map((frame, seq) => (seq === at ? { ...frame, ...change } : frame))
}

test('what a compaction asked and saw is of its turn and attempt, or the log is not what happened', async () => {
  const frames = await compactedLog()
  expect(replay(frames)).toMatchObject({ ok: true })
  const asked = frames.findIndex((frame) => frame.type === 'request_sent' && frame.kind === 'compact')
  for (const at of [asked, asked + 1, asked + 2]) {
    for (const change of [{ turn: 2 }, { attempt: 1 }])
      expect(replay(changed(frames, at, change)), `${at}`).toMatchObject({
        ok: false,
        divergence: { seq: at },
      })
  }
  expect(replay(changed(frames, asked, { kind: 'follow_up' }))).toMatchObject({ ok: false })
})

test('a request of a compaction where none is at work is found out', async () => {
  const frames = await compactedLog()
  const asked = frames.findIndex((frame) => frame.type === 'request_sent' && frame.kind === 'compact')
  const settled = frames.findIndex(({ type }) => type === 'effect_settled')
  const moved = [...frames.slice(0, asked), ...frames.slice(settled, -1), ...frames.slice(asked, settled)]
  const log = moved.map((frame, seq) => ({ ...frame, seq }))
  expect(replay(log)).toMatchObject({ ok: false })
})

test('other figures than those of the compaction are found out', async () => {
  const frames = await compactedLog()
  const at = frames.findIndex(({ type }) => type === 'history_compacted')
  expect(replay(changed(frames, at, { cause: 'tokens' }))).toMatchObject({
    ok: false,
    divergence: { seq: at },
  })
})

test('a run that was cut off while it was made shorter says what becomes of that', async () => {
  const frames = await compactedLog()
  const settled = frames.findIndex(({ type }) => type === 'effect_settled')
  expect(explainRun(frames.slice(0, settled))).toMatchObject({
    state: 'working.compacting',
    status: 'cut_off',
    onResume: ['the conversation is made shorter once more'],
  })
})

test('two runs that were made shorter in the same way do not differ', async () => {
  expect(diffRuns(await compactedLog(), await compactedLog())).toMatchObject({ isSame: true })
})

test('a fork that undoes a compaction has nothing of what it asked and saw', async () => {
  const frames = await compactedLog()
  const at = frames.findIndex(({ type }) => type === 'effect_settled')
  const fork = forkRun(frames, { at, change: { kind: 'keep_history' } })
  expect(fork.frames.some((frame) => frame.type === 'request_sent' && frame.kind === 'compact')).toBe(false)
  expect(fork.frames.at(-1)).toMatchObject({ type: 'state_entered', state: 'working.responding.requesting' })
  expect(replay(fork.frames)).toMatchObject({ ok: true })
})
