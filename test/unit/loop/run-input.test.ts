import { expect, test } from 'vitest'

import { cursorOf, parseInput, type RunInput } from '../../../src/loop/run-input.ts'
import { refusalOf } from './refusal-of.ts'

const image = { type: 'input_image', image_url: 'data:image/png;base64,AA==' } as const
const text = { type: 'input_text', text: 'what is this?' } as const

test('X6: a text becomes the message of a user', () => {
  expect(parseInput('hello')).toEqual([
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello' }] },
  ])
})

test('text, images and files become one message', () => {
  const file = {
    type: 'input_file',
    filename: 'a.pdf',
    file_data: 'data:application/pdf;base64,AA==',
  } as const
  expect(parseInput([text, { ...image, detail: 'low' }, file])).toEqual([
    { type: 'message', role: 'user', content: [text, { ...image, detail: 'low' }, file] },
  ])
})

test('items are taken as they are, and a message may come without its type', () => {
  const items = [
    { role: 'user', content: 'hello' },
    { type: 'web_search_call', id: 'ws_1' },
    { type: 'message', role: 'user', content: [text, image] },
  ]
  expect(parseInput(items)).toEqual([{ type: 'message', role: 'user', content: 'hello' }, ...items.slice(1)])
})

test('what the caller changes later does not reach the run', () => {
  const mutable = { type: 'message', role: 'user', content: 'before', name: undefined }
  const parsed = parseInput([mutable])
  mutable.content = 'after'
  expect(parsed).toStrictEqual([{ type: 'message', role: 'user', content: 'before' }])
})

test.each<readonly [unknown, string]>([
  ['', 'input must have a text'],
  [[], 'input must be a text or a list that is not empty'],
  [undefined, 'input must be a text or a list that is not empty'],
  [{ type: 'message' }, 'input must be a text or a list that is not empty'],
  [[{ type: 'input_text', text: '' }], 'input must have a text'],
  [[text, { type: 'input_text' }], 'input[1] must have a text'],
  [[text, { type: 'input_image' }], 'input[1] must have one of image_url, file_id'],
  [[{ ...image, image_url: 5 }], 'input must have a text as image_url'],
  [[{ ...image, detail: 'best' }], 'input must have a detail of low, high or auto'],
  [[{ type: 'input_file', filename: 'a' }], 'input must have one of file_data, file_url, file_id'],
  [[{ role: 'user', content: 'x' }, text], 'input[1] is a part of a message among items'],
  [[{ content: 'x' }], 'input[0] must be an item with a type'],
  [['hello'], 'input[0] must be an item with a type'],
  [[{ type: 5, role: 'user' }], 'input[0] must be an item with a type'],
  [
    [{ role: 'user', content: [text, { type: 'input_image' }] }],
    'input[0].content[1] must have one of image_url, file_id',
  ],
  [[{ role: 'user', content: 1n }], 'input is not valid: [0].content must be JSON, not bigint'],
])('the input %o is refused by its place', (input, message) => {
  expect(refusalOf(() => parseInput(input as RunInput))).toBe(`usage: ${message}`)
})

test('an input that cannot be read is refused with the cause', () => {
  const input = new Proxy([text], {
    get(target, key, receiver): unknown {
      if (key === '0') throw new Error('not ready')
      return Reflect.get(target, key, receiver)
    },
  })
  expect(refusalOf(() => parseInput(input))).toBe('usage: input cannot be read')
})

test.each([
  ['text', 10_485_760, (value: string) => ({ type: 'input_text', text: value })],
  ['image_url', 20_971_520, (value: string) => ({ type: 'input_image', image_url: value })],
  ['file_data', 33_554_432, (value: string) => ({ type: 'input_file', file_data: value })],
] as const)('a %s of %i characters is taken, one more is not', (name, lengthMax, part) => {
  expect(() => parseInput([part('x'.repeat(lengthMax))])).not.toThrow()
  expect(refusalOf(() => parseInput([part('x'.repeat(lengthMax + 1))]))).toBe(
    `usage: input has a ${name} of more than ${lengthMax} characters`,
  )
})

test('a run goes on from a response only where it continues by id, and all but its last item is in it', () => {
  const items = parseInput([
    { role: 'user', content: 'one' },
    { role: 'user', content: 'two' },
  ])
  expect(cursorOf(items, 'previous_response_id', 'resp_1')).toEqual({ responseId: 'resp_1', knownItems: 1 })
  expect(cursorOf(items, 'previous_response_id', null)).toBeNull()
  expect(cursorOf(items, 'stateless', 'resp_1')).toBeNull()
})
