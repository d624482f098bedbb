import { expect, test } from 'vitest'

import { compactedItems } from '../../../src/history/compaction/compacted-items.ts'
import { summarizeItems } from '../../../src/history/compaction/summarize-items.ts'
import { insertToolHistory } from '../../../src/history/tool-history/insert-tool-history.ts'
import type { AnyItem, InputItem } from '../../../src/protocol/items.ts'
import { call, developer, notRun, output, reasoning, round, said, system, user } from './sample-items.ts'

const ROOM = { tokensMax: 1000 }

/** The items of a run whose old part became this summary. */
function after(summary: string): readonly AnyItem[] {
  return compactedItems({ lead: [], old: round('c', 'x'.repeat(10_000)), standing: [], kept: [] }, summary)
}

test('a summary tells who said what, what was called and what went wrong', () => {
  const items = [
    user('fix the\nlogin'),
    reasoning(),
    said('I look at it'),
    call('c1'),
    call('c2', 'shell', { command: 'npm test' }),
    output('c1'),
    output('c2', '{"ok":false,"error":"2 failed"}'),
    call('c3', 'write_file', { path: 'login.ts' }),
    notRun('c3', 'denied', 'not now'),
    developer('be brief'),
  ]
  expect(summarizeItems(items, ROOM)).toBe(
    [
      '- user: fix the login',
      '- assistant: I look at it',
      '- developer: be brief',
      '- reads (1): c1.ts',
      '',
      '[Errors encountered:]',
      '- shell: {"ok":false,"error":"2 failed"}',
      '- write_file: denied: not now',
    ].join('\n'),
  )
})

test.each<[string, readonly AnyItem[], string]>([
  [
    'a call that was not answered',
    [call('c1')],
    '- read_file: No output was recorded for this call of read_file.',
  ],
  [
    'an outcome that is not known',
    [call('c1'), notRun('c1', 'outcome_unknown')],
    '- read_file: outcome_unknown',
  ],
  ['a hosted tool that failed', [{ type: 'web_search_call', status: 'failed' }], '- web_search_call: failed'],
])('%s is an error', (_, items, line) => {
  expect(summarizeItems(items, ROOM)).toBe(`[Errors encountered:]\n${line}`)
})

test('what a provider did itself is told as a call', () => {
  const hosted = { type: 'web_search_call', id: 'ws_1', status: 'completed' }
  expect(summarizeItems([hosted, hosted], ROOM)).toBe('- other calls (2): web_search_call')
})

test('images and files are named', () => {
  const content = [
    { type: 'input_image', image_url: 'x' },
    { type: 'input_file', filename: 'a.pdf' },
  ]
  expect(summarizeItems([{ type: 'message', role: 'user', content }], ROOM)).toBe(
    '- user: [image] [file a.pdf]',
  )
})

test('there is nothing to tell about reasoning and empty messages', () => {
  expect(summarizeItems([reasoning(), said(''), user(' ')], ROOM)).toBe('')
})

test('kinds of tools and the quotation of errors are as they are set', () => {
  const items = [
    call('c1', 'deploy', {}),
    output('c1'),
    call('c2', 'deploy', {}),
    notRun('c2', 'denied', 'why'),
  ]
  const config = { kinds: { deploy: 'terminal' }, preserveErrorsVerbatim: false } as const
  expect(summarizeItems(items, { ...ROOM, config })).toBe(
    '- commands (1)\n\n[Errors encountered:]\n- deploy: failed 1x',
  )
})

test('an earlier summary by rules is carried over line by line, its errors to the errors', () => {
  const first = summarizeItems([user('one'), call('c1'), notRun('c1', 'denied'), ...round('c2')], ROOM)
  const second = summarizeItems([...after(first), user('two'), call('c3'), notRun('c3', 'timeout')], ROOM)
  expect(second).toBe(
    [
      '- user: one',
      '- reads (1): c2.ts',
      '- user: two',
      '',
      '[Errors encountered:]',
      '- read_file: denied',
      '- read_file: timeout',
    ].join('\n'),
  )
})

test('an earlier summary by a model, or from a bundle, is carried over without its heading and note', () => {
  const bundled = system(
    'Summary of the earlier conversation:\ncovers entries 0 to 7\nThe login works.\nNow: tests.',
  )
  expect(summarizeItems([bundled, user('go on')], ROOM)).toBe('The login works.\nNow: tests.\n- user: go on')
})

test('a summary of earlier calls, and results that were told as text, are not taken for words of the user', () => {
  const history = [...round('c1', 'one'), ...round('c2', 'two')] as unknown as readonly InputItem[]
  const { items } = insertToolHistory(history, { config: { recentCallsToKeep: 1 } })
  expect(summarizeItems([user('q'), ...(items as unknown as readonly AnyItem[])], { tokensMax: 40 })).toBe(
    '- user: q\n- reads (1): c1.ts\n- tool result: Context (tool result): two',
  )
})

test('for want of room the oldest things go first, and the summary says how many', () => {
  const items = [user('one '.repeat(20)), said('two '.repeat(20)), said('three '.repeat(10)), user('four')]
  expect(summarizeItems(items, { tokensMax: 30 })).toBe(
    `- (+2 earlier)\n- assistant: ${'three '.repeat(10).trim()}\n- user: four`,
  )
})

test('what an earlier summary left out is still counted', () => {
  const items = [
    ...after('- (+3 earlier)\n- user: one\n\n[Errors encountered:]\n- (+2 earlier)\n- shell: no'),
    user('two'),
  ]
  const text = summarizeItems(items, ROOM)
  expect(text).toBe(
    '- (+3 earlier)\n- user: one\n- user: two\n\n[Errors encountered:]\n- (+2 earlier)\n- shell: no',
  )
  const shorter = summarizeItems(items, { tokensMax: 21 })
  expect(shorter).toBe('- (+4 earlier)\n- user: two\n\n[Errors encountered:]\n- (+2 earlier)\n- shell: no')
})

test('details go before kinds of calls, those before errors, and the oldest errors before the newest', () => {
  const items = [
    call('c1', 'read_file', { path: 'src/the-first.ts' }),
    output('c1'),
    call('c2', 'read_file', { path: 'src/the-last.ts' }),
    output('c2'),
    call('c3', 'shell', { command: 'a' }),
    notRun('c3', 'denied', 'first'),
    call('c4', 'shell', { command: 'b' }),
    notRun('c4', 'denied', 'second'),
  ]
  const errors = '[Errors encountered:]\n- shell: denied: first\n- shell: denied: second'
  const within = (tokensMax: number) => summarizeItems(items, { tokensMax })
  expect(within(100)).toBe(`- reads (2): src/the-first.ts, src/the-last.ts\n\n${errors}`)
  expect(within(28)).toBe(`- reads (2): src/the-last.ts (+1 more)\n\n${errors}`)
  expect(within(21)).toBe(`- reads (2)\n\n${errors}`)
  expect(within(17)).toBe(errors)
  expect(within(15)).toBe('[Errors encountered:]\n- (+1 earlier)\n- shell: denied: second')
  expect(within(5)).toBe('- shell: denied: ...')
  expect(within(0)).toBe('')
})

test('what was said before a call goes before what the call was about', () => {
  const items = [said('hm'), said('word '.repeat(20)), call('c1'), output('c1')]
  expect(summarizeItems(items, { tokensMax: 10 })).toBe('- (+2 earlier)\n- reads (1): c1.ts')
})

test('the newest message of the user is not a summary of calls that came behind it', () => {
  const history = [...round('c1'), ...round('c2')] as unknown as readonly InputItem[]
  const { items } = insertToolHistory(history, { config: { recentCallsToKeep: 0 } })
  const told = [user('the task'), ...(items as unknown as readonly AnyItem[])]
  expect(summarizeItems(told, { tokensMax: 10 })).toBe('- (+1 earlier)\n- user: the task')
})

test('the newest message of the user outlasts errors and has at most half of the room', () => {
  const items = [
    user('old'),
    user('please '.repeat(100)),
    ...Array.from({ length: 9 }, (_, at) => [call(`c${at}`), notRun(`c${at}`, 'denied')]).flat(),
  ]
  const text = summarizeItems(items, { tokensMax: 60 })
  expect(text).toMatch(
    /^- \(\+1 earlier\)\n- user: (?:please )+.*\.\.\.\n\n\[Errors encountered:\]\n- \(\+\d earlier\)/,
  )
  expect(text.split('\n')[1]?.length).toBeGreaterThan(100)
  expect(text.split('\n')[1]?.length).toBeLessThanOrEqual(120)
  expect(summarizeItems(items, { tokensMax: 14 })).toMatch(/^- \(\+1 earlier\)\n- user: please/)
})

test('a number that means nothing is refused', () => {
  expect(() => summarizeItems([], { tokensMax: -1 })).toThrow(
    expect.objectContaining({
      code: 'usage',
      message: 'compaction: tokensMax must be a number of at least 0, not -1',
    }),
  )
  expect(() => summarizeItems([], { tokensMax: 9, config: { recentCallsToKeep: -1 } })).toThrow(
    expect.objectContaining({ code: 'usage' }),
  )
})

test('the tokens of a summary are counted a few times only, however many items there are', () => {
  const items = Array.from({ length: 3000 }, (_, at) => [said(`step ${at}`), ...round(`c${at}`)]).flat()
  let counted = 0
  const countTokens = (text: string) => {
    counted += 1
    return text.length
  }
  summarizeItems([user('q'), ...items], { tokensMax: 500, countTokens })
  expect(counted).toBeLessThan(40)
})

test('what the loop said itself is not told, and is no request', () => {
  const own = { ...user('go on'), by: 'loop' }
  expect(summarizeItems([user('fix it'), said('yes'), own, own], ROOM)).toBe(
    '- user: fix it\n- assistant: yes',
  )
})
