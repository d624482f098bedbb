import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { systemClock } from '../../src/clock.ts'
import { isJsonObject } from '../../src/protocol/json.ts'
import { builtinTools } from '../../src/tools/builtin/builtin-tools.ts'
import { createRegistry } from '../../src/tools/registry.ts'
import { runCall, type CallHost } from '../../src/tools/run-call.ts'
import { tool, type Tool } from '../../src/tools/tool.ts'

const VALUES = 50_000

const NAMES = [
  'read_file',
  'list_dir',
  'glob',
  'grep',
  'artifact_fetch',
  'write_file',
  'apply_patch',
  'shell',
]

let folder = ''
let tools: readonly Tool[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'loopchart-arguments-'))
  mkdirSync(join(folder, 'workspace'))
  writeFileSync(join(folder, 'workspace', 'a.txt'), 'a\n')
  tools = await builtinTools({ workspace: join(folder, 'workspace'), stateFolder: join(folder, 'state') })
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('the tools that are tried are all there are', () => {
  expect(tools.map(({ name }) => name).toSorted()).toEqual(NAMES.toSorted())
})

test.for(NAMES)(
  `${VALUES} fuzzed arguments of %s change no prototype, run nothing that is not valid, and are refused by field`,
  async (name) => {
    const made = tools.find((one) => one.name === name)
    if (made === undefined) throw new Error(`there is no ${name}`)
    const before = prototypes()
    let ran = 0
    let valid = 0
    const host = recorder(made, () => (ran += 1))
    await fc.assert(
      fc.asyncProperty(cases(made), async ({ text, isValid, field }) => {
        if (isValid) valid += 1
        const { outcome, error } = await runCall(
          host,
          { callId: 'c', name, arguments: text, key: 'k', timeoutMs: 1000 },
          { signal: new AbortController().signal },
        )
        expect([outcome, ran]).toEqual([isValid ? 'ok' : 'bad_arguments', valid])
        if (isValid) return
        expect(error?.code).toBe('tool_arguments_invalid')
        expect(error?.message.length).toBeLessThanOrEqual(1000)
        expect(error?.message).toContain(field)
      }),
      { numRuns: VALUES, endOnFailure: true },
    )
    expect(prototypes()).toEqual(before)
    // Both kinds were tried, or nothing is shown.
    expect(valid).toBeGreaterThan(VALUES / 10)
    expect(valid).toBeLessThan(VALUES / 2)
  },
)

/** The same tool for whoever calls it, with a body that only counts. */
function recorder(made: Tool, onRun: () => void): CallHost {
  const { name, description, parameters } = made
  const counting = tool({
    name,
    description,
    inputSchema: { ...parameters },
    execute: () => (onRun(), 'ran'),
  })
  return {
    registry: createRegistry([counting]),
    policy: { mode: 'auto', allowed: null },
    clock: systemClock,
  }
}

interface ArgumentCase {
  readonly text: string
  readonly isValid: boolean
  /** What the refusal must name. */
  readonly field: string
}

// Without numbers that cannot be held exactly and keys that lead to a prototype: those are refused before any field is.
const ANY_JSON = fc.anything({
  values: [fc.string({ maxLength: 8 }), fc.integer(), fc.boolean(), fc.constant(null)],
  key: fc.stringMatching(/^[a-z]{0,6}$/u),
  maxDepth: 2,
  maxKeys: 3,
})

type Entry = readonly [string, unknown]

/** Arguments that the tool takes, and the same with one thing about them that it must not take. */
function cases(made: Tool): fc.Arbitrary<ArgumentCase> {
  const { properties, required } = made.parameters
  const schemas = Object.entries(isJsonObject(properties) ? properties : {})
  const needed = Array.isArray(required) ? required.map(String) : []
  const good: fc.Arbitrary<readonly Entry[]> = fc
    .record(Object.fromEntries(schemas.map(([field, schema]) => [field, valueOf(schema)])), {
      requiredKeys: needed,
    })
    .map((value) => Object.entries(value))
  const spoil = <T>(with_: fc.Arbitrary<T>, change: (entries: readonly Entry[], more: T) => ArgumentCase) =>
    fc.tuple(good, with_).map(([entries, more]) => change(entries, more))
  const wrong = fc
    .constantFrom(...schemas)
    .chain(([field, schema]) => fc.tuple(fc.constant(field), notOf(schema)))
  const stranger = fc.tuple(fc.stringMatching(/^[a-z]{9,12}$/u), ANY_JSON)
  const kinds = [
    spoil(wrong, (entries, [field, value]) =>
      bad(textOf([...without(entries, field), [field, value]]), field),
    ),
    spoil(stranger, (entries, [field, value]) => bad(textOf([...entries, [field, value]]), field)),
    spoil(fc.constantFrom('__proto__', 'constructor'), (entries, key) =>
      bad(textOf([...entries, [key, { prototype: { polluted: true }, polluted: true }]]), key),
    ),
    spoil(fc.constantFrom(...schemas), (entries, [field]) =>
      bad(textOf([...without(entries, field), [field, 1], [field, 1]]), field),
    ),
    spoil(fc.constantFrom(...schemas), (entries, [field]) =>
      bad(`${textOf([...without(entries, field), [field, 0]]).slice(0, -2)}1e400}`, ''),
    ),
    spoil(fc.nat(), (entries, at) => {
      const text = textOf([...entries, ['more', null]])
      return bad(text.slice(0, 1 + (at % (text.length - 1))), '')
    }),
    fc.integer({ min: 65, max: 5000 }).map((depth) => bad('['.repeat(depth) + ']'.repeat(depth), 'nested')),
    fc
      .oneof(fc.array(ANY_JSON), fc.string(), fc.integer())
      .map((value) => bad(JSON.stringify(value), 'object')),
    ...(needed.length === 0
      ? []
      : [spoil(fc.constantFrom(...needed), (entries, field) => bad(textOf(without(entries, field)), field))]),
  ]
  const taken = good.map((entries) => ({ text: textOf(entries), isValid: true, field: '' }))
  return fc.oneof({ weight: 3, arbitrary: taken }, ...kinds)
}

function bad(text: string, field: string): ArgumentCase {
  return { text, isValid: false, field }
}

function without(entries: readonly Entry[], field: string): readonly Entry[] {
  return entries.filter(([key]) => key !== field)
}

// By hand, for an object cannot hold the key __proto__ as a field, or one key twice.
function textOf(entries: readonly Entry[]): string {
  return `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`
}

function valueOf(schema: unknown): fc.Arbitrary<unknown> {
  const { type, minimum, maximum, items, minLength } = isJsonObject(schema) ? schema : {}
  switch (type) {
    case 'string':
      return fc.string({
        minLength: Number(minLength ?? 0),
        maxLength: Math.max(Number(minLength ?? 0), 20),
        unit: 'grapheme-ascii',
      })
    case 'integer':
      return fc.integer({ min: Number(minimum ?? 0), max: Math.min(Number(maximum ?? 1000), 1_000_000) })
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(valueOf(items), { minLength: 1, maxLength: 3 })
    default:
      throw new Error(`no values are known for ${JSON.stringify(schema)}`)
  }
}

/** A value of any other type, or outside of the bounds. */
function notOf(schema: unknown): fc.Arbitrary<unknown> {
  const { type, minimum, maximum, maxLength } = isJsonObject(schema) ? schema : {}
  const others = [
    ...(type === 'string' ? [] : [fc.string({ maxLength: 8 })]),
    ...(type === 'integer' ? [fc.constantFrom(0.5, -0.25)] : [fc.integer()]),
    ...(type === 'boolean' ? [] : [fc.boolean()]),
    ...(type === 'array' ? [fc.constant([null])] : [fc.array(ANY_JSON)]),
    ...(typeof minimum === 'number' ? [fc.constant(minimum - 1)] : []),
    ...(typeof maximum === 'number' ? [fc.constant(maximum + 1)] : []),
    ...(typeof maxLength === 'number' && maxLength < 10_000 ? [fc.constant('x'.repeat(maxLength + 1))] : []),
  ]
  return fc.oneof(
    fc.constant(null),
    fc.dictionary(fc.stringMatching(/^[a-z]{0,6}$/u), fc.integer()),
    ...others,
  )
}

function prototypes(): readonly (readonly string[])[] {
  return [Object.prototype, Array.prototype, String.prototype, Function.prototype].map((prototype) =>
    Reflect.ownKeys(prototype).map(String).toSorted(),
  )
}
