import { expect, test } from 'vitest'

import type { Frame } from '../../src/frames/generated/frame.ts'
import { diffRuns } from '../../src/replay/diff-runs.ts'
import { ADD, callsAnswer, finishRun, startRun, textAnswer, type ScriptedAnswer } from '../scripted-model.ts'
import { readLog, RUN_FIXTURES } from './read-log.ts'

async function framesOf(
  answers: readonly ScriptedAnswer[],
  options: Parameters<typeof startRun>[1] = {},
): Promise<readonly Frame[]> {
  return (await finishRun(startRun(answers, options))).frames
}

test.for(RUN_FIXTURES)('the run %s does not differ from itself', (name) => {
  expect(diffRuns(readLog(name), readLog(name))).toMatchObject({ isSame: true })
})

test('runs that differ in ids and times only do not differ', async () => {
  const answers = [callsAnswer(1, [ADD]), textAnswer(2, 'five')]
  const renamed = answers.map((text) => text.replaceAll(/(resp|call|fc|msg)_(\d)/gu, '$1_other_$2'))
  for (const continuity of ['stateless', 'previous_response_id'] as const) {
    const [a, b] = [await framesOf(answers, { continuity }), await framesOf(renamed, { continuity })]
    expect(
      diffRuns(
        a,
        b.map((frame) => ({ ...frame, ts: frame.ts + 5 })),
      ),
    ).toMatchObject({ isSame: true })
  }
})

test('the first response that differs is found, and where', async () => {
  const a = await framesOf([callsAnswer(1, [ADD]), textAnswer(2, 'five')])
  const b = await framesOf([callsAnswer(1, [ADD]), textAnswer(2, 'six')])
  const diff = diffRuns(a, b)
  expect(diff).toMatchObject({
    isSame: false,
    at: 3,
    part: 'decision',
    difference: { field: 'items[0].content[0].text', expected: 'five', actual: 'six' },
  })
  expect(diff.text).toMatch(
    /^transition 3 \(frame \d+ of a, frame \d+ of b\): response 2 differs at items\[0\]\.content\[0\]\.text: "five" in a, "six" in b$/u,
  )
})

test('another request for the same decisions is found', async () => {
  const [a, b] = [readLog('calls-and-approval'), readLog('calls-and-approval')]
  const at = b.findLastIndex(({ type }) => type === 'request_sent')
  const sent = b[at]
  if (sent?.type !== 'request_sent') throw new Error('there is no second request')
  const diff = diffRuns(a, b.with(at, { ...sent, body: sent.body.replace('Be quick.', 'Be slow.') }))
  expect(diff).toMatchObject({ isSame: false, part: 'requests' })
  expect(diff.text).toContain('another request is sent after')
})

test('a decision that leads elsewhere is found', () => {
  const a = readLog('limit-and-last-word')
  const at = a.findIndex((frame) => frame.type === 'state_entered' && frame.state === 'working.followingUp')
  const entered = a[at]
  if (entered?.type !== 'state_entered') throw new Error('there is no such state')
  const diff = diffRuns(a, a.with(at, { ...entered, state: 'limitExceeded' }))
  expect(diff).toMatchObject({ isSame: false, part: 'states', difference: { actual: 'limitExceeded' } })
})

test('a run that ends sooner differs where it ends', () => {
  const a = readLog('calls-and-approval')
  const shorter = a.slice(
    0,
    a.findLastIndex(({ type }) => type === 'response_settled'),
  )
  const diff = diffRuns(a, shorter)
  expect(diff).toMatchObject({ isSame: false, part: 'end', b: null })
  expect(diff.text).toMatch(/only a goes on, to done by response 2$/u)
  expect(() => diffRuns(a, [])).toThrow('the log is empty')
})
