import { expect, test } from 'vitest'

import { parseRequestOptions, type RequestOptionsInput } from '../../../src/loop/request-options.ts'
import { refusalOf } from './refusal-of.ts'

const schema = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] }

test('without options the provider decides everything but the tools', () => {
  expect(parseRequestOptions({})).toEqual({
    toolChoice: 'auto',
    stickyToolChoice: false,
    parallelToolCalls: false,
    reasoning: null,
    text: null,
    maxOutputTokens: null,
    include: [],
    store: null,
    encryptedReasoning: false,
    metadata: null,
    serviceTier: null,
    truncation: null,
    promptCacheKey: null,
    temperature: null,
    topP: null,
    systemPromptPlacement: null,
    warnings: [],
  })
})

test('L13: parallel calls are asked for only where calls run in parallel, or by name', () => {
  expect(parseRequestOptions({}, { toolExecution: 'parallel' }).parallelToolCalls).toBe(true)
  expect(parseRequestOptions({ parallelToolCalls: false }, { toolExecution: 'parallel' })).toMatchObject({
    parallelToolCalls: false,
  })
  expect(parseRequestOptions({ parallelToolCalls: true }).parallelToolCalls).toBe(true)
})

test('F8, F11: effort, summary, verbosity, format and the longest output are forwarded', () => {
  const options = parseRequestOptions({
    reasoning: { effort: 'high', summary: 'auto' },
    verbosity: 'low',
    format: { name: 'sum', schema, strict: true, description: 'A sum.' },
    maxOutputTokens: 16,
  })
  expect(options).toMatchObject({
    reasoning: { effort: 'high', summary: 'auto' },
    text: {
      format: { type: 'json_schema', name: 'sum', description: 'A sum.', schema, strict: true },
      verbosity: 'low',
    },
    maxOutputTokens: 16,
  })
})

test('F11: the effort minimal, which the protocol does not admit, becomes low with a warning', () => {
  const { reasoning, warnings } = parseRequestOptions({ reasoning: { effort: 'minimal' } })
  expect(reasoning).toEqual({ effort: 'low' })
  expect(warnings).toEqual([expect.stringContaining('minimal')])
})

test('F12: encrypted reasoning is asked for once, and nothing is stored unless that was said', () => {
  const include = ['reasoning.encrypted_content', 'message.output_text.logprobs'] as const
  expect(parseRequestOptions({ encryptedReasoning: true })).toMatchObject({
    include: ['reasoning.encrypted_content'],
    store: false,
  })
  expect(parseRequestOptions({ encryptedReasoning: true, include: [...include], store: true })).toMatchObject(
    {
      include,
      store: true,
    },
  )
  expect(parseRequestOptions({ include: [...include, ...include] })).toMatchObject({ include, store: null })
})

test('a schema that changes after it was read does not change what is sent', () => {
  const mutable = { type: 'object' }
  const { text } = parseRequestOptions({ format: { name: 'sum', schema: mutable } })
  mutable.type = 'array'
  expect(text).toEqual({ format: { type: 'json_schema', name: 'sum', schema: { type: 'object' } } })
})

test('a warning about the tool choice is passed on', () => {
  const nested = { type: 'function', function: { name: 'add' } } as const
  expect(parseRequestOptions({ toolChoice: nested }).warnings).toHaveLength(1)
})

test('metadata of 16 pairs at their longest is taken', () => {
  const pairs = Array.from({ length: 16 }, (_, index) => [String(index).padEnd(64, 'k'), 'v'.repeat(512)])
  const metadata: unknown = Object.fromEntries(pairs)
  expect(parseRequestOptions({ metadata } as RequestOptionsInput).metadata).toEqual(metadata)
})

test.each<readonly [unknown, string]>([
  [null, 'it must be an object'],
  [{ tool_choice: 'auto' }, 'tool_choice is not an option'],
  [{ toolChoice: 'any' }, 'toolChoice must be auto, none, required or an object'],
  [{ parallelToolCalls: 'yes' }, 'parallelToolCalls must be true or false'],
  [{ reasoning: { effort: 'max' } }, 'reasoning.effort must be none, minimal, low, medium, high or xhigh'],
  [{ reasoning: { depth: 1 } }, 'reasoning.depth is not an option'],
  [{ verbosity: 'loud' }, 'verbosity must be low, medium or high'],
  [{ maxOutputTokens: 15 }, 'maxOutputTokens must be at least 16'],
  [{ maxOutputTokens: 16.5 }, 'maxOutputTokens must be a whole number'],
  [{ include: ['usage'] }, 'include[0] must be reasoning.encrypted_content or message.output_text.logprobs'],
  [{ store: null }, 'store must be true or false'],
  [{ metadata: { a: 1 } }, 'metadata.a must be a string'],
  [{ metadata: { a: 'v'.repeat(513) } }, 'metadata.a must be at most 512 characters'],
  [{ metadata: { ['k'.repeat(65)]: 'v' } }, 'metadata must have keys of at most 64 characters'],
  [
    { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [index, 'v'])) },
    'metadata must have at most 16 pairs',
  ],
  [{ serviceTier: 'batch' }, 'serviceTier must be auto, default, flex or priority'],
  [{ truncation: 'on' }, 'truncation must be auto or disabled'],
  [{ promptCacheKey: 'k'.repeat(65) }, 'promptCacheKey must be at most 64 characters'],
  [{ temperature: Number.NaN }, 'temperature must be a number'],
  [{ topP: '1' }, 'topP must be a number'],
  [
    { systemPromptPlacement: 'user' },
    'systemPromptPlacement must be instructions, system, developer or both',
  ],
  [{ format: { name: 'a b', schema } }, 'format.name must be 1 to 64 letters, digits, _ or -'],
  [{ format: { name: 'a', schema: 'object' } }, 'format.schema must be a JSON Schema object'],
  [{ format: { name: 'a', schema: { default: 1n } } }, 'format.schema: default must be JSON, not bigint'],
])('the options %o are refused by their field', (options, message) => {
  expect(refusalOf(() => parseRequestOptions(options as RequestOptionsInput))).toBe(
    `agent_invalid: ${message}`,
  )
})

test('a forced tool that is not declared is refused', () => {
  const options = { toolChoice: { type: 'function', name: 'sub' } } as const
  expect(refusalOf(() => parseRequestOptions(options, { toolNames: ['add'] }))).toContain('"sub"')
})
