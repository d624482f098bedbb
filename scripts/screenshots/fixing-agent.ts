import { agent } from '../../src/agent.ts'
import type { Agent } from '../../src/loop/agent.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import type { SimulatedClock } from '../../src/testing/simulated-clock.ts'
import { tool, type Tool } from '../../src/tools/tool.ts'
import { StreamBuilder } from '../fixtures/stream-builder.ts'
import { pacedModel, type PacedAnswer } from './paced-model.ts'

const SOURCE = `export function total(lines: readonly Line[], voucher = 0): number {
  let sum = 0
  for (const { price, count } of lines) sum += price * count
  return sum
}
`
const TEST_SOURCE = `test('a voucher is taken off the total', () => {
  expect(total([{ price: 1200, count: 2 }], 500)).toBe(1900)
})
`
const TEST_OUTPUT = [
  ' RUN  checkout',
  ' ✓ test/cart.test.ts (9 tests) 41 ms',
  ' ✓ test/address.test.ts (14 tests) 28 ms',
  ' ✗ test/total.test.ts (6 tests) 19 ms',
  '   ✗ a voucher is taken off the total',
  '     AssertionError: expected 2400 to be 1900',
  '',
  ' Tests  28 passed, 1 failed (29)',
]
const EDIT = { path: 'src/total.ts', find: 'return sum', replace: 'return Math.max(0, sum - voucher)' }
const PREVIEW = `src/total.ts, line 4
-  return sum
+  return Math.max(0, sum - voucher)
`

/** What it is asked. */
export const TASK =
  'The test of the voucher fails since this morning. Find out why, mend it, and tell me what it was.'

/** Looks for a fault in a small shop, and asks before it changes a file. */
export function fixingAgent(clock: SimulatedClock): Agent {
  const model = pacedModel(clock, () => new StreamBuilder(`resp_${clock.now()}`).start(), [
    lookFirst,
    readThen,
    askThen,
  ])
  return agent({
    model,
    clock,
    tools: shopTools(clock),
    instructions: 'You mend programs. Look before you change something, and say what you did.',
    limits: { turns: 12, tokens: 40_000 },
  })
}

/** An agent with the same tools that says what it is given. */
export function sayingAgent(clock: SimulatedClock, answers: readonly PacedAnswer[]): Agent {
  const startStream = (): StreamBuilder => new StreamBuilder(`resp_${clock.now()}`).start()
  return agent({
    model: pacedModel(clock, startStream, answers),
    clock,
    tools: shopTools(clock),
    limits: { turns: 3 },
    retry: { times: 0 },
  })
}

function lookFirst(stream: StreamBuilder): StreamBuilder {
  return named(
    stream
      .reasoning(0, words('Run the tests first, to see the failure as it is.'), [])
      .message(1, words('I will run the tests to see what fails.')),
    2,
    'run_tests',
    { filter: 'total' },
  ).end()
}

function readThen(stream: StreamBuilder): StreamBuilder {
  named(
    stream.message(0, words('One test fails: the voucher is not taken off. I look at the code.')),
    1,
    'read_file',
    {
      path: 'src/total.ts',
    },
  )
  return named(stream, 2, 'read_file', { path: 'test/total.test.ts' }).end()
}

function askThen(stream: StreamBuilder): StreamBuilder {
  return named(
    stream.message(
      0,
      words(
        'The total is given the voucher and never uses it. This change takes it off, and never goes below zero.',
      ),
    ),
    1,
    'edit_file',
    EDIT,
  ).end()
}

/** Adds a call whose id no other call of the run has. */
function named(stream: StreamBuilder, index: number, name: string, args: object): StreamBuilder {
  const id = `fc_${stream.events.length}_${index}`
  const text = JSON.stringify(args)
  const item = { type: 'function_call', id, call_id: `call_${name}_${index}`, name }
  stream.addItem(index, { ...item, arguments: '', status: 'in_progress' })
  stream.event('response.function_call_arguments.delta', { item_id: id, output_index: index, delta: text })
  stream.event('response.function_call_arguments.done', {
    item_id: id,
    output_index: index,
    arguments: text,
  })
  return stream.doneItem(index, { ...item, arguments: text, status: 'completed' })
}

/** A text as it comes: a word at a time. */
export function words(text: string): readonly string[] {
  return text.split(/(?<= )/u)
}

function shopTools(clock: SimulatedClock): readonly Tool[] {
  const text = { type: 'string' }
  return [
    tool({
      name: 'run_tests',
      description: 'Run the tests whose name has a word in it.',
      inputSchema: { type: 'object', properties: { filter: text }, required: ['filter'] },
      execute: (_, { onOutput }) => {
        for (const line of TEST_OUTPUT) {
          clock.advance(210)
          onOutput('stdout', `${line}\n`)
        }
        return TEST_OUTPUT.join('\n')
      },
    }),
    tool({
      name: 'read_file',
      description: 'Read a file.',
      inputSchema: { type: 'object', properties: { path: text }, required: ['path'] },
      readOnly: true,
      execute: ({ path }: JsonObject) => {
        clock.advance(6)
        return path === 'src/total.ts' ? SOURCE : TEST_SOURCE
      },
    }),
    tool({
      name: 'edit_file',
      description: 'Change a file.',
      inputSchema: {
        type: 'object',
        properties: { path: text, find: text, replace: text },
        required: ['path', 'find', 'replace'],
      },
      needsApproval: true,
      preview: () => PREVIEW,
      execute: () => 'changed src/total.ts',
    }),
  ]
}
