import { expect, test } from 'vitest'
import { z } from 'zod'

import type { JsonObject } from '../../../src/protocol/json.ts'
import { lintTools } from '../../../src/tools/lint-tools.ts'
import { tool, type Tool } from '../../../src/tools/tool.ts'

function make(name: string, description: string, parameters: JsonObject = { type: 'object' }): Tool {
  return tool({ name, description, parameters, execute: () => '' })
}

function messages(...tools: readonly Tool[]): readonly string[] {
  return lintTools(tools).map(({ message }) => message)
}

test('a tool that is described well gives no hint', () => {
  const search = tool({
    name: 'search_orders',
    description: 'Search orders by customer. Returns at most 20, newest first.',
    inputSchema: z.object({
      customer: z.string().describe('The number of the customer, such as C-1042.'),
      filter: z.object({ open: z.boolean().describe('Only open orders.') }).describe('What to leave out.'),
    }),
    execute: () => '',
  })
  expect(lintTools([search, make('read', 'Reads a file and returns its text.')])).toEqual([])
})

test('a hint names its tool', () => {
  expect(lintTools([make('run2', 'Adds two numbers.')])).toEqual([
    { tool: 'run2', message: 'the name run2 does not say what the tool does' },
  ])
})

test.each(['tool', 'do_task', 'myTool', 'x', 'helper-1'])('the name %s is vague', (name) => {
  expect(messages(make(name, 'Adds two numbers.'))).toEqual([
    `the name ${name} does not say what the tool does`,
  ])
})

test.each([
  ['Adds.', 'the description is too short to tell when to use the tool'],
  [`Adds ${'two numbers '.repeat(100)}`, 'the description is longer than 1024 characters'],
  ['The weather of tomorrow, in Celsius', 'the description has no verb, begin with what the tool does'],
])('the description %.40s gives a hint', (description, message) => {
  expect(messages(make('add', description))).toEqual([expect.stringContaining(message)])
})

test('parameters without a description are named with their path, also in lists and unions', () => {
  const made = make('add', 'Add two numbers.', {
    type: 'object',
    properties: {
      a: { type: 'number' },
      list: { type: 'array', description: 'Numbers.', items: { type: 'object', properties: { b: {} } } },
      either: { description: 'One.', anyOf: [{ type: 'object', properties: { k: { const: 1 }, c: {} } }] },
    },
  })
  expect(messages(made)).toEqual([
    'the parameter a has no description',
    'the parameter list[].b has no description',
    'the parameter either.c has no description',
  ])
})

test('too many parameters and too deep nesting give a hint', () => {
  const described = { type: 'string', description: 'Something.' }
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`p${n}`, described]))
  expect(messages(make('add', 'Add many numbers.', { type: 'object', properties: many }))).toEqual([
    'it has 21 parameters, more than 20',
  ])
  let node: JsonObject = described
  for (let level = 0; level < 5; level += 1) {
    node = { type: 'object', description: 'A level.', properties: { inner: node } }
  }
  expect(messages(make('add', 'Add two numbers.', node))).toEqual(['its parameters are nested 5 levels deep'])
})

test('tools that a model can take for each other give a hint', () => {
  const tools = [
    make('read', 'Read one file.'),
    make('Read', 'read  one file. '),
    make('write', 'Write one file.'),
  ]
  expect(lintTools(tools)).toEqual([
    { tool: 'Read', message: 'the description is the same as that of read' },
    { tool: 'Read', message: 'its name differs from read only in case' },
  ])
})

test('names that differ only in case give a hint in either order', () => {
  expect(messages(make('GREP', 'Search in files.'), make('grep', 'Find lines of text.'))).toEqual([
    'its name differs from GREP only in case',
  ])
})
