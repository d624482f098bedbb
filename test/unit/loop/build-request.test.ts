import { Buffer } from 'node:buffer'

import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import type { RespondInput } from '../../../machines/loop.types.ts'
import { buildRequest, type RequestPlan } from '../../../src/loop/build-request.ts'
import { parseRequestOptions, type RequestOptionsInput } from '../../../src/loop/request-options.ts'
import { parseRequest } from '../../../src/protocol/parse-request.ts'
import type { CreateResponseBody } from '../../../src/protocol/requests.ts'
import { refusalOf } from './refusal-of.ts'
import { answerText, call, notRun, output, sampleRun, user } from './sample-run.ts'

const definitions = [
  { type: 'function', name: 'sub', description: 'Subtract.', parameters: { type: 'object' }, strict: false },
  { type: 'function', name: 'add', description: 'Add.', parameters: { type: 'object' }, strict: false },
]

function plan(options: RequestOptionsInput = {}, more: Partial<RequestPlan> = {}): RequestPlan {
  return {
    model: 'm',
    instructions: 'Be brief.',
    definitions,
    requestOptions: parseRequestOptions(options),
    answerText,
    stream: true,
    unsupported: [],
    ...more,
  }
}

/** The request, read as whoever gets it would. */
function built(
  ...given: Parameters<typeof buildRequest>
): ReturnType<typeof buildRequest> & { readonly body: CreateResponseBody } {
  const request = buildRequest(...given)
  return { ...request, body: parseRequest(JSON.parse(request.text)) }
}

const initial: RespondInput = {
  kind: 'initial',
  turn: 1,
  attempt: 0,
  model: 0,
  mode: 'previous_response_id',
  previousResponseId: null,
  items: [user('2+3?')],
  toolCallsLeft: 32,
  isChoiceSatisfied: false,
}

const followUp: RespondInput = {
  ...initial,
  kind: 'follow_up',
  turn: 2,
  previousResponseId: 'resp_1',
  items: [output('c1', '5')],
  toolCallsLeft: 31,
  isChoiceSatisfied: true,
}

const system = { type: 'message', role: 'system', content: 'Be brief.' }

test('N3, L11..L14: the first request says all that there is to say, in a fixed order', () => {
  const { body, text, warnings } = built(plan(), initial)
  expect(text).toBe(
    JSON.stringify({
      model: 'm',
      instructions: 'Be brief.',
      tools: definitions,
      parallel_tool_calls: false,
      stream: true,
      tool_choice: 'auto',
      max_tool_calls: 32,
      input: [user('2+3?')],
    }),
  )
  expect(JSON.parse(text)).toEqual(body)
  expect(warnings).toEqual([])
})

test('L9: a follow-up by id carries the id and only the outputs', () => {
  const { body } = built(plan(), followUp)
  expect(body).toEqual({
    model: 'm',
    instructions: 'Be brief.',
    tools: definitions,
    parallel_tool_calls: false,
    stream: true,
    tool_choice: 'auto',
    max_tool_calls: 31,
    previous_response_id: 'resp_1',
    input: [{ type: 'function_call_output', call_id: 'c1', output: '5' }],
  })
})

test('every option has its field', () => {
  const options: RequestOptionsInput = {
    toolChoice: { type: 'function', name: 'add' },
    parallelToolCalls: true,
    reasoning: { effort: 'low', summary: 'auto' },
    verbosity: 'high',
    format: { name: 'sum', schema: { type: 'object' } },
    maxOutputTokens: 100,
    include: ['message.output_text.logprobs'],
    store: true,
    metadata: { team: 'a' },
    serviceTier: 'flex',
    truncation: 'auto',
    promptCacheKey: 'key',
    temperature: 0,
    topP: 0.5,
  }
  expect(built(plan(options, { stream: false }), initial).body).toEqual({
    model: 'm',
    instructions: 'Be brief.',
    tools: definitions,
    parallel_tool_calls: true,
    reasoning: { effort: 'low', summary: 'auto' },
    text: { format: { type: 'json_schema', name: 'sum', schema: { type: 'object' } }, verbosity: 'high' },
    temperature: 0,
    top_p: 0.5,
    max_output_tokens: 100,
    truncation: 'auto',
    service_tier: 'flex',
    prompt_cache_key: 'key',
    metadata: { team: 'a' },
    include: ['message.output_text.logprobs'],
    store: true,
    stream: false,
    tool_choice: { type: 'function', name: 'add' },
    max_tool_calls: 32,
    input: [user('2+3?')],
  })
})

test('K7: a forced choice is free in the requests after it was followed, unless it is sticky', () => {
  const options = { toolChoice: 'required' } as const
  expect(built(plan(options), initial).body.tool_choice).toBe('required')
  expect(built(plan(options), followUp).body.tool_choice).toBe('auto')
  expect(built(plan({ ...options, stickyToolChoice: true }), followUp).body.tool_choice).toBe('required')
})

test('K11: the last word calls for no tool, and the calls that remain are never said to be less than one', () => {
  const last: RespondInput = { ...followUp, kind: 'wrap_up', toolCallsLeft: 0, isChoiceSatisfied: false }
  for (const toolChoice of ['auto', 'required'] as const) {
    expect(built(plan({ toolChoice, stickyToolChoice: true }), last).body).toMatchObject({
      tool_choice: 'none',
      max_tool_calls: 1,
      tools: definitions,
    })
  }
})

test('without tools nothing is said about tools', () => {
  const { body } = built(plan({}, { definitions: [] }), initial)
  expect(Object.keys(body)).toEqual(['model', 'instructions', 'stream', 'input'])
})

const stateless: RespondInput = { ...initial, mode: 'stateless' }

test.each<readonly [RequestOptionsInput, RespondInput, boolean, readonly unknown[]]>([
  [{}, initial, true, []],
  [{}, followUp, true, []],
  [{}, stateless, false, [system]],
  [{ systemPromptPlacement: 'instructions' }, stateless, true, []],
  [{ systemPromptPlacement: 'system' }, initial, false, [system]],
  [{ systemPromptPlacement: 'system' }, followUp, false, []],
  [{ systemPromptPlacement: 'developer' }, stateless, false, [{ ...system, role: 'developer' }]],
  [{ systemPromptPlacement: 'developer' }, followUp, false, []],
  [{ systemPromptPlacement: 'both' }, initial, true, [system]],
  [{ systemPromptPlacement: 'both' }, followUp, true, []],
])('K4: with %j the instructions are where they belong (%#)', (options, input, isField, first) => {
  const { body } = built(plan(options), input)
  expect(body.instructions).toBe(isField ? 'Be brief.' : undefined)
  expect(body.input?.slice(0, first.length)).toEqual(first)
  expect(JSON.stringify(body.input).match(/"role":"(system|developer)"/g) ?? []).toHaveLength(first.length)
})

test.each([null, ''])('the instructions %j are none', (instructions) => {
  for (const input of [initial, stateless])
    expect(built(plan({}, { instructions }), input).body).toMatchObject({ input: [user('2+3?')] })
})

test('K3: encrypted reasoning asks for itself, stores nothing, and is sent back', () => {
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'opaque' }
  const bare = { type: 'reasoning', id: 'rs_2', summary: [] }
  const items = [user('2+3?'), reasoning, bare, call('c1'), output('c1', '5')]
  const { body, warnings } = built(plan({ encryptedReasoning: true }), { ...stateless, items })
  expect(body).toMatchObject({ include: ['reasoning.encrypted_content'], store: false })
  expect(body.input).toContainEqual(reasoning)
  expect(body.input).not.toContainEqual(bare)
  expect(warnings).toHaveLength(1)
})

test('a conversation that starts with the provider has its calls paired, one that goes on has not', () => {
  const items = [output('c1', '5')]
  expect(built(plan(), { ...initial, items }).body.input).toEqual([])
  expect(built(plan(), { ...followUp, items }).body.input).toHaveLength(1)
})

test('K2: a request never has both an id and the conversation', () => {
  const items = [user('2+3?'), call('c1'), notRun('c1', 'denied')]
  const { body } = built(plan(), { ...followUp, mode: 'stateless', items })
  expect(body.previous_response_id).toBeUndefined()
  expect(body.input).toHaveLength(4)
})

test('without an id, each request extends the input of the one before, and the rest stays', () => {
  fc.assert(
    fc.property(sampleRun(fc.constantFrom('c1', 'c2', 'c3')), ({ first, turns }) => {
      const items = [...first]
      let before = built(plan(), { ...stateless, items }).body
      for (const turn of turns) {
        items.push(...turn.response, ...turn.added)
        const { body, text } = built(plan(), { ...stateless, kind: 'follow_up', items })
        const sent = JSON.stringify(before.input).slice(0, -1)
        expect(JSON.stringify(body.input).startsWith(sent)).toBe(true)
        expect(JSON.stringify(body.tools)).toBe(JSON.stringify(before.tools))
        expect(text.startsWith(JSON.stringify({ ...before, input: [] }).slice(0, -2))).toBe(true)
        expect(body.previous_response_id).toBeUndefined()
        before = body
      }
    }),
  )
})

test('the same input gives the same bytes', () => {
  const items = [user('x'), call('', { arguments: 'no' }), notRun('', 'bad_arguments')]
  const texts = [1, 2].map(() => built(plan({ metadata: { b: '1', a: '2' } }), { ...stateless, items }).text)
  expect(texts[0]).toBe(texts[1])
})

test('a plan that the protocol does not take is refused before it is sent', () => {
  const wrong = plan({}, { definitions: [{ type: 'function', name: 'a.b' }] })
  expect(refusalOf(() => built(wrong, initial))).toMatch(/^request_invalid: .*tools\[0\]\.name/)
})

test.for(['system', 'instructions', 'developer', 'both'] as const)(
  'with the instructions as %s, a long request is the same text in pieces as in one',
  (systemPromptPlacement) => {
    const items = [user('2+3?'), ...Array.from({ length: 400 }, () => user('wörd '.repeat(40)))]
    const stateless = { ...initial, mode: 'stateless', items } as const
    const request = built(plan({ systemPromptPlacement }), stateless)
    const pieces = request.pieces ?? []
    expect(pieces.map(({ text }) => text).join('')).toBe(request.text)
    expect(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(Buffer.byteLength(request.text))
    expect(pieces.length).toBeGreaterThan(2)
  },
)

test('a short request is one piece, and one that goes on from a response has none', () => {
  const request = built(plan(), initial)
  expect(request.pieces).toEqual([{ text: request.text, byteLength: Buffer.byteLength(request.text) }])
  expect(built(plan(), { ...followUp, previousResponseId: 'resp_1' }).pieces).toBeUndefined()
})

test.each<readonly [string, Partial<RespondInput>, RegExp]>([
  ['half a call', { toolCallsLeft: 1.5 }, /^request_invalid: .*max_tool_calls/],
  ['a number of calls that is none', { toolCallsLeft: Number.NaN }, /^request_invalid: .*max_tool_calls/],
  [
    'an id that is no text',
    JSON.parse('{"previousResponseId":7}'),
    /^request_invalid: .*previous_response_id/,
  ],
])('%s is refused though it is only checked by its type', (_, wrong, refusal) => {
  expect(refusalOf(() => built(plan(), { ...followUp, ...wrong }))).toMatch(refusal)
})

test('what differs from turn to turn is written as JSON writes it, for any id and any number of calls', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.maxSafeInteger(), (previousResponseId, toolCallsLeft) => {
      const { body, text } = built(plan(), { ...followUp, previousResponseId, toolCallsLeft })
      expect(body.previous_response_id).toBe(previousResponseId)
      expect(body.max_tool_calls).toBe(Math.max(1, toolCallsLeft))
      expect(text).toBe(JSON.stringify(body))
    }),
  )
})
