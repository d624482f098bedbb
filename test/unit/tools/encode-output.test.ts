import { afterEach, expect, test, vi } from 'vitest'

import { codePointLength } from '../../../src/protocol/code-point-length.ts'
import { cutMiddle, lengthIn } from '../../../src/tools/cut-middle.ts'
import {
  encodeFailure,
  encodeValue,
  OUTPUT_FALLBACK,
  OUTPUT_LENGTH_MAX,
} from '../../../src/tools/encode-output.ts'
import { outcomeText, type FailedOutcome } from '../../../src/tools/outcome-text.ts'
import { toolResult } from '../../../src/tools/tool-result.ts'
import { readEnvelope, textOf } from './run-tool.ts'

const envelope = { tool: 'probe', encoding: 'envelope' } as const
const raw = { tool: 'probe', encoding: 'raw' } as const

const OUTCOMES: readonly FailedOutcome[] = [
  'error',
  'denied',
  'timeout',
  'cancelled',
  'unknown_tool',
  'bad_arguments',
  'not_allowed',
  'duplicate',
  'truncated',
  'limit',
  'outcome_unknown',
]

afterEach(() => {
  vi.restoreAllMocks()
})

test('the keys of an envelope are always in the same order', () => {
  const full = encodeValue(
    envelope,
    toolResult({ artifacts: [{ a: 1 }], exitCode: 1, stderr: 'e', stdout: 'o' }),
  )
  expect(Object.keys(readEnvelope(full.output))).toEqual([
    'tool',
    'ok',
    'exit_code',
    'stdout',
    'stderr',
    'artifacts',
  ])
  expect(Object.keys(readEnvelope(encodeFailure(envelope, 'error', 'x')))).toEqual([
    'tool',
    'ok',
    'exit_code',
    'stdout',
    'stderr',
    'error',
  ])
})

test.each(OUTCOMES)('a call that ends as %s is a friendly text in a failed envelope', (outcome) => {
  expect(readEnvelope(encodeFailure(envelope, outcome, 'the detail'))).toEqual({
    tool: 'probe',
    ok: false,
    exit_code: outcome === 'bad_arguments' ? 2 : 1,
    stdout: '',
    stderr: '',
    error: outcomeText(outcome, 'the detail'),
  })
  expect(encodeFailure(raw, outcome)).toBe(`error: ${outcomeText(outcome)}`)
})

test('every outcome has a text of its own, which carries the detail', () => {
  expect(new Set(OUTCOMES.map((outcome) => outcomeText(outcome))).size).toBe(OUTCOMES.length)
  for (const outcome of OUTCOMES) expect(outcomeText(outcome, 'the detail')).toContain(': the detail')
})

test('raw output is text as it is, anything else as JSON, and a result as its streams', () => {
  expect(encodeValue(raw, 'plain "text"').output).toBe('plain "text"')
  expect(encodeValue(raw, { a: 1 }).output).toBe('{"a":1}')
  expect(encodeValue(raw, [1, { type: 'input_text' }]).output).toBe('[1,{"type":"input_text"}]')
  expect(encodeValue(raw, []).output).toBe('[]')
  const failed = toolResult({ stdout: 'o', stderr: 'e', exitCode: 2 })
  expect(encodeValue(raw, failed)).toMatchObject({ output: 'o\ne\n[exit code 2]', exitCode: 2 })
})

test('content parts of a raw tool are passed on, also an image and a file', () => {
  const parts = [
    { type: 'input_text', text: 'a chart' },
    { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'low' },
    { type: 'input_file', filename: 'a.txt', file_data: 'AAAA' },
  ]
  expect(encodeValue(raw, parts)).toEqual({
    output: parts,
    exitCode: 0,
    artifacts: [],
    fault: null,
    error: null,
  })
  expect(readEnvelope(encodeValue(envelope, parts).output).stdout).toBe(JSON.stringify(parts))
})

test('content parts that break the schema are an error with the field', () => {
  const wrong = [{ type: 'input_image', image_url: 'data:', detail: 'huge' }]
  expect(encodeValue(raw, wrong).fault).toContain('cannot be shown')
  expect(encodeValue(raw, [{ type: 'input_text', text: 7 }]).fault).toContain('cannot be shown')
})

test.each([
  ['plain text', 'x'.repeat(OUTPUT_LENGTH_MAX + 1)],
  ['characters outside the basic plane', '😀'.repeat(OUTPUT_LENGTH_MAX / 2 + 100)],
  ['characters that JSON writes as six', '\0'.repeat(OUTPUT_LENGTH_MAX / 4)],
])('an output of %s is cut to what the schema allows, visibly', (_, text) => {
  const output = textOf(encodeValue(envelope, toolResult({ stdout: text, stderr: text })).output)
  expect(codePointLength(output)).toBeLessThanOrEqual(OUTPUT_LENGTH_MAX)
  expect(codePointLength(output)).toBeGreaterThan(OUTPUT_LENGTH_MAX - 1000)
  const { stdout, stderr } = JSON.parse(output) as { stdout: string; stderr: string }
  expect(stdout).toMatch(/\n\[\.\.\. \d+ characters left out \.\.\.\]\n/)
  expect(stderr).toMatch(/\n\[\.\.\. \d+ characters left out \.\.\.\]\n/)
})

test('a stream has the room that the other one leaves', () => {
  const stdout = 'x'.repeat(OUTPUT_LENGTH_MAX * 2)
  const shown = readEnvelope(encodeValue(envelope, toolResult({ stdout, stderr: 'short' })).output) as {
    stdout: string
    stderr: string
  }
  expect(shown.stderr).toBe('short')
  expect(shown.stdout.length).toBeGreaterThan(OUTPUT_LENGTH_MAX - 1000)
})

test('raw text and raw content parts are cut as well', () => {
  const text = 'x'.repeat(OUTPUT_LENGTH_MAX + 1)
  expect(textOf(encodeValue(raw, text).output).length).toBeLessThanOrEqual(OUTPUT_LENGTH_MAX)
  expect(encodeValue(raw, [{ type: 'input_text', text }]).output).toEqual([
    { type: 'input_text', text: expect.stringContaining('characters left out') },
  ])
})

test('text that just fits is not cut', () => {
  const fixed = textOf(encodeValue(envelope, '').output).length
  const stdout = 'x'.repeat(OUTPUT_LENGTH_MAX - fixed)
  expect(encodeValue(envelope, stdout).output).toBe(
    JSON.stringify({ tool: 'probe', ok: true, exit_code: 0, stdout, stderr: '' }),
  )
})

test('artifacts too large for a model are counted instead, but kept for the log', () => {
  const artifacts = [{ text: 'x'.repeat(2 ** 21) }]
  const encoded = encodeValue(envelope, toolResult({ artifacts }))
  expect(encoded.output).toContain('"artifacts":[{"left_out":1}]')
  expect(encoded.artifacts).toEqual(artifacts)
})

test('a cut says how many characters it took, and takes none in half', () => {
  const text = `begin${'😀'.repeat(500)}end`
  const cut = cutMiddle(text, 200, 'plain')
  expect(codePointLength(cut)).toBeLessThanOrEqual(200)
  const [, head, count, tail] = /^(.*)\n\[\.\.\. (\d+) characters left out \.\.\.\]\n(.*)$/su.exec(cut) ?? []
  expect(codePointLength(`${head}${tail}`) + Number(count)).toBe(codePointLength(text))
  expect(head?.isWellFormed() && tail?.isWellFormed()).toBe(true)
})

test('the length of a text in a JSON string is counted as JSON.stringify writes it', () => {
  const every = Array.from({ length: 0x1_00_00 }, (_, code) => String.fromCharCode(code))
  const wrong = [...every, '😀', '\ud83d"', '"\ude00'].filter(
    (unit) => lengthIn(unit, 'json_string') !== codePointLength(JSON.stringify(unit)) - 2,
  )
  expect(wrong).toEqual([])
})

function make(options: object): () => unknown {
  return () => toolResult(options)
}

test('a tool result that is none is refused where it is made', () => {
  expect(make({ stdout: 1 })).toThrow('stdout and stderr must be texts')
  expect(make({ exitCode: 0.5 })).toThrow('exitCode must be a whole number')
  expect(make({ artifacts: ['x'] })).toThrow('artifacts must be objects')
  expect(make({ artifacts: [{ a: () => 1 }] })).toThrow('artifacts are not JSON')
})

test('the artifacts of a result do not change when the tool goes on with its objects', () => {
  const artifact = { a: 1 }
  const result = toolResult({ artifacts: [artifact] })
  artifact.a = 2
  expect(result.artifacts).toEqual([{ a: 1 }])
})

test('where even the encoding fails, the model still gets an answer', () => {
  vi.spyOn(JSON, 'stringify').mockImplementation(() => {
    throw new Error('no memory')
  })
  expect(encodeValue(envelope, 'x').output).toBe(OUTPUT_FALLBACK)
  expect(OUTPUT_FALLBACK).toBe('{"ok":false}')
})
