import { parseJson } from '../protocol/json.ts'

export interface FormatCheck {
  /** What the text comes to; null when it has a fault or no format was asked for. */
  readonly output: unknown
  /** Why the text is not of the format; null when it is, or none was asked for. */
  readonly fault: string | null
}

/** Says what a parsed answer comes to, or what is wrong with it. May throw; that is a fault as well. */
export type OutputCheck = (value: unknown) => FormatCheck | Promise<FormatCheck>

const FAULT_LENGTH_MAX = 500

/**
 * Holds the text of an answer against the format that was asked for. The whole text must be JSON: nothing around it
 * is stripped. Without a `check` no format was asked for and any text is right. The output is JSON, whatever the check
 * makes of the text; what JSON cannot hold is a fault. The fault goes back to the model, so it is short. It never
 * rejects.
 */
export async function checkFormat(text: string, check: OutputCheck | null): Promise<FormatCheck> {
  if (check === null) return { output: null, fault: null }
  const value = parseJson(text)
  if (value === undefined) return faulty(text.trim() === '' ? 'it is empty' : 'it is not JSON')
  try {
    const { output, fault } = await check(value)
    return fault === null ? { output: asJson(output), fault } : faulty(fault)
  } catch (error) {
    return faulty(error instanceof Error ? `the check failed: ${error.message}` : 'the check failed')
  }
}

// A schema may make of the answer what JSON cannot hold, and the log would have something else than the result.
function asJson(output: unknown): unknown {
  return JSON.parse(JSON.stringify(output ?? null))
}

function faulty(fault: string): FormatCheck {
  const isLong = fault.length > FAULT_LENGTH_MAX
  return { output: null, fault: isLong ? `${fault.slice(0, FAULT_LENGTH_MAX - 3)}...` : fault }
}
