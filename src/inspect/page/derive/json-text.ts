import type { Json } from '../../../protocol/json.ts'

/** A value as JSON text, with a line for each part if `indent` is given. Says so where it nests too deeply for that. */
export function jsonText(value: Json | undefined, indent = 0): string {
  try {
    return JSON.stringify(value, null, indent) ?? ''
  } catch (error) {
    // What a text parses to may nest more deeply than the stack is high.
    if (error instanceof RangeError) return '(nested too deeply to be shown)'
    throw error
  }
}
