import * as fc from 'fast-check'

import type { Outcome } from '../../../machines/loop.types.ts'
import type { AnyItem } from '../../../src/protocol/items.ts'

/** One turn: what the model put out, and what the chart adds for the next request. */
interface SampleTurn {
  readonly response: readonly AnyItem[]
  readonly added: readonly AnyItem[]
}

export interface SampleRun {
  readonly first: readonly AnyItem[]
  readonly turns: readonly SampleTurn[]
}

export function user(text: string): AnyItem {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
}

export function call(callId: string, more: Readonly<Record<string, string | null>> = {}): AnyItem {
  return { type: 'function_call', call_id: callId, name: 'add', arguments: '{"a":1}', ...more }
}

export function output(callId: string, text: string): AnyItem {
  return { type: 'function_call_output', call_id: callId, output: text }
}

/** An output of a call that did not run, as the chart leaves it. */
export function notRun(callId: string, outcome: Outcome, detail: string | null = null): AnyItem {
  return { type: 'function_call_output', call_id: callId, output: null, outcome, tool: 'add', detail }
}

export function assistant(text: string, more: Readonly<Record<string, string | null>> = {}): AnyItem {
  return {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
    ...more,
  }
}

/** As a tool port would: everything that it is told is in the text. */
export function answerText(outcome: Outcome, tool: string, detail: string | null): string {
  return `${tool}: ${outcome}${detail === null ? '' : ` (${detail})`}`
}

const outcome = fc.constantFrom<Outcome>('denied', 'limit', 'bad_arguments', 'truncated')

const besides = fc.oneof(
  fc.string().map((text) => assistant(text, { phase: 'commentary' })),
  fc.constant<AnyItem>({ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'opaque' }),
  fc.constant<AnyItem>({ type: 'web_search_call', id: 'ws_1', status: 'completed' }),
)

/** A run as the chart would have it: every call of a response is answered, in order, before anything else is said. */
export function sampleRun(callIds: fc.Arbitrary<string>): fc.Arbitrary<SampleRun> {
  const oneCall = fc.record({
    callId: callIds,
    arguments: fc.oneof(fc.json(), fc.string()),
    answer: fc.oneof(fc.string(), outcome),
    isRun: fc.boolean(),
  })
  const turn = fc
    .record({
      before: fc.array(besides, { maxLength: 2 }),
      calls: fc.array(oneCall, { maxLength: 3 }),
      said: fc.array(fc.string(), { maxLength: 1 }),
    })
    .map(({ before, calls, said }): SampleTurn => {
      const asked = calls.map((one) => call(one.callId, { arguments: one.arguments }))
      const answered = calls.map((one) =>
        one.isRun ? output(one.callId, one.answer) : notRun(one.callId, 'denied', one.answer),
      )
      const messages = asked.length === 0 ? [...said, 'go on'].slice(0, 1) : said
      return { response: [...before, ...asked], added: [...answered, ...messages.map(user)] }
    })
  return fc.record({
    first: fc.array(fc.string().map(user), { minLength: 1, maxLength: 2 }),
    turns: fc.array(turn, { maxLength: 4 }),
  })
}
