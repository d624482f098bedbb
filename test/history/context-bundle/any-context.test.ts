import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { compileContext, type CompileOptions } from '../../../src/history/context-bundle/compile-context.ts'
import { contextBundleId, writeContextBundle } from '../../../src/history/context-bundle/context-bundle.ts'
import { parseContextBundle } from '../../../src/history/context-bundle/parse-context-bundle.ts'
import { renderBundle, type RenderOptions } from '../../../src/history/context-bundle/render-bundle.ts'
import type { ToolWorkItem } from '../../../src/history/context-bundle/tool-work.ts'
import type { InputItem } from '../../../src/protocol/items.ts'
import { isJsonObject } from '../../../src/protocol/json.ts'
import { parseRequest } from '../../../src/protocol/parse-request.ts'
import { isBySchema } from './by-schema.ts'
import {
  answer,
  compaction,
  developer,
  PROVENANCE,
  sourceOf,
  summary,
  system,
  user,
  type EntryAt,
} from './sample-conversation.ts'

const text = fc.string({ unit: 'binary', maxLength: 40 })

const callId = fc.constantFrom('c1', 'c2', 'c3', 'c4', '', 'c'.repeat(65))

const item: fc.Arbitrary<ToolWorkItem> = fc.oneof(
  fc.record(
    {
      type: fc.constant('reasoning' as const),
      summary: fc.array(fc.record({ type: fc.constant('summary_text' as const), text }), { maxLength: 1 }),
      id: fc.constant('rs_1'),
      encrypted_content: text,
    },
    { requiredKeys: ['type', 'summary'] },
  ),
  fc.record(
    {
      type: fc.constant('message' as const),
      role: fc.constant('assistant' as const),
      content: fc.oneof(text, fc.array(fc.record({ type: fc.constant('output_text' as const), text }))),
      id: fc.constant('msg_1'),
      phase: fc.constantFrom('commentary' as const, 'final_answer' as const),
    },
    { requiredKeys: ['type', 'role', 'content'] },
  ),
  fc.record({
    type: fc.constant('function_call' as const),
    call_id: callId,
    name: fc.constantFrom('read', 'write', 'a b'),
    arguments: fc.oneof(text, fc.json()),
  }),
  fc.record({
    type: fc.constant('function_call_output' as const),
    call_id: callId,
    output: fc.oneof(text, fc.array(fc.record({ type: fc.constant('input_text' as const), text }))),
  }),
)

/** Mostly whole, as loops make them: any reasoning, perhaps a message, one to three calls, their outputs in any order. */
const wholeGroup = fc
  .record({
    ids: fc.shuffledSubarray(['c1', 'c2', 'c3'], { minLength: 1 }),
    outputs: fc.shuffledSubarray(['c1', 'c2', 'c3'], { minLength: 3 }),
    isReasoned: fc.boolean(),
    said: fc.option(text),
    args: text,
  })
  .map(({ ids, outputs, isReasoned, said, args }): readonly ToolWorkItem[] => [
    ...(isReasoned ? [{ type: 'reasoning' as const, id: 'rs_1', summary: [] }] : []),
    ...(said === null ? [] : [{ type: 'message' as const, role: 'assistant' as const, content: said }]),
    ...ids.map((id) => ({ type: 'function_call' as const, call_id: id, name: 'read', arguments: args })),
    ...outputs
      .filter((id) => ids.includes(id))
      .map((id) => ({ type: 'function_call_output' as const, call_id: id, output: id })),
  ])

const group = fc.oneof(
  { weight: 4, arbitrary: wholeGroup },
  { weight: 1, arbitrary: fc.array(item, { maxLength: 5 }) },
)

/** Where an entry points to an earlier one, `back` says how far. */
const entry: fc.Arbitrary<EntryAt> = fc.oneof(
  { weight: 4, arbitrary: text.map(user) },
  { weight: 1, arbitrary: fc.oneof(text.map(system), text.map(developer)) },
  {
    weight: 3,
    arbitrary: fc.record({ back: fc.nat(4), text, run: fc.constantFrom('run_a', 'run_b') }).map(
      ({ back, text, run }): EntryAt =>
        (seq) =>
          answer(seq - back, text, run)(seq),
    ),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({ back: fc.nat(4), groups: fc.array(group, { maxLength: 3 }) })
      .map(({ back, groups }): EntryAt => (seq) => ({
        type: 'tool_work',
        seq,
        runId: 'run_a',
        messageSeq: seq - back,
        groups,
      })),
  },
  {
    weight: 1,
    arbitrary: fc.record({ back: fc.nat(8), text, endpoint: fc.constantFrom('https://a', 'https://b') }).map(
      ({ back, text, endpoint }): EntryAt =>
        (seq) =>
          compaction(Math.max(0, seq - back), text, endpoint)(seq),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record({ back: fc.nat(8), text }).map(
      ({ back, text }): EntryAt =>
        (seq) =>
          summary(Math.max(0, seq - back), text)(seq),
    ),
  },
)

const context = fc.record({
  entries: fc
    .array(entry, { minLength: 1, maxLength: 40 })
    .map((makers) => makers.map((make, seq) => make(seq))),
  cutAt: fc.nat(),
  options: fc.record(
    {
      strategy: fc.constantFrom(
        'auto' as const,
        'recent_messages_v1' as const,
        'summaries_recent_messages_v1' as const,
        'hierarchical_summaries_recent_messages_v1' as const,
      ),
      provenance: fc.constant(PROVENANCE),
      recent: fc.integer({ min: 1, max: 6 }),
      toolWork: fc.constantFrom('omit' as const, 'include' as const),
      budgetTokens: fc.nat(200),
      endpoint: fc.constantFrom('https://a', 'https://b'),
    },
    { requiredKeys: ['strategy', 'provenance'] },
  ),
})

type Context = typeof context extends fc.Arbitrary<infer Value> ? Value : never

function optionsOf({ entries, cutAt, options }: Context): CompileOptions {
  return { ...options, cut: { fromSeq: cutAt % entries.length } }
}

const native: RenderOptions = { summaries: (id) => `summary ${id}`, toolWork: 'native' }

const asText: RenderOptions = {
  ...native,
  toolWork: 'text',
  renderToolWork: (items) => [{ type: 'message', role: 'user', content: JSON.stringify(items) }],
}

function check(property: (context: Context) => void): void {
  fc.assert(fc.property(context, property), { numRuns: 400 })
}

test('any context fits the schema of its form', () => {
  check((any) => {
    const { bundle } = compileContext(sourceOf(any.entries), optionsOf(any))
    expect(isBySchema(bundle)).toBe(true)
    expect(bundle.schema.startsWith('loopchart')).toBe(any.options.toolWork === 'include')
  })
})

test('any context is read again as it was written, with the same id', () => {
  check((any) => {
    const { bundle, id } = compileContext(sourceOf(any.entries), optionsOf(any))
    const read = parseContextBundle(JSON.parse(writeContextBundle(bundle)))
    expect(read).toEqual(bundle)
    expect(contextBundleId(read)).toBe(id)
    expect(JSON.stringify(renderBundle(read, native))).toBe(JSON.stringify(renderBundle(bundle, native)))
  })
})

test('any context renders to items that the protocol takes, in which no pair is split', () => {
  check((any) => {
    const { bundle } = compileContext(sourceOf(any.entries), optionsOf(any))
    for (const options of [native, asText]) {
      const input = renderBundle(bundle, options)
      expect(parseRequest({ model: 'm', input })).toEqual({ model: 'm', input })
      expect(refusal(input)).toBeNull()
    }
  })
})

test('any context holds nothing from behind its cut, and its own messages in order', () => {
  check((any) => {
    const { bundle, selection } = compileContext(sourceOf(any.entries), optionsOf(any))
    const seqs = bundle.items.flatMap((one) => ('artifact_id' in one ? [] : [one.thread_seq ?? -1]))
    expect(Math.max(-1, ...seqs)).toBeLessThanOrEqual(bundle.source.from_seq)
    for (const { seq } of selection.checkpoints) expect(seq).toBeLessThanOrEqual(bundle.source.from_seq)
    const asked = bundle.items.flatMap((one) => (one.type === 'message' && one.role === 'user' ? [one] : []))
    const inOrder = asked.map((one) => one.thread_seq ?? -1)
    expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b))
    expect(asked.length).toBeLessThanOrEqual(selection.recent)
  })
})

test('any context is the same from a copy with other key orders and more entries behind the cut', () => {
  fc.assert(
    fc.property(context, fc.array(entry, { maxLength: 8 }), (any, more) => {
      const options = optionsOf(any)
      const before = any.entries.slice(0, options.cut.fromSeq + 1)
      const longer = [...any.entries, ...more.map((make, index) => make(any.entries.length + index))]
      const one = compileContext(sourceOf(before), options)
      const two = compileContext(sourceOf(turned(longer)), turned(options))
      expect(two.id).toBe(one.id)
      expect(two.selection).toEqual(one.selection)
      expect(writeContextBundle(two.bundle)).toBe(writeContextBundle(one.bundle))
      for (const form of [native, asText]) {
        expect(JSON.stringify(renderBundle(two.bundle, form))).toBe(
          JSON.stringify(renderBundle(one.bundle, form)),
        )
      }
    }),
    { numRuns: 400 },
  )
})

test('any context is within its budget unless nothing but the newest message of the user is left', () => {
  check((any) => {
    const { budgetTokens } = any.options
    if (budgetTokens === undefined) return
    const options = optionsOf(any)
    const { bundle, selection } = compileContext(sourceOf(any.entries), options)
    const isLast =
      bundle.items.length === 1 && bundle.items[0]?.type === 'message' && bundle.items[0].role === 'user'
    expect(isLast || selection.tokens <= budgetTokens).toBe(true)
    const { budgetTokens: _, ...unbounded } = options
    const whole = compileContext(sourceOf(any.entries), unbounded).bundle.items
    const isQuestion = (one: (typeof whole)[number]) => one.type === 'message' && one.role === 'user'
    expect(bundle.items.findLast(isQuestion)).toEqual(whole.findLast(isQuestion))
    const dropped = selection.left_out.filter(({ reason }) => reason === 'budget')
    expect(bundle.items.length + dropped.length).toBe(whole.length)
  })
})

/** What a provider refuses: a call id that is not answered exactly once behind its call, reasoning that leads nowhere. */
function refusal(items: readonly InputItem[]): string | null {
  const open = new Set<string>()
  const seen = new Set<string>()
  for (const [index, one] of items.entries()) {
    if (one.type === 'function_call') {
      if (seen.has(one.call_id)) return `the call id ${one.call_id} twice`
      if (typeof JSON.parse(one.arguments) === 'undefined') return 'arguments that are not JSON'
      seen.add(one.call_id)
      open.add(one.call_id)
    }
    if (one.type === 'function_call_output' && !open.delete(one.call_id)) return `no call ${one.call_id}`
    if (one.type === 'message' && one.role !== 'assistant' && open.size > 0)
      return `a message before the output of ${[...open].join()}`
    const next = items[index + 1]
    const isLed = next?.type === 'message' ? next.role === 'assistant' : next?.type !== 'function_call_output'
    if (one.type === 'reasoning' && (next === undefined || !isLed)) return 'reasoning alone'
  }
  return open.size === 0 ? null : `no output of ${[...open].join()}`
}

/** The same value with the keys of every object the other way round. */
function turned<Value>(value: Value): Value {
  return turn(value) as Value
}

function turn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => turn(one))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, one]) => [key, turn(one)]),
  )
}
