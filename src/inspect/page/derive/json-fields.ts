import { isJsonObject, type Json, type JsonObject } from '../../../protocol/json.ts'

const NOTHING: JsonObject = {}

// A log may come from anywhere: what a field should be by its type says nothing of what it is.

/** A value as an object to be read field by field; an empty one for what is none. */
export function fieldsOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : NOTHING
}

/** A field that is text; null for anything else. */
export function textIn(fields: JsonObject, key: string): string | null {
  const value = fields[key]
  return typeof value === 'string' ? value : null
}

/** A field that is a finite number; null for anything else. */
export function numberIn(fields: JsonObject, key: string): number | null {
  const value = fields[key]
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

/** A field that is an object; null for anything else. */
export function objectIn(fields: JsonObject, key: string): JsonObject | null {
  const value = fields[key]
  return isJsonObject(value) ? value : null
}

/** A field that is a list; an empty one for anything else. */
export function listIn(fields: JsonObject, key: string): readonly Json[] {
  const value = fields[key]
  return isList(value) ? value : []
}

/** The texts of a field that is a list. */
export function textsIn(fields: JsonObject, key: string): readonly string[] {
  return listIn(fields, key).filter((value) => typeof value === 'string')
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}
