import { expect, test } from 'vitest'

import { describeRun } from '../../src/cli/describe-run.ts'
import { explainRun } from '../../src/replay/explain-run.ts'
import { readLog } from '../replay/read-log.ts'

const FRAMES = readLog('cut-off-twice')
const CUT_OFF = FRAMES.slice(
  0,
  FRAMES.findIndex(({ type }) => type === 'run_resumed'),
)
const OWNER = { pid: 7, host: 'elsewhere', since: 0 }

test('a run that nobody drives was cut off, where its readers last saw it', () => {
  const lines = describeRun(explainRun(CUT_OFF))
  expect(lines[0]).toMatch(/was cut off in working\.responding\.streaming, turn 1;/u)
  expect(lines).toContain('when resumed: response 1 is asked for again, as attempt 2')
})

test('a run that somebody drives is where it is, and is not to be resumed', () => {
  const lines = describeRun(explainRun(CUT_OFF), OWNER)
  expect(lines[0]).toMatch(/is in working\.responding\.streaming, turn 1;/u)
  expect(lines[1]).toBe('driven by: process 7 on elsewhere')
  expect(lines.join('\n')).not.toMatch(/when resumed|cut off/u)
})

test('a run that has ended has, whoever still has its log open', () => {
  const ended = explainRun(FRAMES)
  expect(describeRun(ended, OWNER)).toEqual(describeRun(ended))
  expect(describeRun(ended)[0]).toMatch(/ended as done/u)
})
