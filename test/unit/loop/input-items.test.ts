import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import type { AnyItem } from '../../../src/protocol/items.ts'
import { parseRequest } from '../../../src/protocol/parse-request.ts'
import { assistant, call, notRun, output, sampleRun, user } from './sample-run.ts'
import { added, isPaired, logical, whole } from './sent-items.ts'

const REASONING: AnyItem = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'opaque' }

/** What of a response has a place in an input: not the items of hosted tools, nor reasoning that led to nothing else. */
function withPlace(response: readonly AnyItem[]): readonly AnyItem[] {
  return response.filter(({ type }, at) => {
    if (type !== 'reasoning') return type !== 'web_search_call'
    const follower = response.slice(at).find((item) => item.type !== 'reasoning')
    return follower !== undefined && follower.type !== 'web_search_call'
  })
}

const wildText = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', 'c1', 'x'.repeat(70)))
const wildValue = fc.oneof(fc.jsonValue(), wildText)
const wildPart = fc.record(
  {
    type: fc.constantFrom('input_text', 'output_text', 'refusal', 'input_image', 'input_file', 'input_video'),
    text: wildValue,
    refusal: wildValue,
    image_url: wildValue,
    detail: wildValue,
    file_data: wildValue,
    filename: wildValue,
    video_url: wildValue,
    annotations: fc.array(
      fc.record({ type: fc.constant('url_citation'), url: wildValue, start_index: wildValue }),
    ),
    logprobs: wildValue,
  },
  { requiredKeys: ['type'] },
)
const wildContent = fc.oneof(fc.array(wildPart), wildValue)
const wildItem = fc.record(
  {
    type: fc.constantFrom(
      'message',
      'function_call',
      'function_call_output',
      'reasoning',
      'compaction',
      'item_reference',
      'web_search_call',
    ),
    id: wildValue,
    role: fc.constantFrom('user', 'system', 'developer', 'assistant', 'tool', null),
    call_id: wildValue,
    name: wildValue,
    arguments: wildValue,
    status: wildValue,
    phase: wildValue,
    content: wildContent,
    output: wildContent,
    outcome: wildValue,
    detail: wildValue,
    summary: wildContent,
    encrypted_content: wildValue,
  },
  { requiredKeys: ['type'] },
) as fc.Arbitrary<AnyItem>

test('any list of items gives a valid request, in both modes', () => {
  fc.assert(
    fc.property(fc.array(wildItem), fc.boolean(), (items, isStored) => {
      for (const { items: input } of [whole(items, isStored), added(items)]) {
        expect(parseRequest({ model: 'm', input }).input).toBe(input)
      }
    }),
    { numRuns: 200 },
  )
})

test('in a whole conversation every call has one output after it, and every output a call', () => {
  fc.assert(
    fc.property(fc.array(wildItem), (items) => {
      expect(isPaired(whole(items).items)).toBe(true)
    }),
    { numRuns: 200 },
  )
})

test('K2: both modes present the same logical list', () => {
  const unique = fc.uuid()
  fc.assert(
    fc.property(sampleRun(unique), ({ first, turns }) => {
      const all = [...first, ...turns.flatMap(({ response, added }) => [...response, ...added])]
      // With an id the provider has its own items, and is only told what is new.
      const chained = turns.flatMap((turn) => [
        ...withPlace(turn.response),
        ...added(turn.added).items.map((item) => ({ ...item }) as AnyItem),
      ])
      const told = [...whole(first).items.map((item) => ({ ...item }) as AnyItem), ...chained]
      expect(whole(all).items.map(logical)).toEqual(told.map(logical))
    }),
  )
})

test('a whole conversation extends the one before byte for byte, also when call ids come again', () => {
  fc.assert(
    fc.property(sampleRun(fc.constantFrom('c1', 'c2', '', 'x'.repeat(65))), ({ first, turns }) => {
      const items = [...first]
      let before = whole(items).items.map((item) => JSON.stringify(item))
      for (const turn of turns) {
        items.push(...turn.response, ...turn.added)
        const now = whole(items).items
        expect(isPaired(now)).toBe(true)
        expect(now.map((item) => JSON.stringify(item)).slice(0, before.length)).toEqual(before)
        before = now.map((item) => JSON.stringify(item))
      }
    }),
    { numRuns: 300 },
  )
})

test('X1: calls and outputs of a whole conversation have ids made from the call id', () => {
  const { items, warnings } = whole([
    call('c1'),
    call('c2', { id: 'fc_9' }),
    output('c1', '1'),
    output('c2', '2'),
  ])
  expect(items).toEqual([
    { type: 'function_call', id: 'fc_c1', call_id: 'c1', name: 'add', arguments: '{"a":1}' },
    { type: 'function_call', id: 'fc_9', call_id: 'c2', name: 'add', arguments: '{"a":1}' },
    { type: 'function_call_output', id: 'output_c1', call_id: 'c1', output: '1' },
    { type: 'function_call_output', id: 'output_c2', call_id: 'c2', output: '2' },
  ])
  expect(warnings).toEqual([])
})

test('L10: an output that continues a response by id has no id of its own', () => {
  expect(added([output('c1', '1')]).items).toEqual([
    { type: 'function_call_output', call_id: 'c1', output: '1' },
  ])
})

test('a call that did not run is answered in words, and what the chart noted is not sent', () => {
  const { items } = added([notRun('c1', 'denied', 'not on a Friday'), notRun('c2', 'limit')])
  expect(items).toEqual([
    { type: 'function_call_output', call_id: 'c1', output: 'add: denied (not on a Friday)' },
    { type: 'function_call_output', call_id: 'c2', output: 'add: limit' },
  ])
})

test('an output whose outcome is not one of the closed set is told as unknown', () => {
  const item = { type: 'function_call_output', call_id: 'c1', output: null, outcome: 'toString', tool: 'add' }
  expect(added([item]).items).toMatchObject([{ output: 'add: outcome_unknown' }])
})

test('an output of parts keeps its parts, and any other JSON becomes text', () => {
  const parts = [
    { type: 'input_text', text: 'seen' },
    { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: null },
    { type: 'input_image', image_url: 'https://a/b.png', detail: 'low' },
    { type: 'input_video', video_url: 'https://example.com/v' },
    { type: 'summary_text', text: 'no' },
  ]
  const { items, warnings } = added([
    { type: 'function_call_output', call_id: 'c1', output: parts },
    { type: 'function_call_output', call_id: 'c2', output: { sum: 5 } },
  ])
  expect(items).toEqual([
    {
      type: 'function_call_output',
      call_id: 'c1',
      output: [
        { type: 'input_text', text: 'seen' },
        { type: 'input_image', image_url: 'data:image/png;base64,AA==' },
        { type: 'input_image', image_url: 'https://a/b.png', detail: 'low' },
        { type: 'input_video', video_url: 'https://example.com/v' },
      ],
    },
    { type: 'function_call_output', call_id: 'c2', output: '{"sum":5}' },
  ])
  expect(warnings).toEqual(['a part of type "summary_text" cannot be sent and was left out'])
})

test.each([
  ['{"a":', '{}'],
  ['', '{}'],
  ['[1]', '[1]'],
  ['{"a": 1.0}', '{"a": 1.0}'],
])('the arguments %j are sent as %j', (given, sent) => {
  expect(whole([call('c1', { arguments: given }), output('c1', '')]).items[0]).toMatchObject({
    arguments: sent,
  })
})

test.each([
  ['server.add:two', 'server_add_two'],
  ['', 'unnamed'],
  ['x'.repeat(65), 'x'.repeat(64)],
])('the name %j is sent as one that the protocol takes, with a warning', (given, sent) => {
  const { items, warnings } = whole([call('c1', { name: given }), output('c1', '')])
  expect(items[0]).toMatchObject({ name: sent })
  expect(warnings).toHaveLength(1)
})

test('K3: reasoning keeps its summary and its encrypted content, and loses its raw content', () => {
  const reasoning = {
    type: 'reasoning',
    id: 'rs_1',
    status: null,
    content: [{ type: 'reasoning_text', text: 'hm' }],
    summary: [{ type: 'summary_text', text: 'thought' }, { type: 'summary_text' }],
    encrypted_content: 'opaque',
  }
  const sent = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'thought' }],
    encrypted_content: 'opaque',
  }
  expect(whole([reasoning, assistant('so')], false).items[0]).toEqual(sent)
  expect(whole([reasoning, assistant('so')], true).items[0]).toEqual(sent)
})

test('reasoning without encrypted content goes only where the provider may have stored it', () => {
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: null }
  const answer = assistant('so')
  expect(whole([reasoning, answer], true).items[0]).toEqual({ type: 'reasoning', id: 'rs_1', summary: [] })
  const { items, warnings } = whole([reasoning, answer], false)
  expect(items.map(({ type }) => type)).toEqual(['message'])
  expect(warnings).toHaveLength(1)
})

test('a message of the model keeps its phase and what of its parts may be put in', () => {
  const cited = { type: 'url_citation', url: 'https://a', title: 'a', start_index: 0, end_index: 1 }
  const uncited = [
    { ...cited, start_index: -1 },
    { ...cited, end_index: 0.5 },
    { type: 'file_citation' },
    null,
  ]
  const message = {
    type: 'message',
    id: 'msg_1',
    status: 'completed',
    role: 'assistant',
    phase: 'final_answer',
    content: [
      { type: 'output_text', text: 'five', annotations: [cited, ...uncited], logprobs: null },
      { type: 'refusal', refusal: 'no' },
    ],
  }
  expect(whole([message]).items).toEqual([
    {
      ...message,
      content: [
        { type: 'output_text', text: 'five', annotations: [cited] },
        { type: 'refusal', refusal: 'no' },
      ],
    },
  ])
  expect(whole([assistant('x', { phase: null, status: null })]).items).toEqual([
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'x', annotations: [] }],
    },
  ])
})

test('a message whose role nobody knows is left out with a warning', () => {
  const { items, warnings } = whole([{ type: 'message' }, { type: 'message', role: 'tool', content: 'x' }])
  expect(items).toEqual([])
  expect(warnings).toHaveLength(1)
})

test('items of hosted tools are left out and named once', () => {
  const search = { type: 'web_search_call', id: 'ws', status: 'completed' }
  const { items, warnings } = whole([search, user('hello'), search])
  expect(items).toEqual([user('hello')])
  expect(warnings).toEqual(['items of type "web_search_call" cannot be sent and were left out'])
})

test('a compaction item and a reference are kept', () => {
  const { items } = whole([
    { type: 'compaction', id: 'cmp_1', encrypted_content: 'opaque', created_by: 'x' },
    { type: 'item_reference', id: 'msg_9' },
  ])
  expect(items).toEqual([
    { type: 'compaction', id: 'cmp_1', encrypted_content: 'opaque' },
    { type: 'item_reference', id: 'msg_9' },
  ])
})

test('a text of more than 10 MiB is cut with a mark and a warning', () => {
  const { items, warnings } = added([output('c1', 'x'.repeat(10_485_761))])
  expect(() => parseRequest({ model: 'm', input: items })).not.toThrow()
  expect(JSON.stringify(items).endsWith(String.raw`x\n[cut]"}]`)).toBe(true)
  expect(warnings).toHaveLength(1)
})

test('the status of a call is sent only when the protocol knows it', () => {
  const statuses = ['completed', 'incomplete', 'failed', null]
  const items = statuses.flatMap((status, index) => [call(`c${index}`, { status }), output(`c${index}`, '')])
  const sent = whole(items).items.filter((item) => item.type === 'function_call')
  expect(sent.map((item) => item.status)).toEqual(['completed', 'incomplete', undefined, undefined])
})

test.for<readonly [string, readonly AnyItem[], readonly string[]]>([
  ['is the last that was said', [REASONING], []],
  ['is followed by what the caller says', [REASONING, user('go on')], ['message']],
  [
    'comes behind the call of its response',
    [call('c1'), REASONING, output('c1', '1')],
    ['function_call', 'function_call_output'],
  ],
  ['led to an item that cannot be sent', [REASONING, { type: 'web_search_call', id: 'ws_1' }], []],
  [
    'led to a call that repeats another one',
    [REASONING, call('c1'), REASONING, call('c1'), output('c1', '1')],
    ['reasoning', 'function_call', 'function_call_output'],
  ],
])('in a whole conversation reasoning that %s is left out, with a warning', ([, items, types]) => {
  const sent = whole(items)
  expect(sent.items.map(({ type }) => type)).toEqual(types)
  expect(sent.warnings.join()).toContain('reasoning was left out')
})

test('reasoning in several pieces leads to the item behind them', () => {
  const { items, warnings } = whole([REASONING, REASONING, call('c1'), output('c1', '1')])
  expect(items.map(({ type }) => type)).toEqual([
    'reasoning',
    'reasoning',
    'function_call',
    'function_call_output',
  ])
  expect(warnings).toEqual([])
})
