import { expect, test } from 'vitest'

import { isJsonObject } from '../../../src/protocol/json.ts'
import type { AnyItem, InputItem } from '../../../src/protocol/items.ts'
import { assistant, call, notRun, output, user } from './sample-run.ts'
import { added, isPaired, logical, whole } from './sent-items.ts'

test('a call id that the protocol does not take is replaced in the call and in its output', () => {
  const long = 'x'.repeat(65)
  const [sentCall, sentOutput] = whole([call(long), output(long, '1')]).items
  expect(sentCall).toMatchObject({ call_id: expect.stringMatching(/^call_[0-9a-f]{32}$/) })
  expect(isJsonObject(sentOutput) && sentOutput['call_id']).toBe(
    isJsonObject(sentCall) && sentCall['call_id'],
  )
  const alone = added([output(long, '1')])
  expect(alone.items).toMatchObject([{ call_id: isJsonObject(sentCall) && sentCall['call_id'] }])
  expect(alone.warnings).toHaveLength(1)
  expect(added([output('x'.repeat(64), '1')]).warnings).toEqual([])
})

test('a call that came twice in one response goes once, with its first output', () => {
  const { items, warnings } = whole([
    call('c1'),
    call('c1'),
    output('c1', 'first'),
    notRun('c1', 'duplicate'),
  ])
  expect(items.map(logical)).toEqual([
    ['function_call', 'c1'],
    ['function_call_output', 'c1', 'first'],
  ])
  expect(warnings).toHaveLength(2)
  expect(added([output('c1', 'first'), notRun('c1', 'duplicate')]).items.map(logical)).toEqual([
    ['function_call_output', 'c1', 'first'],
  ])
})

test('a call id that a later response uses again is told apart', () => {
  const { items } = whole([call('c1'), output('c1', 'one'), call('c1'), output('c1', 'two')])
  expect(isPaired(items)).toBe(true)
  expect(items.map((item) => logical(item).at(-1))).toEqual([
    'c1',
    'one',
    expect.stringMatching(/^call_/),
    'two',
  ])
})

test('a call id that was renamed in an earlier run is not given to another call', () => {
  const once = whole([call('c1'), output('c1', 'one'), call('c1'), output('c1', 'two')]).items
  const again: readonly AnyItem[] = JSON.parse(JSON.stringify(once))
  const { items } = whole([...again, user('more'), call('c1'), output('c1', 'three')])
  expect(isPaired(items)).toBe(true)
  expect(new Set(callIds(items)).size).toBe(3)
})

test('a call that comes with an id that another was given here gets one of its own', () => {
  const twice = [call('c1'), output('c1', 'one'), call('c1'), output('c1', 'two')]
  const given = callIds(whole(twice).items).at(-1) ?? ''
  const { items } = whole([...twice, call(given), output(given, 'three')])
  expect(isPaired(items)).toBe(true)
  expect(new Set(callIds(items)).size).toBe(3)
})

function callIds(items: readonly InputItem[]): readonly string[] {
  return items.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : []))
}

test('a call that nobody answered is answered behind the other outputs of its response', () => {
  const { items } = whole([call('c1'), call('c2'), output('c2', '2'), user('well?')])
  expect(items.map(logical)).toEqual([
    ['function_call', 'c1'],
    ['function_call', 'c2'],
    ['function_call_output', 'c2', '2'],
    ['function_call_output', 'c1', 'add: outcome_unknown'],
    ['message', JSON.stringify([{ type: 'input_text', text: 'well?' }])],
  ])
})

test('a call that nobody answered is answered before whatever comes after its response', () => {
  const answered = ['function_call', 'function_call_output']
  expect(types([call('c1'), user('well?')])).toEqual([...answered, 'message'])
  expect(types([call('c1'), call('c2'), output('c2', '2'), assistant('so')])).toEqual([
    'function_call',
    ...answered,
    'function_call_output',
    'message',
  ])
})

test('a call id that comes again after an unanswered call is another call', () => {
  const { items } = whole([call('c1'), user('again'), call('c1'), output('c1', '1')])
  expect(isPaired(items)).toBe(true)
  expect(items.map(({ type }) => type)).toEqual([
    'function_call',
    'function_call_output',
    'message',
    'function_call',
    'function_call_output',
  ])
  expect(items.at(-1)).toMatchObject({ output: '1' })
})

test('an answer that comes after something was said still counts', () => {
  const { items } = whole([call('c1'), user('well?'), output('c1', '1')])
  expect(items.map((item) => item.type)).toEqual(['function_call', 'message', 'function_call_output'])
})

test('an output without its call is left out of a whole conversation, with a warning', () => {
  const { items, warnings } = whole([user('hello'), output('c1', '1')])
  expect(items).toHaveLength(1)
  expect(warnings).toEqual(['a function_call_output with the call_id "c1" has no partner and was left out'])
})

function types(items: readonly AnyItem[]): readonly unknown[] {
  return whole(items).items.map(({ type }) => type)
}
