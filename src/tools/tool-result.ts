import { ERROR_CODES, LoopchartError, type ErrorCode } from '../errors.ts'
import { findUnsendable } from '../protocol/find-unsendable.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'

export interface ToolResultOptions {
  readonly stdout?: string
  readonly stderr?: string
  /** 0 means that it went well; 0 without it. */
  readonly exitCode?: number
  /** Facts about files and other things that it made, for the model and for the log. */
  readonly artifacts?: readonly JsonObject[]
  /** Why it did not go well, when there is more to say than an exit code. */
  readonly error?: { readonly code: ErrorCode; readonly message: string }
}

/** What a tool can say in more detail than with a plain value. Made by `toolResult`. */
export class ToolResult {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
  readonly artifacts: readonly JsonObject[]
  readonly error: { readonly code: ErrorCode; readonly message: string } | null
  // Asking for it touches no trap of a Proxy, as instanceof would.
  readonly #made = true

  constructor({ stdout = '', stderr = '', exitCode = 0, artifacts = [], error }: ToolResultOptions) {
    this.stdout = stdout
    this.stderr = stderr
    this.exitCode = exitCode
    this.artifacts = artifacts
    this.error = error ?? null
  }

  static is(value: unknown): value is ToolResult {
    return typeof value === 'object' && value !== null && #made in value && value.#made
  }
}

/**
 * The result of a tool that has more to say than one value. Throws `tool_invalid` when the texts are no texts,
 * the exit code is no whole number, or an artifact is no JSON object.
 */
export function toolResult(options: ToolResultOptions): ToolResult {
  const result = new ToolResult(options)
  need(
    typeof result.stdout === 'string' && typeof result.stderr === 'string',
    'stdout and stderr must be texts',
  )
  need(Number.isSafeInteger(result.exitCode), 'exitCode must be a whole number')
  need(Array.isArray(result.artifacts) && result.artifacts.every(isJsonObject), 'artifacts must be objects')
  const isError = result.error === null || isErrorOf(result.error)
  need(isError, 'error must have a code of docs/errors.md and a message')
  const unsendable = findUnsendable(result.artifacts)
  need(unsendable === null, `artifacts are not JSON: ${unsendable}`)
  // Copies: what the log holds must not change when the tool goes on with its objects.
  const artifacts: readonly JsonObject[] = JSON.parse(JSON.stringify(result.artifacts))
  const { error } = result
  return new ToolResult({
    ...options,
    artifacts,
    ...(error !== null && { error: { code: error.code, message: error.message } }),
  })
}

function isErrorOf(error: { readonly code: unknown; readonly message: unknown }): boolean {
  return typeof error.message === 'string' && ERROR_CODES.some((code) => code === error.code)
}

function need(condition: boolean, complaint: string): void {
  if (!condition) throw new LoopchartError('tool_invalid', `tool result: ${complaint}`)
}
