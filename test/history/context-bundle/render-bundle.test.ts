import { expect, test } from 'vitest'

import { compileContext } from '../../../src/history/context-bundle/compile-context.ts'
import type { ConversationSource } from '../../../src/history/context-bundle/conversation-source.ts'
import { renderBundle } from '../../../src/history/context-bundle/render-bundle.ts'
import type { ToolWorkItem } from '../../../src/history/context-bundle/tool-work.ts'
import {
  answer,
  call,
  conversation,
  group,
  outputOf,
  PROVENANCE,
  said,
  summary,
  system,
  user,
  work,
} from './sample-conversation.ts'

function bundleOf(source: ConversationSource) {
  const cut = { fromSeq: source.length - 1 }
  return compileContext(source, { cut, strategy: 'auto', provenance: PROVENANCE, toolWork: 'include' }).bundle
}

const native = { summaries: () => 'the summary', toolWork: 'native' } as const

test('messages become messages with their text as content', () => {
  const bundle = bundleOf(conversation(system('s'), user('q'), answer(1, 'a')))
  expect(JSON.stringify(renderBundle(bundle, native))).toBe(
    '[{"type":"message","role":"system","content":"s"},' +
      '{"type":"message","role":"user","content":"q"},' +
      '{"type":"message","role":"assistant","content":"a"}]',
  )
})

test('a summary becomes a message of the system: a heading, the note, the text', () => {
  const bundle = bundleOf(conversation(user('q'), summary(0, 'text'), user('r')))
  expect(renderBundle(bundle, native)[0]).toEqual({
    type: 'message',
    role: 'system',
    content: 'Summary of the earlier conversation:\ncovers entries 0 to 0\nthe summary',
  })
})

test.each([{}, { note: null }])('a summary whose note is %j has no line for it', (note) => {
  const bundle = {
    ...bundleOf(conversation(user('q'))),
    schema: 'rip.context_bundle.v1' as const,
    items: [{ type: 'summary_ref' as const, artifact_id: 'x', ...note }],
  }
  expect(renderBundle(bundle, native)).toEqual([
    { type: 'message', role: 'system', content: 'Summary of the earlier conversation:\nthe summary' },
  ])
})

test('a summary is looked up by the hash of its text', () => {
  const asked: string[] = []
  const bundle = bundleOf(conversation(user('q'), summary(0, 'abc')))
  renderBundle(bundle, { toolWork: 'native', summaries: (id) => (asked.push(id), '') })
  expect(asked).toEqual(['ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'])
})

test('a summary that is not there is an error', () => {
  const bundle = bundleOf(conversation(user('q'), summary(0, 'abc')))
  expect(() => renderBundle(bundle, { summaries: () => null, toolWork: 'native' })).toThrow(
    expect.objectContaining({
      code: 'artifact_unknown',
      message: expect.stringMatching(/^there is no summary ba7816bf/),
    }),
  )
})

test('native tool work is the items themselves, whatever the order of their keys', () => {
  const source = conversation(user('q'), work(0, group('c1')))
  expect(renderBundle(bundleOf(source), native).slice(1)).toEqual(group('c1'))
  const turned = group('c1').map((item) => Object.fromEntries(Object.entries(item).toReversed()))
  const other = conversation(user('q'), work(0, turned as unknown as ReturnType<typeof group>))
  expect(JSON.stringify(renderBundle(bundleOf(other), native))).toBe(
    JSON.stringify(renderBundle(bundleOf(source), native)),
  )
})

test('a call id that an earlier group has is sent as another one, in the call and in its output', () => {
  const bundle = bundleOf(conversation(user('q'), work(0, group('c1', 'one'), group('c1', 'two'))))
  const ids = renderBundle(bundle, native).flatMap((item) => ('call_id' in item ? [item.call_id] : []))
  expect(ids.slice(0, 2)).toEqual(['c1', 'c1'])
  expect(ids[2]).toMatch(/^call_[0-9a-f]{32}$/)
  expect(ids[3]).toBe(ids[2])
})

function withIds(id: string): readonly ToolWorkItem[] {
  return [
    { ...call('c1'), id },
    { ...outputOf('c1'), id: 'output_c1' },
  ]
}

test('an id that was made from a call id follows the one that is sent instead', () => {
  const bundle = bundleOf(
    conversation(user('q'), work(0, withIds('fc_c1'), withIds('fc_c1'), withIds('fc_other'))),
  )
  const sent = renderBundle(bundle, native).flatMap((item) => ('call_id' in item ? [item] : []))
  const [second, third] = [sent[2]?.call_id, sent[4]?.call_id]
  expect(sent.map(({ id }) => id)).toEqual([
    'fc_c1',
    'output_c1',
    `fc_${second}`,
    `output_${second}`,
    'fc_other',
    `output_${third}`,
  ])
})

test('a call id that was sent instead of another one stays when that other one comes again', () => {
  const once = bundleOf(conversation(user('q'), work(0, group('c1'), group('c1'))))
  const sent = renderBundle(once, native).flatMap((item) => ('call_id' in item ? [item.call_id] : []))
  const made = sent[2] ?? ''
  const bundle = bundleOf(conversation(user('q'), work(0, group('c1'), group(made), group('c1'))))
  const ids = renderBundle(bundle, native).flatMap((item) => ('call_id' in item ? [item.call_id] : []))
  expect(ids.slice(0, 4)).toEqual(sent)
  expect(new Set(ids).size).toBe(3)
})

test('what the model said beside its calls stays between its reasoning and its calls', () => {
  const items = [
    { type: 'reasoning', id: 'rs_1', summary: [] } as const,
    said('I look'),
    call('c1'),
    outputOf('c1'),
  ]
  const rendered = renderBundle(bundleOf(conversation(user('q'), work(0, items))), native)
  expect(rendered.slice(1)).toEqual(items)
})

test('arguments that are not JSON are sent as an empty object', () => {
  const bundle = bundleOf(conversation(user('q'), work(0, [call('c1', '{"pa'), outputOf('c1')])))
  expect(renderBundle(bundle, native)[1]).toMatchObject({ type: 'function_call', arguments: '{}' })
})

test('tool work as text is what the given function makes of each whole group', () => {
  const bundle = bundleOf(conversation(user('q'), work(0, group('c1'), group('c2')), answer(0, 'a')))
  const items = renderBundle(bundle, {
    summaries: () => null,
    toolWork: 'text',
    renderToolWork: (work) => [
      { type: 'message', role: 'user', content: work.map(({ type }) => type).join(' ') },
    ],
  })
  const text = { type: 'message', role: 'user', content: 'reasoning function_call function_call_output' }
  expect(items.slice(1, 3)).toEqual([text, text])
  expect(items).toHaveLength(4)
})
