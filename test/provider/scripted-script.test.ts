import { readFileSync } from 'node:fs'

import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'

import { LoopchartError } from '../../src/errors.ts'
import { parseScript, scriptSchema } from '../../src/provider/scripted/parse-script.ts'
import { startScriptedProvider } from '../../src/provider/scripted/start-scripted-provider.ts'
import { ADD, FIVE, HELLO } from './scripted-kit.ts'

const SCHEMA = JSON.parse(
  readFileSync(new URL('../../schemas/script/script.v1.json', import.meta.url), 'utf8'),
) as object

test('the schema in schemas/script/ is the one that scripts are held to', () => {
  expect(SCHEMA).toEqual(scriptSchema())
})

const VALID: readonly unknown[] = [
  { v: 1, turns: [] },
  { v: 1, description: 'for people', $schema: './script.v1.json', turns: [HELLO, ADD, FIVE, {}] },
  turn({ output: [{ type: 'function_call', name: 'x', arguments: '{' }] }),
  turn({ output: [{ type: 'refusal', text: ['a', 'b'] }], end: { status: 'incomplete' } }),
  turn({ end: { status: 'failed', code: 'a', message: 'b' } }),
  turn({ fault: { type: 'status', status: 529, headers: { 'retry-after': '1' }, body: { a: 1 } } }),
  turn({ fault: { type: 'reset', at_byte: 0 }, delay_ms: 1, event_delay_ms: 2, chunk_bytes: 3 }),
  turn({ fault: { type: 'raw', text: '' } }),
  turn({ forgets: true }),
  { v: 1, turns: [], compact: {}, refuses_calls: true },
  { v: 1, turns: [], compact: [{ fault: { type: 'status', status: 500 } }, { delay_ms: 1, chunk_bytes: 2 }] },
  { v: 1, turns: [], compact: { usage: { input_tokens: 1, output_tokens: 2 } }, refuses_calls: false },
  turn({ fault: { type: 'raw_base64', base64: 'AAE=', content_type: 'text/html' } }),
]

const WRONG: readonly (readonly [unknown, string])[] = [
  [1, 'it must be object'],
  [[], 'it must be object'],
  [{}, 'v must be 1'],
  [{ v: 2, turns: [] }, 'v must be 1'],
  [{ v: 1 }, 'turns is missing'],
  [turn({ x: 1 }), 'turns[0].x is not a field of it'],
  [turn({ output: [{ type: 'sound' }] }), 'turns[0].output[0].type is none that is known'],
  [turn({ output: [{ type: 'message' }] }), 'turns[0].output[0].text is missing'],
  [turn({ output: [{ type: 'message', text: 1 }] }), 'turns[0].output[0].text must be string or array'],
  [turn({ output: [{ type: 'message', text: ['a', 2] }] }), 'turns[0].output[0].text[1] must be string'],
  [
    turn({ output: [{ type: 'function_call', name: 'x', arguments: [1] }] }),
    'turns[0].output[0].arguments must be string or object',
  ],
  [turn({ end: { status: 'done' } }), 'turns[0].end.status is none that is known'],
  [turn({ chunk_bytes: 0 }), 'turns[0].chunk_bytes must be at least 1'],
  [turn({ delay_ms: 0.5 }), 'turns[0].delay_ms must be int'],
  [turn({ fault: 3 }), 'turns[0].fault must be object'],
  [turn({ fault: { type: 'reset' } }), 'turns[0].fault.at_byte is missing'],
  [turn({ fault: { type: 'status', status: 200 } }), 'turns[0].fault.status must be at least 300'],
  [
    turn({ fault: { type: 'status', status: 429, headers: { 'a b': '1' } } }),
    'turns[0].fault.headers["a b"] is not a header name',
  ],
  [
    turn({ fault: { type: 'status', status: 429, headers: { a: '1\r\nb: 2' } } }),
    'turns[0].fault.headers.a must be printable ASCII',
  ],
  [turn({ fault: { type: 'raw_base64', base64: '%%' } }), 'turns[0].fault.base64 must be base64'],
  [turn({ forgets: 1 }), 'turns[0].forgets must be boolean'],
  [{ v: 1, turns: [], refuses_calls: 'yes' }, 'refuses_calls must be boolean'],
  [{ v: 1, turns: [], compact: { output: [] } }, 'compact.output is not a field of it'],
  [{ v: 1, turns: [], compact: [{ fault: { type: 'reset' } }] }, 'compact[0].fault.at_byte is missing'],
  [turn({ usage: { input_tokens: 1 } }), 'turns[0].usage.output_tokens is missing'],
]

test.for(VALID)('a right script is taken as it is: %j', (script) => {
  expect(parseScript(script)).toEqual(script)
})

test.for(WRONG)('a wrong script is refused with its place: %j', ([script, fault]) => {
  expect(() => parseScript(script)).toThrow(
    new LoopchartError('script_invalid', `script is not valid: ${fault}`),
  )
})

test('the published schema takes and refuses the same scripts', () => {
  const validate = new Ajv2020({ strict: false, formats: { base64: true } }).compile(SCHEMA)
  const refused = VALID.filter((script) => !validate(script))
  const taken = WRONG.map(([script]) => script).filter((script) => validate(script))
  expect([refused, taken]).toEqual([[], []])
})

test('a provider does not start on a wrong script', async () => {
  const started = startScriptedProvider({ v: 1, turns: [{ fault: 1 }] } as never)
  await expect(started).rejects.toMatchObject({ code: 'script_invalid' })
})

function turn(one: object): unknown {
  return { v: 1, turns: [one] }
}
