import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { compileContext } from '../../../src/history/context-bundle/compile-context.ts'
import type { ConversationEntry } from '../../../src/history/context-bundle/conversation-source.ts'
import { renderBundle } from '../../../src/history/context-bundle/render-bundle.ts'
import type { ToolWorkItem } from '../../../src/history/context-bundle/tool-work.ts'
import { insertToolHistory } from '../../../src/history/tool-history/insert-tool-history.ts'
import { NativeStrategy } from '../../../src/history/tool-history/native-strategy.ts'
import { inputItems } from '../../../src/loop/input-items.ts'
import type { AnyItem, InputItem } from '../../../src/protocol/items.ts'
import { PROVENANCE, sourceOf } from './sample-conversation.ts'

const text = fc.string({ unit: 'binary', maxLength: 20 })
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined })

/** What one response puts out, with fields as providers send them, and the outputs that the loop adds. */
const response = fc
  .record({
    summary: maybe(fc.array(text.map((one) => ({ type: 'summary_text', text: one })))),
    said: maybe(fc.record({ text, phase: fc.constantFrom('commentary', null), isLate: fc.boolean() })),
    calls: fc.array(
      fc.record({
        args: fc.oneof(text, fc.json()),
        hasId: fc.boolean(),
        status: fc.constantFrom('completed', null, undefined),
        output: fc.oneof(
          text.map((output) => ({ output })),
          text.map((one) => ({ output: [{ type: 'input_text', text: one }] })),
          fc.constant({ output: null, outcome: 'denied', tool: 'read', detail: null }),
        ),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  })
  .map(
    ({ summary, said, calls }) =>
      (prefix: string, callId: (index: number) => string): readonly AnyItem[] => {
        const reasoning = {
          type: 'reasoning',
          id: `rs_${prefix}`,
          encrypted_content: 'x',
          content: [],
          status: null,
        }
        const message = {
          type: 'message',
          id: `msg_${prefix}`,
          role: 'assistant',
          status: 'completed',
          phase: said?.phase ?? null,
          content: [{ type: 'output_text', text: said?.text ?? '', annotations: [], logprobs: [] }],
        }
        return [
          ...(summary === undefined ? [] : [{ ...reasoning, summary }]),
          ...(said?.isLate === false ? [message] : []),
          ...calls.map(({ args, hasId, status }, index) => ({
            ...(status === undefined ? {} : { status }),
            type: 'function_call',
            name: 'read',
            ...(hasId ? { id: `fc_${prefix}_${index}` } : {}),
            call_id: callId(index),
            arguments: args,
          })),
          ...(said?.isLate === true ? [message] : []),
          ...calls.map(({ output }, index) => ({
            type: 'function_call_output',
            call_id: callId(index),
            ...output,
          })),
        ]
      },
  )

type Response = typeof response extends fc.Arbitrary<infer Value> ? Value : never

function send(items: readonly AnyItem[]): readonly InputItem[] {
  return inputItems(items, {
    mode: 'stateless',
    isStored: true,
    answerText: (outcome) => `it was ${outcome}`,
  }).items
}

/** The items of a new run for the last message of the conversation. */
function context(entries: readonly ConversationEntry[]): readonly InputItem[] {
  const { bundle } = compileContext(sourceOf(entries), {
    cut: { fromSeq: entries.length - 1 },
    strategy: 'recent_messages_v1',
    recent: 100,
    provenance: PROVENANCE,
    toolWork: 'include',
  })
  return renderBundle(bundle, { summaries: () => null, toolWork: 'native' })
}

/** What the run sent for its own work, by response. */
function groupsOf(sent: readonly InputItem[]): readonly (readonly ToolWorkItem[])[] {
  const groups: ToolWorkItem[][] = []
  for (const [index, item] of sent.entries()) {
    const isNew = item.type !== 'function_call_output' && sent[index - 1]?.type === 'function_call_output'
    if (index === 0 || isNew) groups.push([])
    groups.at(-1)?.push(item as ToolWorkItem)
  }
  return groups
}

/** Has one run after the other, each told all before it; gives what the last request of each run had as its input. */
function converse(runs: readonly (readonly AnyItem[])[]): readonly (readonly string[])[] {
  const entries: ConversationEntry[] = []
  return runs.map((work, run) => {
    const messageSeq = entries.length
    entries.push({ type: 'message', seq: messageSeq, role: 'user', text: `question ${run}` })
    const told = context(entries) as unknown as readonly AnyItem[]
    const sent = send([...told, ...work])
    const groups = groupsOf(sent.slice(send(told).length))
    const runId = `run_${run}`
    entries.push({ type: 'tool_work', seq: messageSeq + 1, runId, messageSeq, groups })
    entries.push({ type: 'answer', seq: messageSeq + 2, runId, messageSeq, text: `answer ${run}` })
    return sent.map((item) => JSON.stringify(item))
  })
}

function workOf(responses: readonly Response[], run: number): readonly AnyItem[] {
  return responses.flatMap((make, at) => make(`${run}_${at}`, (index) => `call_${run}_${at}_${index}`))
}

test('what a run sent of its work is sent again by the next run byte for byte', () => {
  fc.assert(
    fc.property(fc.array(fc.array(response, { maxLength: 3 }), { minLength: 2, maxLength: 4 }), (runs) => {
      const requests = converse(runs.map(workOf))
      for (const [index, before] of requests.slice(0, -1).entries()) {
        expect(requests[index + 1]?.slice(0, before.length)).toEqual(before)
      }
    }),
    { numRuns: 300 },
  )
})

function reused(id: string): readonly AnyItem[] {
  return [
    { type: 'function_call', call_id: id, name: 'read', arguments: '{}' },
    { type: 'function_call_output', call_id: id, output: 'x' },
  ]
}

test('a call id that later runs use again is sent again as each of them sent it', () => {
  const requests = converse([...Array.from({ length: 4 }, () => reused('c1')), reused('c2')])
  for (const [at, request] of requests.slice(1).entries()) {
    const before = requests[at] ?? []
    expect(request.slice(0, before.length)).toEqual(before)
  }
  expect(requests[1]?.filter((item) => item.includes('"call_id":"c1"'))).toHaveLength(2)
})

test('native history leaves recent calls, and all that is around them, byte for byte', () => {
  fc.assert(
    fc.property(fc.array(fc.array(response, { maxLength: 3 }), { minLength: 1, maxLength: 3 }), (runs) => {
      const sent = runs.flatMap((responses, run) => send(workOf(responses, run)))
      const { items } = insertToolHistory(sent, {
        strategy: new NativeStrategy(),
        config: { recentCallsToKeep: Infinity },
      })
      expect(JSON.stringify(items)).toBe(JSON.stringify(sent))
    }),
    { numRuns: 300 },
  )
})

test('native history leaves everything from the oldest recent call on as it is when older calls go', () => {
  const work = ['c1', 'c2', 'c3'].flatMap((id) => [
    {
      id: `fc_${id}`,
      type: 'function_call',
      status: 'completed',
      name: 'read',
      arguments: '{"a":1}',
      call_id: id,
    },
    {
      status: 'completed',
      call_id: id,
      output: [{ text: 'x', type: 'input_text' }],
      type: 'function_call_output',
    },
  ]) as unknown as readonly InputItem[]
  const { items, truncatedCount } = insertToolHistory(work, {
    strategy: new NativeStrategy(),
    config: { recentCallsToKeep: 2 },
  })
  expect(truncatedCount).toBe(1)
  expect(JSON.stringify(items.slice(-4))).toBe(JSON.stringify(work.slice(-4)))
})
