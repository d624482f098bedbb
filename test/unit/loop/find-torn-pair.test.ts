import { expect, test } from 'vitest'

import { findTornPair } from '../../../src/loop/find-torn-pair.ts'

const user = { type: 'message', role: 'user', content: 'go' }
const said = { type: 'message', role: 'assistant', content: 'well' }
const thought = { type: 'reasoning', id: 'rs_1', summary: [] }
const call = { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' }
const output = { type: 'function_call_output', call_id: 'call_1', output: 'seen' }
const whole = [user, thought, call, output, thought, said]

test('a conversation as it was, and one without a whole group, have nothing torn', () => {
  expect(findTornPair(whole, whole)).toBeNull()
  expect(findTornPair([user], whole)).toBeNull()
  expect(findTornPair([user, thought, said], whole)).toBeNull()
  expect(findTornPair([user, call, output], whole)).toBeNull()
})

test.for([
  ['call "call_1" is there without its output', [user, thought, call]],
  ['the output of call "call_1" is there without the call', [user, output]],
  ['the output of call "call_1" is there without the call', [user, output, call, output]],
  ['reasoning "rs_1" is there without what it led to', [user, thought]],
  ['reasoning "rs_1" is there without what it led to', [user, thought, user, said]],
  ['reasoning "rs_1" is there without what it led to', [user, call, thought, output]],
] as const)('%s', ([message, after]) => {
  expect(findTornPair(after, whole)).toBe(message)
})

test('a call that had no output before need not have one', () => {
  expect(findTornPair([user, call], [user, call, user])).toBeNull()
})

test('reasoning that had led to nothing before is not torn from anything', () => {
  const nameless = { type: 'reasoning', summary: [], encrypted_content: 'eA==' }
  expect(findTornPair([user, thought, user], [user, thought, user, said])).toBeNull()
  expect(findTornPair([user, nameless, user], [user, nameless, user, said])).toBeNull()
  expect(findTornPair([user, nameless, user], [user, thought, user, nameless, said])).toMatch(
    /^reasoning null/,
  )
})

test('reasoning may be followed by more reasoning', () => {
  expect(findTornPair([thought, thought, call, output], whole)).toBeNull()
})
