import { createRequire } from 'node:module'

import type * as zod from 'zod'

import { LoopchartError } from '../../errors.ts'
import { faultText } from '../../protocol/fault-text.ts'
import { isJsonObject, type JsonObject } from '../../protocol/json.ts'
import type { Script, ScriptCompaction, ScriptTurn } from './script.ts'

/** Takes what a script file holds and gives it back typed. Throws `script_invalid`, naming the first wrong field. */
export function parseScript(value: unknown): Script {
  const parsed = shapes().script.safeParse(value)
  if (parsed.success) return parsed.data
  throw invalid(parsed.error)
}

/** Takes one turn, as a function gives it. Throws `script_invalid`. */
export function parseTurn(value: unknown): ScriptTurn {
  const parsed = shapes().turn.safeParse(value)
  if (parsed.success) return parsed.data
  throw invalid(parsed.error)
}

/** Takes what is said about compactions, one for all or a list. Throws `script_invalid`. */
export function parseCompactions(value: unknown): ScriptCompaction | readonly ScriptCompaction[] {
  const parsed = shapes().compact.safeParse(value)
  if (parsed.success) return parsed.data
  throw invalid(parsed.error)
}

/** The JSON Schema of a script file, as `schemas/script/` has it. */
export function scriptSchema(): JsonObject {
  const z = loadZod()
  const derived: unknown = z.toJSONSchema(shapes().script, { unrepresentable: 'any' })
  if (!isJsonObject(derived)) throw new Error('the schema of a script is not an object')
  return derived
}

// Loaded with the first script: who brings none never needs it.
function loadZod(): typeof zod {
  const z: typeof zod = createRequire(import.meta.url)('zod')
  return z
}

let loadedShapes: ReturnType<typeof shapesOf> | null = null

function shapes(): ReturnType<typeof shapesOf> {
  loadedShapes ??= shapesOf(loadZod())
  return loadedShapes
}

const TURNS_MAX = 10_000
const ITEMS_MAX = 1000
const DELAY_MS_MAX = 3_600_000

function shapesOf(z: typeof zod) {
  const delayMs = z.int().min(0).max(DELAY_MS_MAX)
  const count = z.int().min(0)
  const usage = z.strictObject({
    input_tokens: count,
    output_tokens: count,
    cached_tokens: count.exactOptional(),
    reasoning_tokens: count.exactOptional(),
  })
  const end = z.discriminatedUnion('status', [
    z.strictObject({ status: z.literal('incomplete'), reason: z.string().exactOptional() }),
    z.strictObject({
      status: z.literal('failed'),
      code: z.string().exactOptional(),
      message: z.string().exactOptional(),
    }),
  ])
  const sending = {
    usage: usage.exactOptional(),
    delay_ms: delayMs.exactOptional(),
    chunk_bytes: z.int().min(1).exactOptional(),
    fault: faultShape(z).exactOptional(),
  }
  const turn = z.strictObject({
    output: z.array(itemShape(z)).max(ITEMS_MAX).exactOptional(),
    usage: sending.usage,
    end: end.exactOptional(),
    delay_ms: sending.delay_ms,
    event_delay_ms: delayMs.exactOptional(),
    chunk_bytes: sending.chunk_bytes,
    fault: sending.fault,
    forgets: z.boolean().exactOptional(),
  })
  const compaction = z.strictObject(sending)
  const compact = z.union([compaction, z.array(compaction).max(TURNS_MAX)])
  const script = z.strictObject({
    $schema: z.string().exactOptional(),
    v: z.literal(1),
    description: z.string().exactOptional(),
    turns: z.array(turn).max(TURNS_MAX),
    compact: compact.exactOptional(),
    refuses_calls: z.boolean().exactOptional(),
  })
  const title = 'What a scripted provider answers, turn by turn.'
  return { turn, compact, script: script.meta({ title: 'loopchart script', description: title }) }
}

function itemShape(z: typeof zod) {
  const text = z.union([z.string(), z.array(z.string()).min(1)])
  return z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('message'),
      text,
      phase: z.enum(['commentary', 'final_answer']).exactOptional(),
    }),
    z.strictObject({ type: z.literal('refusal'), text }),
    z.strictObject({
      type: z.literal('reasoning'),
      summary: text.exactOptional(),
      content: text.exactOptional(),
      encrypted: z.string().exactOptional(),
    }),
    z.strictObject({
      type: z.literal('function_call'),
      name: z.string().min(1),
      arguments: textOrObject(z).exactOptional(),
      call_id: z.string().min(1).max(64).exactOptional(),
    }),
  ])
}

function faultShape(z: typeof zod) {
  const at = { at_byte: z.int().min(0).describe('How many bytes of the body are sent before it happens.') }
  const contentType = { content_type: z.string().min(1).exactOptional() }
  const header = z.string().regex(/^[A-Za-z0-9-]+$/u, 'is not a header name')
  return z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('status'),
      status: z.int().min(300).max(599),
      headers: z.record(header, z.string().regex(/^[ -~]*$/u, 'must be printable ASCII')).exactOptional(),
      body: textOrObject(z).exactOptional(),
    }),
    z.strictObject({ type: z.literal('reset'), ...at }),
    z.strictObject({ type: z.literal('stall'), ...at }),
    z.strictObject({ type: z.literal('truncate'), ...at }),
    z.strictObject({ type: z.literal('raw'), text: z.string(), ...contentType }),
    z.strictObject({
      type: z.literal('raw_base64'),
      base64: z.base64('must be base64'),
      ...contentType,
    }),
  ])
}

function textOrObject(z: typeof zod) {
  const object = z.custom<JsonObject>(isJsonObject, 'must be object').meta({ type: 'object' })
  return z.union([z.string(), object])
}

function invalid(error: zod.ZodError): LoopchartError {
  const { path, complaint } = deepest(error.issues[0], [])
  return new LoopchartError('script_invalid', `script is not valid: ${faultText(path, complaint)}`, {
    cause: error,
  })
}

interface Found {
  readonly path: readonly string[]
  readonly complaint: string
}

type Issue = zod.core.$ZodIssue

function deepest(issue: Issue | undefined, around: readonly string[]): Found {
  if (issue === undefined) return { path: around, complaint: 'is not valid' }
  const path = [...around, ...issue.path.map(String)]
  switch (issue.code) {
    case 'invalid_union':
      return closest(issue.errors, path)
    case 'invalid_key':
      return { path, complaint: issue.issues[0]?.message ?? 'is not a valid key' }
    case 'unrecognized_keys':
      return { path: [...path, ...issue.keys.slice(0, 1)], complaint: 'is not a field of it' }
    case 'invalid_type': {
      const isMissing = issue.message.endsWith('received undefined')
      return { path, complaint: isMissing ? 'is missing' : `must be ${issue.expected}` }
    }
    case 'invalid_value':
      return { path, complaint: `must be ${issue.values.map(String).join(' or ')}` }
    case 'too_small':
      return { path, complaint: `must be at least ${issue.minimum}` }
    case 'too_big':
      return { path, complaint: `must be at most ${issue.maximum}` }
    default:
      return { path, complaint: issue.message }
  }
}

/** Of the branches of a union, the one that got furthest knows best what was meant. */
function closest(branches: readonly (readonly Issue[])[], path: readonly string[]): Found {
  const found = branches.map((issues) => deepest(issues[0], path))
  const deep = found.find((one) => one.path.length > path.length)
  if (deep !== undefined) return deep
  const complaints = new Set(found.map(({ complaint }) => complaint))
  if (complaints.size === 0) return { path, complaint: 'is none that is known' }
  return { path, complaint: [...complaints].join(' or ').replaceAll(' or must be ', ' or ') }
}
