import { expect, test } from 'vitest'
import { z } from 'zod'

import { parseRequest } from '../../../src/protocol/parse-request.ts'
import { createRegistry } from '../../../src/tools/registry.ts'
import { tool, type Tool } from '../../../src/tools/tool.ts'
import { probe } from './run-tool.ts'

function named(name: string, ...aliases: string[]): Tool {
  return probe(() => name, { name, aliases })
}

test('definitions come in the order of the tools, each alias directly behind its tool', () => {
  const registry = createRegistry([named('zeta', 'b', 'a'), named('alpha')])
  expect(registry.names).toEqual(['zeta', 'b', 'a', 'alpha'])
  expect(registry.definitions.map(({ name }) => name)).toEqual(registry.names)
})

function writeDefinitions(): string {
  const add = tool({
    execute: () => '',
    description: 'Add.',
    inputSchema: z.object({ a: z.number() }),
    name: 'add',
  })
  return JSON.stringify(createRegistry([add]).definitions)
}

test('a definition is written with the same bytes each time, its keys in the order of the protocol', () => {
  expect(writeDefinitions()).toBe(
    '[{"type":"function","name":"add","description":"Add.","parameters":{"type":"object",' +
      '"properties":{"a":{"type":"number"}},"required":["a"]},"strict":false}]',
  )
  expect(writeDefinitions()).toBe(writeDefinitions())
})

test('the definitions are what a request may hold', () => {
  const strict = probe(() => '', { name: 'b', strict: false })
  const tools = createRegistry([named('a', 'c'), strict]).definitions
  expect(parseRequest({ model: 'm', input: 'x', tools }).tools).toHaveLength(3)
})

test('definitions cannot be changed between two requests', () => {
  const { definitions } = createRegistry([named('a')])
  expect(Object.isFrozen(definitions) && Object.isFrozen(definitions[0]?.parameters)).toBe(true)
})

test('a tool is found by its name and by its aliases, exactly as spelled', () => {
  const registry = createRegistry([named('bash', 'shell')])
  expect(registry.resolve('bash')?.name).toBe('bash')
  expect(registry.resolve('shell')?.name).toBe('bash')
  for (const name of ['Bash', 'bash ', '', '__proto__', 'constructor', 'toString']) {
    expect(registry.resolve(name)).toBeNull()
  }
})

test.each([
  ['two tools with one name', [named('a'), named('a')], 'two tools are called a'],
  ['an alias that is the name of another', [named('a'), named('b', 'a')], 'tools a and b are called a'],
  ['a name that is the alias of another', [named('a', 'b'), named('b')], 'tools a and b are called b'],
  ['an alias that is its own name', [named('a', 'a')], 'two tools are called a'],
])('%s cannot be put together', (_, tools, message) => {
  expect(() => createRegistry(tools)).toThrow(expect.objectContaining({ code: 'tool_invalid', message }))
})

test('an item of a type that a tool claims becomes a call of that tool', () => {
  const shell = probe(() => '', {
    name: 'shell',
    claims: ['shell_call'],
    claimArguments: (item) => ({ command: item['command'] }),
  })
  const registry = createRegistry([shell])
  expect(registry.claim({ type: 'shell_call', command: 'ls' })).toEqual({
    name: 'shell',
    arguments: '{"command":"ls"}',
  })
  expect(registry.claim({ type: 'web_search_call' })).toBeNull()
  expect(() =>
    createRegistry([shell, probe(() => '', { claims: ['shell_call'], claimArguments: () => ({}) })]),
  ).toThrow('tools shell and probe claim items of type shell_call')
})

test('a claimed item that cannot be read becomes arguments that no tool takes', () => {
  const item = probe(() => '', {
    claims: ['x_call'],
    claimArguments: () => {
      throw new Error('no')
    },
  })
  const registry = createRegistry([item])
  expect(registry.claim({ type: 'x_call' })?.arguments).toBe('null')
})
