import { LoopchartError } from '../../errors.ts'
import type { JsonObject } from '../../protocol/json.ts'

/** A text that the schema requires. */
export function requiredText(args: JsonObject, name: string): string {
  const value = textOf(args, name)
  if (value === undefined) throw new LoopchartError('tool_arguments_invalid', `${name} must be a text`)
  return value
}

/** A text that may be missing. */
export function textOf(args: JsonObject, name: string): string | undefined {
  const value = args[name]
  return typeof value === 'string' ? value : undefined
}

/** A whole number that may be missing. */
export function wholeOf(args: JsonObject, name: string): number | undefined {
  const value = args[name]
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined
}

/** A yes or no that may be missing. */
export function flagOf(args: JsonObject, name: string): boolean | undefined {
  const value = args[name]
  return typeof value === 'boolean' ? value : undefined
}
