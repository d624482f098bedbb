import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { outputsText, promptText } from '../../../src/loop/plain-items.ts'
import type { AnyItem } from '../../../src/protocol/items.ts'
import { parseRequest } from '../../../src/protocol/parse-request.ts'
import { call, notRun, output, user } from './sample-run.ts'
import { added, whole } from './sent-items.ts'

/** As items are written that may be anything: taken apart, checked against the whole schema, and written. */
function generalText(items: readonly AnyItem[], send: typeof added = added): string {
  const { input } = parseRequest({ input: send(items).items })
  return JSON.stringify(input).slice(1, -1)
}

const CHARACTER = fc.constantFrom(
  'a',
  ' ',
  '"',
  '\\',
  '\n',
  '\u0000',
  '\u2028',
  'ü',
  '😀',
  '\ud83d',
  '\udc00',
)
const CALL_ID = fc.oneof(
  fc.constantFrom('call_1', 'call_2', ''),
  fc.array(CHARACTER, { minLength: 60, maxLength: 68 }).map((characters) => characters.join('')),
  fc.jsonValue(),
)
const TEXT = fc.array(CHARACTER, { maxLength: 20 }).map((characters) => characters.join(''))
const OUTPUT = fc.oneof(TEXT, fc.jsonValue())
const ITEM = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.uuid(), fc.string()).map(([id, text]) => output(id, text)) },
  fc
    .record(
      {
        type: fc.constantFrom('function_call_output', 'function_call', 'message', 'x'),
        call_id: CALL_ID,
        output: OUTPUT,
        status: fc.constantFrom('completed', 'odd', null),
        outcome: fc.constantFrom('ok', 'denied', 7),
        id: fc.constantFrom('output_1', null),
      },
      { requiredKeys: ['type'] },
    )
    .map((item) => item as AnyItem),
)

test('whatever is written the short way, the schema takes, and the general way writes the same and warns of nothing', () => {
  let short = 0
  fc.assert(
    fc.property(fc.array(ITEM, { maxLength: 4 }), (items) => {
      const text = outputsText(items)
      if (text === null) return
      if (items.length > 0) short += 1
      expect(text).toBe(generalText(items))
      expect(added(items).warnings).toEqual([])
    }),
    { numRuns: 2000 },
  )
  expect(short).toBeGreaterThan(200)
})

test.each<readonly [string, readonly AnyItem[]]>([
  ['an output', [output('call_1', '5')]],
  ['outputs', [output('call_1', '5'), output('call_2', '')]],
  ['the longest call id', [output('x'.repeat(64), '5')]],
  [
    'what the chart knows of it beside',
    [{ ...output('call_1', '5'), outcome: 'ok', tool: 'a', detail: null }],
  ],
])('%s is written the short way', (_, items) => {
  expect(outputsText(items)).toBe(generalText(items))
})

test.each<readonly [string, readonly AnyItem[]]>([
  ['a second output for a call', [output('call_1', '5'), output('call_1', '6')]],
  ['a call that did not run', [notRun('call_1', 'denied')]],
  ['an output without a call id', [output('', '5')]],
  ['a call id that is too long', [output('x'.repeat(65), '5')]],
  ['a text that is too long', [output('call_1', 'x'.repeat(10_485_761))]],
  ['an output with a status', [{ ...output('call_1', '5'), status: 'completed' }]],
  ['parts', [{ type: 'function_call_output', call_id: 'call_1', output: [] }]],
  ['a message behind an output', [output('call_1', '5'), user('and?')]],
  ['a call', [call('call_1')]],
  ['more than a few', Array.from({ length: 17 }, (_, at) => output(`call_${at}`, '5'))],
])('%s goes the general way', (_, items) => {
  expect(outputsText(items)).toBeNull()
})

const PART = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: fc.constant('input_text'), text: TEXT, more: fc.jsonValue() }) },
  fc.record({ type: fc.constantFrom('input_text', 'output_text', 'input_image', null), text: OUTPUT }),
  fc.jsonValue(),
)
const MESSAGE = fc
  .record({
    type: fc.constantFrom('message', 'message', 'message', 'reasoning'),
    role: fc.constantFrom('user', 'user', 'user', 'system', 'assistant'),
    content: fc.oneof({ weight: 5, arbitrary: fc.tuple(PART) }, fc.array(PART), fc.string()),
    more: fc.constantFrom({}, { phase: 'commentary' }, { id: 'msg_1' }, { id: null }, { status: 'odd' }),
  })
  .map(({ more, ...item }): AnyItem => ({ ...item, ...more }))

test('a prompt that is written the short way is one that the schema takes, and the same as written the general way', () => {
  let short = 0
  fc.assert(
    fc.property(fc.oneof({ weight: 5, arbitrary: fc.tuple(MESSAGE) }, fc.array(MESSAGE)), (items) => {
      const text = promptText(items)
      if (text === null) return
      short += 1
      expect(text).toBe(generalText(items, whole))
      expect(whole(items).warnings).toEqual([])
    }),
    { numRuns: 2000 },
  )
  expect(short).toBeGreaterThan(50)
})

test.each<readonly [string, readonly AnyItem[]]>([
  ['no item', []],
  ['two messages', [user('a'), user('b')]],
  ['a message with an id', [{ ...user('a'), id: 'msg_1' }]],
  ['a message with a status', [{ ...user('a'), status: 'completed' }]],
  ['a message of somebody else', [{ ...user('a'), role: 'system' }]],
  ['a text that is too long for a prompt', [user('x'.repeat(10_485_761))]],
  ['content that is no list', [{ ...user('a'), content: 'a' }]],
  ['an image', [{ ...user('a'), content: [{ type: 'input_image', image_url: 'data:,' }] }]],
])('%s is not written the short way', (_, items) => {
  expect(promptText(items)).toBeNull()
  expect(promptText([user('a')])).toBe(generalText([user('a')], whole))
})
