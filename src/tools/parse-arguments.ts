import { Buffer } from 'node:buffer'

import { parse } from 'secure-json-parse'

import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { joinFaults } from './join-faults.ts'
import { asciiOnly } from './quoted.ts'
import { scanArguments } from './scan-arguments.ts'

/** Bounds on the argument text of one call. */
export interface ArgumentLimits {
  readonly bytesMax: number
  readonly depthMax: number
  /** Values in all, members and elements counted; a validator may report each of them. */
  readonly valuesMax: number
}

export const ARGUMENT_LIMITS: ArgumentLimits = {
  bytesMax: 8 * 1024 * 1024,
  depthMax: 64,
  valuesMax: 100_000,
}

export interface ArgumentRules extends Partial<ArgumentLimits> {
  /**
   * Whether text without a character counts as `{}`. Several models send none for a tool without parameters,
   * so a tool whose schema requires no property says yes; for any other it is an error like the rest.
   */
  readonly isEmptyAllowed?: boolean
}

export type ParsedArguments =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly message: string }

/**
 * Reads the `arguments` of a call. It never throws, whatever the text is, and never repairs: text that is too
 * large, too deep, not JSON, not an object, has a key twice, a key that could reach a prototype or a number
 * that would be changed is refused, with a message for the model of at most 1,000 characters.
 */
export function parseArguments(text: string, rules: ArgumentRules = {}): ParsedArguments {
  const bytesMax = rules.bytesMax ?? ARGUMENT_LIMITS.bytesMax
  const depthMax = rules.depthMax ?? ARGUMENT_LIMITS.depthMax
  const valuesMax = rules.valuesMax ?? ARGUMENT_LIMITS.valuesMax
  if (typeof text !== 'string') return refuse('they must be text that holds a JSON object')
  if (isLarger(text, bytesMax)) return refuse(`they are larger than ${bytesMax} bytes`)
  if (!text.startsWith('{') && /^[ \t\n\r]*$/.test(text)) {
    return rules.isEmptyAllowed === true
      ? { ok: true, value: {} }
      : refuse('they are empty, send a JSON object with the properties that the tool requires')
  }
  const scan = scanArguments(text, depthMax, valuesMax)
  if (scan.isTooDeep) return refuse(`they are nested deeper than ${depthMax} levels`)
  if (scan.isTooMany) return refuse(`they hold more than ${valuesMax} values`)
  const parsed = parseSafely(text)
  if (!parsed.ok) return refuse(parsed.message)
  if (scan.faults.length > 0) return refuse(joinFaults(scan.faults))
  if (!isJsonObject(parsed.value)) return refuse(`they must be a JSON object, not ${kindOf(parsed.value)}`)
  return { ok: true, value: parsed.value }
}

// Bytes are counted only where the characters, of which none takes more than three for a unit, leave a doubt.
function isLarger(text: string, bytesMax: number): boolean {
  return text.length > bytesMax || (text.length * 3 > bytesMax && Buffer.byteLength(text) > bytesMax)
}

function refuse(reason: string): ParsedArguments {
  return { ok: false, message: joinFaults([reason]) }
}

type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string }

function parseSafely(text: string): Parsed {
  // secure-json-parse takes a byte order mark away; JSON does not know one.
  if (text.startsWith('\ufeff')) return { ok: false, message: 'they begin with a byte order mark' }
  try {
    return { ok: true, value: parse(text) }
  } catch (error) {
    const reason = error instanceof Error ? error.message : ''
    if (reason.includes('forbidden prototype')) {
      return { ok: false, message: 'they use the key "__proto__" or "constructor.prototype"' }
    }
    // The engine quotes a few characters of the text; they may be anything.
    return { ok: false, message: `they are not valid JSON: ${asciiOnly(reason).slice(0, 300)}` }
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}
