import { isJsonObject, parseJson, type Json } from '../protocol/json.ts'
import { isDeeperThan } from './json-depth.ts'

const COMPARED_DEPTH_MAX = 128

/** Whether two texts are the same JSON value, whatever their spacing and key order. Text that is not JSON is only the same as itself. */
export function isSameJson(a: string, b: string): boolean {
  if (a === b) return true
  if (isDeeperThan(COMPARED_DEPTH_MAX, a) || isDeeperThan(COMPARED_DEPTH_MAX, b)) return false
  const left = parseJson(a)
  const right = parseJson(b)
  return left !== undefined && right !== undefined && isSameValue(left, right)
}

function isSameValue(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((value: Json, at) => isSameValue(value, b[at]))
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSameValue(a[key], b[key]))
  )
}
