import type { Frame } from '../../src/frames/generated/frame.ts'

/** One value in a frame that was changed. */
export interface ChangedField {
  /** Such as `items[].name`: without the places in lists. */
  readonly field: string
  readonly frame: Frame
}

/** A frame with each of its values changed in turn, the rest as it was. */
export function* changedFields(frame: Frame): Generator<ChangedField> {
  for (const { path, field } of leaves(frame, [], '')) {
    const copy: unknown = JSON.parse(JSON.stringify(frame))
    let parent = copy as Record<string, unknown>
    for (const key of path.slice(0, -1)) parent = parent[key] as Record<string, unknown>
    const last = path.at(-1) ?? ''
    parent[last] = otherThan(parent[last])
    yield { field, frame: copy as Frame }
  }
}

interface Leaf {
  readonly path: readonly string[]
  readonly field: string
}

function* leaves(value: unknown, path: readonly string[], field: string): Generator<Leaf> {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
  if (entries.length === 0 && path.length > 0) yield { path, field }
  for (const [key, child] of entries) {
    const place = Array.isArray(value) ? `${field}[]` : field === '' ? key : `${field}.${key}`
    yield* leaves(child, [...path, key], place)
  }
}

function otherThan(value: unknown): unknown {
  if (typeof value === 'string') return `${value}x`
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  if (Array.isArray(value)) return ['x']
  return value === null ? 'x' : { x: 1 }
}
