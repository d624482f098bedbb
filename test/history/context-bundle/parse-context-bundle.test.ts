import { expect, test } from 'vitest'

import { LoopchartError } from '../../../src/errors.ts'
import { parseContextBundle } from '../../../src/history/context-bundle/parse-context-bundle.ts'
import type { JsonObject } from '../../../src/protocol/json.ts'
import { mutate, pathsOf, seeded, withValue } from '../../mutate.ts'
import { call, group, outputOf, said } from './sample-conversation.ts'
import { isBySchema } from './by-schema.ts'

// As its documentation shows one, with a summary and nulls as its own writer puts them.
const RIP = {
  schema: 'rip.context_bundle.v1',
  compiler: { id: 'rip.context_compiler.v1', strategy: 'recent_messages_v1' },
  source: { thread_id: '1111', from_seq: 42, from_message_id: '2222' },
  provenance: { run_session_id: '3333', actor_id: 'user', origin: 'cli' },
  items: [
    { type: 'summary_ref', artifact_id: 'abcd', note: 'compaction checkpoint to_seq=40' },
    { type: 'message', role: 'user', content: 'Ship it.', actor_id: 'user', thread_seq: 41 },
    { type: 'message', role: 'assistant', content: 'Done.', origin: null, thread_event_id: null },
  ],
}

const PARTS = [
  { type: 'input_text', text: 'x' },
  { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'low' },
  { type: 'input_file', filename: 'a', file_data: 'YQ==', file_url: null },
  { type: 'input_video', video_url: 'https://example.com/a.mp4' },
]

const CITATION = {
  type: 'url_citation',
  start_index: 0,
  end_index: 1,
  url: 'https://example.com',
  title: 'x',
}

const COMPACTION = { type: 'compaction', artifact_id: 'abcd', endpoint: 'https://example.com/v1' }

const WIDE = {
  ...RIP,
  schema: 'loopchart.context_bundle.v1',
  items: [
    ...RIP.items,
    { type: 'tool_work', thread_seq: 42, items: group('c1') },
    {
      type: 'tool_work',
      thread_seq: 42,
      items: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }], content: null },
        { ...call('c2'), id: 'fc_1', status: 'completed' },
        { type: 'function_call_output', call_id: 'c2', output: PARTS, status: null },
      ],
    },
    {
      type: 'tool_work',
      thread_seq: 42,
      items: [
        { type: 'reasoning', summary: [] },
        said('I read it'),
        call('c3'),
        {
          type: 'message',
          role: 'assistant',
          content: [
            { type: 'output_text', text: 'x', annotations: [CITATION] },
            { type: 'refusal', refusal: 'no' },
          ],
        },
        outputOf('c3'),
      ],
    },
    {
      type: 'compaction',
      artifact_id: 'abcd',
      endpoint: 'https://example.com/v1',
      items: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Ship it.' }] },
        { type: 'compaction', id: 'cmp_1', encrypted_content: 'sealed' },
      ],
    },
  ],
}

test.each([RIP, WIDE])('a $schema is given back as it is', (bundle) => {
  expect(isBySchema(bundle)).toBe(true)
  expect(parseContextBundle(bundle)).toBe(bundle)
})

test('the narrow form has nothing that a provider compacted', () => {
  expect(() => parseContextBundle({ ...RIP, items: WIDE.items.slice(-1) })).toThrow(
    invalid('items[0].type must be message or summary_ref'),
  )
})

test('the narrow form has no tool work', () => {
  expect(() => parseContextBundle({ ...WIDE, schema: 'rip.context_bundle.v1' })).toThrow(
    invalid('items[3].type must be message or summary_ref'),
  )
})

test.each([
  [null, 'it must be object'],
  ['{}', 'it must be object'],
  [{}, 'schema must be rip.context_bundle.v1 or loopchart.context_bundle.v1'],
  [{ ...RIP, schema: 'rip.context_bundle.v2' }, 'schema must be rip.context_bundle.v1 or'],
  [{ ...RIP, extra: 1 }, 'extra is not a field of it'],
  [{ ...RIP, provenance: undefined }, 'provenance is missing'],
  [{ ...RIP, provenance: { ...RIP.provenance, origin: null } }, 'provenance.origin must be string'],
  [{ ...RIP, source: { thread_id: 'a', from_seq: -1 } }, 'source.from_seq must be a count'],
  [{ ...RIP, items: {} }, 'items must be array'],
  [{ ...RIP, items: [{ type: 'file_ref' }] }, 'items[0].type must be message or summary_ref'],
  [{ ...RIP, items: [{ type: 'message', role: 'tool', content: '' }] }, 'items[0].role must be system or'],
  [{ ...RIP, items: [{ type: 'toString' }] }, 'items[0].type must be message or summary_ref'],
  [{ ...RIP, source: () => 1 }, 'source must be JSON, not function'],
  [
    { ...WIDE, items: [{ type: 'tool_work', thread_seq: 1, items: [outputOf('c1')] }] },
    'items[0].items must be calls with their outputs',
  ],
  [
    { ...WIDE, items: [{ type: 'tool_work', thread_seq: 1, items: [said('nothing else')] }] },
    'items[0].items must be calls with their outputs',
  ],
  [
    {
      ...WIDE,
      items: [{ type: 'tool_work', thread_seq: 1, items: [{ ...said('x'), role: 'user' }, ...group('c1')] }],
    },
    'items[0].items must be calls with their outputs',
  ],
  [{ ...WIDE, items: [{ ...COMPACTION, items: [] }] }, 'items[0].items must be items that a request takes'],
  [{ ...WIDE, items: [{ ...COMPACTION, items: [{ id: 'x' }] }] }, 'items[0].items must be items that a'],
  [{ ...WIDE, items: [{ ...COMPACTION, items: [{ type: 'compaction' }] }] }, 'items[0].items must be items'],
  [{ ...WIDE, items: [{ ...COMPACTION, items: WIDE.items }] }, 'items[0].items must be items that a request'],
  [{ ...WIDE, items: [COMPACTION] }, 'items[0].items is missing'],
])('%j is refused: %s', (value, fault) => {
  expect(() => parseContextBundle(value)).toThrow(invalid(fault))
})

test('an object that contains itself is refused', () => {
  const items: unknown[] = []
  items.push(items)
  expect(() => parseContextBundle({ ...RIP, items })).toThrow(
    expect.objectContaining({ code: 'bundle_invalid', message: expect.stringContaining('nested deeper') }),
  )
})

test('what is read fits the published schema', () => {
  const random = seeded(7)
  const changed = [RIP, WIDE].flatMap((bundle) =>
    Array.from({ length: 4000 }, () => mutate(bundle as unknown as JsonObject, random)),
  )
  const read = changed.filter(isReadable)
  expect(read.length).toBeGreaterThan(100)
  expect(read.length).toBeLessThan(changed.length - 1000)
  expect(read.filter((bundle) => !isBySchema(bundle))).toEqual([])
})

test('without tool work, what the published schema takes is read', () => {
  for (const path of pathsOf(RIP, 4)) {
    for (const replacement of [undefined, null, 0, 'x', [], {}]) {
      const changed = withValue(RIP, path, replacement)
      expect(isReadable(changed), JSON.stringify(changed)).toBe(isBySchema(changed))
    }
  }
})

function isReadable(value: unknown): boolean {
  try {
    parseContextBundle(value)
    return true
  } catch (error) {
    if (error instanceof LoopchartError && error.code === 'bundle_invalid') return false
    throw error
  }
}

function invalid(fault: string) {
  return expect.objectContaining({
    code: 'bundle_invalid',
    message: expect.stringContaining(`context bundle is not valid: ${fault}`),
  })
}
