import { codePointLength } from '../protocol/code-point-length.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { cutMiddle, lengthIn, surelyFits } from './cut-middle.ts'
import { describeThrown } from './describe-thrown.ts'
import { readContentParts, type ContentPart } from './content-parts.ts'
import { exitCodeOf, outcomeText, type FailedOutcome } from './outcome-text.ts'
import type { OutputEncoding } from './tool-settings.ts'
import { ToolResult } from './tool-result.ts'

/** What goes into `output` of a `function_call_output`. */
export type ModelOutput = string | readonly ContentPart[]

/** The schema of Open Responses allows an output no more characters than this. */
export const OUTPUT_LENGTH_MAX = 10_485_760

const ARTIFACTS_LENGTH_MAX = 1024 * 1024

/** Sent when even the encoding fails; no known value leads here. */
export const OUTPUT_FALLBACK = '{"ok":false}'

/** Who answers, and in which form. */
export interface OutputForm {
  /** The name as the model called it. */
  readonly tool: string
  readonly encoding: OutputEncoding
}

/** What a tool gave, read once: the model's view, and what the log keeps beside it. */
export interface EncodedValue {
  readonly output: ModelOutput
  readonly exitCode: number
  readonly artifacts: readonly JsonObject[]
  /** Set when the value cannot be shown to a model, though the tool ran. */
  readonly fault: string | null
  /** What the tool itself said went wrong. */
  readonly error: ToolResult['error']
}

/** Encodes what `execute` gave, whatever it is. Never throws. */
export function encodeValue(form: OutputForm, value: unknown): EncodedValue {
  try {
    const parts = form.encoding === 'raw' ? readContentParts(value, OUTPUT_LENGTH_MAX) : null
    if (parts !== null) return { output: parts, exitCode: 0, artifacts: [], fault: null, error: null }
    const result = ToolResult.is(value) ? value : new ToolResult({ stdout: textOf(value) })
    const { exitCode, artifacts, error } = result
    const said = error?.message ?? null
    const output = form.encoding === 'raw' ? rawText(result, said) : envelope(form.tool, result, said)
    return { output, exitCode, artifacts, fault: null, error }
  } catch (error) {
    const fault = `the tool ran, but its result cannot be shown: ${describeThrown(error)}`
    return { output: encodeFailure(form, 'error', fault), exitCode: 1, artifacts: [], fault, error: null }
  }
}

/** Encodes what the model is told about a call that has no result of its own. Never throws. */
export function encodeFailure(form: OutputForm, outcome: FailedOutcome, detail = ''): string {
  try {
    const text = outcomeText(outcome, detail)
    if (form.encoding === 'raw') return cutMiddle(`error: ${text}`, OUTPUT_LENGTH_MAX, 'plain')
    return envelope(form.tool, new ToolResult({ exitCode: exitCodeOf(outcome) }), text)
  } catch {
    return OUTPUT_FALLBACK
  }
}

function textOf(value: unknown): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'bigint') return String(value)
  const json: unknown = JSON.stringify(value)
  if (typeof json === 'string') return json
  throw new TypeError(`it returned a ${typeof value}`)
}

function rawText({ stdout, stderr, exitCode }: ToolResult, error: string | null): string {
  const parts = [
    stdout,
    stderr,
    exitCode === 0 ? '' : `[exit code ${exitCode}]`,
    error === null ? '' : `error: ${error}`,
  ]
  return cutMiddle(parts.filter((part) => part !== '').join('\n'), OUTPUT_LENGTH_MAX, 'plain')
}

function envelope(tool: string, result: ToolResult, error: string | null): string {
  const { stdout, stderr } = result
  // To write it is less work than to count first.
  if (surelyFits(stdout.length + stderr.length, OUTPUT_LENGTH_MAX, 'json_string')) {
    const whole = writeEnvelope(tool, result, error, stdout, stderr)
    if (whole.length <= OUTPUT_LENGTH_MAX) return whole
  }
  const roomMax = OUTPUT_LENGTH_MAX - codePointLength(writeEnvelope(tool, result, error, '', ''))
  // Each stream has half of the room, and what the other one leaves.
  const errLength = lengthIn(stderr, 'json_string', roomMax)
  const out = cutMiddle(stdout, Math.max(Math.floor(roomMax / 2), roomMax - errLength), 'json_string')
  const err = cutMiddle(stderr, roomMax - lengthIn(out, 'json_string'), 'json_string')
  return writeEnvelope(tool, result, error, out, err)
}

// The order of the keys is part of the format: equal results must be equal bytes, or no cache will hold.
function writeEnvelope(
  tool: string,
  { exitCode, artifacts }: ToolResult,
  error: string | null,
  stdout: string,
  stderr: string,
): string {
  return JSON.stringify({
    tool,
    ok: exitCode === 0 && error === null,
    exit_code: exitCode,
    stdout,
    stderr,
    artifacts: artifacts.length === 0 ? undefined : shownArtifacts(artifacts),
    error: error ?? undefined,
  })
}

function shownArtifacts(artifacts: readonly JsonObject[]): Json {
  const isSmall = JSON.stringify(artifacts).length <= ARTIFACTS_LENGTH_MAX
  return isSmall ? artifacts : [{ left_out: artifacts.length }]
}
