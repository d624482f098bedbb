import { expect, test } from 'vitest'

import { estimateTokens, ToolHistoryManager, type ToolHistoryOptions } from '../../../src/history/index.ts'

interface Call {
  readonly name: string
  readonly args?: unknown
  readonly error?: string
}

function summaryOf(
  calls: readonly Call[],
  config: ToolHistoryOptions = {},
  count?: (text: string) => number,
): string | null {
  const manager = new ToolHistoryManager({ recentCallsToKeep: 0, ...config }, count)
  for (const [at, { name, args, error }] of calls.entries()) {
    manager.addToolCall(`call_${at}`, name, args, error ?? 'fine', error !== undefined)
  }
  return manager.getCompactedHistory().summary
}

function linesOf(calls: readonly Call[], config?: ToolHistoryOptions): readonly string[] {
  return summaryOf(calls, config)?.split('\n').slice(1) ?? []
}

const characters = (text: string): number => text.length

const read = (path: string): Call => ({ name: 'read_file', args: { path } })

test('T23: a summary begins with its heading and has one line for each kind in the order of their first use', () => {
  expect(
    summaryOf([
      { name: 'shell', args: { command: 'npm test' } },
      read('a.ts'),
      { name: 'grep', args: { pattern: 'foo' } },
      { name: 'write_file', args: { path: 'b.ts', content: '' } },
      { name: 'thread_create' },
      { name: 'bash', args: { argv: ['ls', '-l'] } },
    ]),
  ).toBe(
    [
      '[Earlier in this session:]',
      '- commands (2): npm test, ls -l',
      '- reads (1): a.ts',
      '- searches (1): foo',
      '- writes (1): b.ts',
      '- other calls (1): thread_create',
    ].join('\n'),
  )
})

test('T23: of many paths the three used last are named, each once, and the others counted', () => {
  expect(linesOf(['a', 'b', 'c', 'a', 'd', 'e'].map(read))).toEqual(['- reads (6): a, d, e (+2 more)'])
})

test.each<[string, Call[], string]>([
  [
    'two commands',
    ['1', '2', '3'].map((n) => ({ name: 'shell', args: { command: n } })),
    '- commands (3): 2, 3 (+1 more)',
  ],
  [
    'two queries',
    ['1', '2', '3'].map((n) => ({ name: 'glob', args: { pattern: n } })),
    '- searches (3): 2, 3 (+1 more)',
  ],
  ['three names', ['a', 'b', 'c', 'd'].map((name) => ({ name })), '- other calls (4): b, c, d (+1 more)'],
])('T23: %s are named at most', (_, calls, line) => {
  expect(linesOf(calls)).toEqual([line])
})

test('T23: a command is cut at 50 characters, and stands on one line', () => {
  const [line] = linesOf([{ name: 'shell', args: { command: `echo\n${'😀'.repeat(60)}` } }])
  expect(line).toBe(`- commands (1): echo ${'😀'.repeat(45)}...`)
})

test('T23: errors are not counted with the calls that went well, and quoted below them', () => {
  expect(summaryOf([read('a'), { name: 'shell', error: 'no such file' }])).toBe(
    '[Earlier in this session:]\n- reads (1): a\n\n[Errors encountered:]\n- shell: no such file',
  )
})

test('T23: only errors make a summary as well', () => {
  expect(summaryOf([{ name: 'shell', error: 'boom' }])).toBe(
    '[Earlier in this session:]\n\n[Errors encountered:]\n- shell: boom',
  )
})

test('K15: an error is cut at 200 characters, or where errorCharactersMax says', () => {
  const error = '語'.repeat(201)
  expect(linesOf([{ name: 'x', error }]).at(-1)).toBe(`- x: ${'語'.repeat(200)}...`)
  expect(linesOf([{ name: 'x', error }], { errorCharactersMax: 3 }).at(-1)).toBe('- x: 語語語...')
  expect(linesOf([{ name: 'x', error }], { errorCharactersMax: 201 }).at(-1)).toBe(`- x: ${error}`)
})

test('without preserveErrorsVerbatim a summary only says how often each tool failed', () => {
  const errors = ['a', 'b', 'a'].map((name) => ({ name, error: 'secret' }))
  expect(linesOf(errors, { preserveErrorsVerbatim: false })).toEqual([
    '',
    '[Errors encountered:]',
    '- b: failed 1x',
    '- a: failed 2x',
  ])
})

test.each([
  ['read_file', 'reads'],
  ['read', 'reads'],
  ['list_dir', 'reads'],
  ['ls', 'reads'],
  ['artifact_fetch', 'reads'],
  ['glob', 'searches'],
  ['grep', 'searches'],
  ['write_file', 'writes'],
  ['apply_patch', 'writes'],
  ['shell', 'commands'],
  ['bash', 'commands'],
  ['thread_create', 'other calls'],
  ['spreadsheet_delete', 'other calls'],
  ['credit_card', 'other calls'],
  ['execute_query', 'other calls'],
  ['constructor', 'other calls'],
])('T22: %s is counted among %s', (name, label) => {
  expect(linesOf([{ name }])[0]).toMatch(new RegExp(`^- ${label} \\(1\\)`, 'u'))
})

test('T22: the declared kind of a tool decides, before what is built in', () => {
  const kinds = { thread_create: 'write', shell: 'other', find_all: 'search', go: 'terminal' } as const
  const calls = ['thread_create', 'shell', 'find_all', 'go'].map((name) => ({ name }))
  expect(linesOf(calls, { kinds })).toEqual([
    '- writes (1)',
    '- other calls (1): shell',
    '- searches (1)',
    '- commands (1)',
  ])
})

test('T22: a tool that is declared to change nothing reads', () => {
  expect(
    linesOf([{ name: 'fetch_page', args: { uri: 'http://a' } }], { readOnlyTools: ['fetch_page'] }),
  ).toEqual(['- reads (1): http://a'])
  expect(linesOf([{ name: 'grep' }], { readOnlyTools: ['grep'] })).toEqual(['- searches (1)'])
})

test('a write is summarized by its path, and a patch by each of its files', () => {
  const patch = [
    '*** Begin Patch',
    '*** Update File: src/a.ts',
    '*** Move to: src/b.ts',
    '@@',
    '+*** Add File: not/this.ts',
    '*** Delete File: c.ts',
    '*** End Patch',
  ].join('\n')
  expect(linesOf([{ name: 'apply_patch', args: { patch } }])).toEqual([
    '- writes (1): src/a.ts, src/b.ts, c.ts',
  ])
  expect(linesOf([{ name: 'write_file', args: { path: 'd.ts' } }])).toEqual(['- writes (1): d.ts'])
})

test('arguments without anything to mention are only counted', () => {
  expect(
    linesOf([
      { name: 'read_file', args: { path: 5 } },
      { name: 'ls', args: [1] },
    ]),
  ).toEqual(['- reads (2)'])
})

const many: readonly Call[] = [
  read('src/first-file.ts'),
  { name: 'shell', args: { command: 'npm run build' } },
  read('src/second-file.ts'),
  { name: 'shell', args: { command: 'npm test' } },
  { name: 'shell', error: 'exit code 1' },
]

test('K15: for want of room the oldest details go first, then kinds of calls, and errors stay to the end', () => {
  const errors = '\n\n[Errors encountered:]\n- shell: exit code 1'
  const forms = [
    '- reads (2): src/first-file.ts, src/second-file.ts\n- commands (2): npm run build, npm test',
    '- reads (2): src/second-file.ts (+1 more)\n- commands (2): npm run build, npm test',
    '- reads (2): src/second-file.ts (+1 more)\n- commands (2): npm test (+1 more)',
    '- reads (2)\n- commands (2): npm test (+1 more)',
    '- reads (2)\n- commands (2)',
    '- commands (2)',
  ].map((lines) => `[Earlier in this session:]\n${lines}${errors}`)
  for (const form of forms) {
    expect(summaryOf(many, { maxHistorySummaryTokens: form.length }, characters)).toBe(form)
  }
  const only = `[Earlier in this session:]${errors}`
  expect(summaryOf(many, { maxHistorySummaryTokens: only.length }, characters)).toBe(only)
})

test('K15: of many errors the newest stay, and it says how many there were before', () => {
  const errors = Array.from({ length: 300 }, (_, at) => ({ name: 'shell', error: `failure number ${at}` }))
  const summary = summaryOf(errors) ?? ''
  expect(estimateTokens(summary)).toBeLessThanOrEqual(500)
  expect(estimateTokens(summary)).toBeGreaterThan(480)
  expect(summary).toMatch(/\n- shell: failure number 299$/u)
  const kept = summary.match(/failure number/gu)?.length ?? 0
  expect(summary).toContain(
    `[Errors encountered:]\n- (+${300 - kept} earlier)\n- shell: failure number ${300 - kept}\n`,
  )
})

test('K15: of an error that does not fit its begin is told, and nothing when there is no room at all', () => {
  const calls = [{ name: 'shell', error: 'the whole machine is on fire' }]
  expect(summaryOf(calls, { maxHistorySummaryTokens: 70 }, characters)).toBe(
    '[Earlier in this session:]\n\n[Errors encountered:]\n- shell: the whol...',
  )
  expect(summaryOf(calls, { maxHistorySummaryTokens: 40 }, characters)).toBeNull()
})

test('a cap of 0 leaves no summary, and the calls still count as truncated', () => {
  const manager = new ToolHistoryManager({ recentCallsToKeep: 0, maxHistorySummaryTokens: 0 })
  manager.addToolCall('a', 'ls', {}, '', false)
  expect(manager.getCompactedHistory()).toMatchObject({ summary: null, truncatedCount: 1 })
  expect(manager.renderAsItems()).toEqual([])
})

test('the cap is counted by the tokenizer that was plugged in', () => {
  const calls = [read('a'), read('b')]
  expect(summaryOf(calls, { maxHistorySummaryTokens: 46 })).toContain('a, b')
  expect(summaryOf(calls, { maxHistorySummaryTokens: 41 }, characters)).toBe(
    '[Earlier in this session:]\n- reads (2)',
  )
})
