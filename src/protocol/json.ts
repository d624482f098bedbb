/** What JSON.parse gives. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject

/** A JSON object; a key that is not there reads as undefined. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What a text parses to, or undefined when it is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}
