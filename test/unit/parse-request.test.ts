import { expect, test } from 'vitest'

import { LoopchartError } from '../../src/errors.ts'
import { parseRequest } from '../../src/protocol/parse-request.ts'
import { sampleSchema } from '../sample-event.ts'

function refusalOf(body: unknown): LoopchartError {
  try {
    parseRequest(body)
  } catch (error) {
    if (error instanceof LoopchartError) return error
    throw error
  }
  throw new Error('the request was accepted')
}

const user = { type: 'message', role: 'user', content: 'hello' }
const call = { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{}' }
const itemTypes =
  'item_reference, null, reasoning, compaction, message, function_call or function_call_output'

test.each<readonly [unknown, string]>([
  [42, 'it must be object'],
  [null, 'it must be object'],
  [[], 'it must be object'],
  [{ model: 7 }, 'model must be string or null'],
  [{ input: 7 }, 'input must be string, array or null'],
  [{ input: [user, { ...call, call_id: undefined }] }, 'input[1].call_id is missing'],
  [{ input: [user, { ...call, call_id: '' }] }, 'input[1].call_id must NOT have fewer than 1 characters'],
  [
    { input: [{ ...call, call_id: 'x'.repeat(65) }] },
    'input[0].call_id must NOT have more than 64 characters',
  ],
  [{ input: [{ ...call, name: 'a.b' }] }, 'input[0].name must match pattern "^[a-zA-Z0-9_-]+$"'],
  [{ input: [{ ...call, arguments: {} }] }, 'input[0].arguments must be string'],
  [
    { input: [{ ...call, status: 'failed' }] },
    'input[0].status must be in_progress, completed or incomplete',
  ],
  [{ input: [{ type: 'web_search_call', id: 'ws' }] }, `input[0].type must be ${itemTypes}`],
  [{ input: [{ type: 5, id: 'x' }] }, `input[0].type must be ${itemTypes}`],
  [{ input: [{ role: 'user', content: 'hello' }] }, 'input[0].type is missing'],
  [{ input: [{ type: 'item_reference' }] }, 'input[0].id is missing'],
  [{ input: [{ ...user, role: 'tool' }] }, 'input[0].role must be user, system, developer or assistant'],
  [{ input: [{ type: 'message', content: 'hello' }] }, 'input[0].role is missing'],
  [{ input: [{ ...user, content: 5 }] }, 'input[0].content must be array or string'],
  [{ input: [{ ...user, content: [{ type: 'input_text' }] }] }, 'input[0].content[0].text is missing'],
  [
    { input: [{ ...user, content: [{ type: 'output_text', text: 'x' }] }] },
    'input[0].content[0].type must be input_text, input_image or input_file',
  ],
  [
    { input: [{ type: 'function_call_output', call_id: 'c', output: {} }] },
    'input[0].output must be string or array',
  ],
  [{ input: ['hello'] }, 'input[0] must be object'],
  [{ input: [{ type: 'reasoning', summary: [], content: [] }] }, 'input[0].content must be null'],
  [{ tools: [{ type: 'function' }] }, 'tools[0].name is missing'],
  [{ tools: [{ type: 'web_search', name: 'x' }] }, 'tools[0].type must be function'],
  [{ tool_choice: 'any' }, 'tool_choice must be none, auto or required'],
  [{ tool_choice: 5 }, 'tool_choice must be object, string or null'],
  [{ tool_choice: { type: 'function' } }, 'tool_choice.name is missing'],
  [{ tool_choice: { type: 'tool', name: 'x' } }, 'tool_choice.type must be function or allowed_tools'],
  [
    { tool_choice: { type: 'allowed_tools', tools: [] } },
    'tool_choice.tools must NOT have fewer than 1 items',
  ],
  [{ text: { format: { type: 'json_object' } } }, 'text.format.type must be text or json_schema'],
  [{ reasoning: { effort: 'minimal' } }, 'reasoning.effort must be none, low, medium, high or xhigh'],
  [{ max_output_tokens: 15 }, 'max_output_tokens must be >= 16'],
  [{ top_logprobs: 21 }, 'top_logprobs must be <= 20'],
  [{ stream: null }, 'stream must be boolean'],
  [{ metadata: { a: 1 } }, 'metadata.a must be string'],
  [{ include: ['usage'] }, 'include[0] must be reasoning.encrypted_content or message.output_text.logprobs'],
  [{ temperature: Number.NaN }, 'temperature must be a finite number'],
])('the refusal of %j names the field', (body, fault) => {
  const error = refusalOf(body)
  expect(error.code).toBe('request_invalid')
  expect(error.message).toBe(`request body is not valid: ${fault}`)
})

test('a valid request comes back as it is', () => {
  const full = sampleSchema('CreateResponseBody', { full: true })
  expect(parseRequest(full)).toBe(full)
  const body = {
    model: 'm',
    input: [user, call, { type: null, id: 'msg_1' }, { id: 'msg_2' }],
    extra: { a: [1] },
  }
  expect(parseRequest(body)).toBe(body)
  expect(parseRequest({})).toEqual({})
})

test('a field that is undefined counts as absent', () => {
  expect(() => parseRequest({ model: 'm', input: 'hello', instructions: undefined })).not.toThrow()
})

test('an object without a prototype is as good as any', () => {
  const body: unknown = Object.assign(Object.create(null), { model: 'm', input: 'hello' })
  expect(parseRequest(body)).toBe(body)
})

test('a text of more than 10 MiB is refused, one of exactly 10 MiB is not', () => {
  expect(refusalOf({ input: 'x'.repeat(10_485_761) }).message).toContain(
    'input must NOT have more than 10485760',
  )
  expect(() => parseRequest({ input: '\u{1F600}'.repeat(10_485_760) })).not.toThrow()
})

test('an object that contains itself is refused', () => {
  const body: Record<string, unknown> = { model: 'm', input: [user] }
  body['extra'] = { list: [body] }
  expect(refusalOf(body).message).toMatch(
    /^request body is not valid: extra\.list\[0\].* or contains itself$/,
  )
})

test('an array that contains itself many times is refused at once', () => {
  const list: unknown[] = []
  for (let count = 0; count < 1000; count += 1) list.push(list)
  expect(refusalOf({ input: list }).message).toContain('contains itself')
})

test('an object of a hundred thousand levels is refused', () => {
  let deep: unknown = 'end'
  for (let level = 0; level < 100_000; level += 1) deep = level % 2 === 0 ? [deep] : { a: deep }
  const { message } = refusalOf({ text: { format: { type: 'json_schema', schema: { deep } } } })
  expect(message).toContain('text.format.schema.deep')
  expect(message).toContain('nested deeper than 256 levels')
})

test('an object that is reached on two to the power of a hundred paths is refused within seconds', () => {
  let shared: unknown = 'end'
  for (let level = 0; level < 100; level += 1) shared = [shared, shared]
  expect(refusalOf({ extra: shared }).message).toContain('larger than 5000000 values')
})

test('an array of four billion holes is refused at once', () => {
  const holes: unknown[] = []
  holes.length = 2 ** 32 - 1
  expect(refusalOf({ input: holes }).message).toContain('input[0] must be JSON, not undefined')
  expect(refusalOf({ extra: holes }).message).toContain('extra[0] must be JSON, not undefined')
})

test.each<readonly [string, unknown]>([
  ['function', () => 1],
  ['symbol', Symbol('x')],
  ['bigint', 1n],
])('a %s is refused wherever it is', (kind, value) => {
  expect(refusalOf(value).message).toContain(`it must be JSON, not ${kind}`)
  expect(refusalOf({ extra: [{ value }] }).message).toContain(`extra[0].value must be JSON, not ${kind}`)
})

test.each<readonly [string, unknown]>([
  ['date', new Date(0)],
  ['map', new Map()],
  ['instance of a class', new URL('https://example.com')],
])('a %s is refused because JSON would make something else of it', (_, value) => {
  expect(refusalOf({ metadata: { value } }).message).toContain('metadata.value must be a plain object')
})

test('a getter that throws gives a refusal with its cause', () => {
  const cause = new Error('not ready')
  const body = {
    get input(): string {
      throw cause
    },
  }
  expect(refusalOf(body)).toMatchObject({ code: 'request_invalid', cause })
})

test('a field name that steers terminals does not reach the message', () => {
  expect(refusalOf({ metadata: { '\u001B[2J\u009B1m': 1 } }).message).toContain(
    String.raw`metadata["\u001b[2J\u009b1m"] must be string`,
  )
})
