import { expect, test } from 'vitest'

import { bindTools } from '../../../src/tools/bind-tools.ts'
import { ManualClock } from '../../manual-clock.ts'
import { probe } from './run-tool.ts'

const port = bindTools([probe(() => 'ran'), probe(() => 'ran', { name: 'plain', outputEncoding: 'raw' })], {
  policy: { mode: 'auto', allowed: ['probe'] },
  clock: new ManualClock(),
})

test('bound tools declare, appraise and run their calls under one policy', async () => {
  expect(port.definitions.map(({ name }) => name)).toEqual(['probe', 'plain'])
  const call = { callId: 'call_1', name: 'probe', arguments: '{}' }
  expect((await port.appraise(call)).refusal).toBeNull()
  expect((await port.appraise({ ...call, name: 'plain' })).refusal?.outcome).toBe('not_allowed')
  const { signal } = new AbortController()
  const options = { key: 'k', timeoutMs: 10, signal, onOutput: () => {} }
  expect((await port.run(call, options)).outcome).toBe('ok')
  expect((await port.run({ ...call, name: 'plain' }, options)).outcome).toBe('not_allowed')
})

test('a call without a result of its own is answered in the form of its tool', () => {
  expect(port.answerText('denied', 'probe', 'not today')).toContain('"error":"a person declined this call')
  expect(port.answerText('limit', 'plain', null)).toMatch(/^error: a limit of this run was reached/)
  expect(port.answerText('ok', 'probe', null)).toContain('"ok":true')
})
