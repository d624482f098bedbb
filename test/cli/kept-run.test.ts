import { expect, test } from 'vitest'

import { openRequests } from '../../src/cli/kept-run.ts'
import type { ApprovalRequestedFrame } from '../../src/frames/generated/frame.ts'
import type { Run } from '../../src/loop/run.ts'

function question(seq: number, path: readonly string[]): ApprovalRequestedFrame {
  const about = { arguments_hash: 'h', shown: 'x', reason: 'tool', each_time: false }
  return {
    v: 1,
    run_id: 'r',
    seq,
    ts: 1,
    type: 'approval_requested',
    call_id: path.at(-1) ?? '',
    path,
    ...about,
  }
}

test('the question of a resumed call is not mistaken for one of a subagent whose call has the same id', () => {
  const live = {
    explain: () => ({ can: ['run.cancel', 'call.approve c1', 'call.deny c1'] }),
  } as unknown as Run
  expect(openRequests([question(3, ['c1']), question(5, ['outer', 'c1'])], live)).toEqual(new Set([3]))
})
