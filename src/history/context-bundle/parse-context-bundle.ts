import { LoopchartError } from '../../errors.ts'
import { faultText } from '../../protocol/fault-text.ts'
import { findUnsendable } from '../../protocol/find-unsendable.ts'
import { isJsonObject } from '../../protocol/json.ts'
import type { ContextBundle } from './context-bundle.ts'
import { isCompacted } from './is-compacted.ts'
import { isWholeGroup } from './tool-work.ts'

/**
 * Takes what the text of a bundle parses to and gives it back typed, in either form. Throws `bundle_invalid`, naming
 * the first wrong field; a field that the form does not list is wrong too, since it could mean something.
 */
export function parseContextBundle(value: unknown): ContextBundle {
  const fault = findUnsendable(value)
  if (fault !== null) throw invalid(fault)
  if (isContextBundle(value)) return value
  throw invalid(bundleFault(value) ?? 'it is not valid')
}

function invalid(fault: string): LoopchartError {
  return new LoopchartError('bundle_invalid', `context bundle is not valid: ${fault}`)
}

function isContextBundle(value: unknown): value is ContextBundle {
  return bundleFault(value) === null
}

/** What is wrong with a value that stands where the keys lead to, or null. */
type Check = (value: unknown, keys: readonly string[]) => string | null

function bundleFault(value: unknown): string | null {
  if (!isJsonObject(value)) return faultText([], 'must be object')
  const { schema } = value
  if (schema === 'rip.context_bundle.v1') return bundleOf(ripItem)(value, [])
  if (schema === 'loopchart.context_bundle.v1') return bundleOf(loopchartItem)(value, [])
  return faultText(['schema'], 'must be rip.context_bundle.v1 or loopchart.context_bundle.v1')
}

const text: Check = (value, keys) => (typeof value === 'string' ? null : faultText(keys, 'must be string'))

const count: Check = (value, keys) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? null : faultText(keys, 'must be a count')

const role: Check = oneOf(['system', 'developer', 'user', 'assistant'])

const message = objectOf(
  { type: text, role, content: text },
  { actor_id: text, origin: text, thread_seq: count, thread_event_id: text },
)

const summaryRef = objectOf({ type: text, artifact_id: text }, { note: text })

const toolWork = objectOf({ type: text, thread_seq: count, items: wholeGroup }, {})

const compaction = objectOf({ type: text, artifact_id: text, endpoint: text, items: compacted }, {})

const ripItem: Check = itemOf({ message, summary_ref: summaryRef })

const loopchartItem: Check = itemOf({ message, summary_ref: summaryRef, tool_work: toolWork, compaction })

function bundleOf(item: Check): Check {
  return objectOf(
    {
      schema: text,
      compiler: objectOf({ id: text, strategy: text }, {}),
      source: objectOf({ thread_id: text, from_seq: count }, { from_message_id: text }),
      provenance: objectOf({ run_session_id: text, actor_id: text, origin: text }, {}),
      items: listOf(item),
    },
    {},
  )
}

function oneOf(values: readonly string[]): Check {
  return (value, keys) =>
    values.some((known) => known === value) ? null : faultText(keys, `must be ${values.join(' or ')}`)
}

function listOf(check: Check): Check {
  return (value, keys) => {
    if (!Array.isArray(value)) return faultText(keys, 'must be array')
    return firstFault(value.map((entry: unknown, index) => () => check(entry, [...keys, String(index)])))
  }
}

/** Optional fields may be null as well: other writers of these forms put that for what they do not know. */
function objectOf(
  required: Readonly<Record<string, Check>>,
  optional: Readonly<Record<string, Check>>,
): Check {
  return (value, keys) => {
    if (!isJsonObject(value)) return faultText(keys, 'must be object')
    const unknown = Object.keys(value).find(
      (key) => !Object.hasOwn(required, key) && !Object.hasOwn(optional, key),
    )
    if (unknown !== undefined) return faultText([...keys, unknown], 'is not a field of it')
    return firstFault([
      ...Object.entries(required).map(([key, check]) => () => {
        const path = [...keys, key]
        return value[key] === undefined ? faultText(path, 'is missing') : check(value[key], path)
      }),
      ...Object.entries(optional).map(
        ([key, check]) =>
          () =>
            (value[key] ?? null) === null ? null : check(value[key], [...keys, key]),
      ),
    ])
  }
}

function firstFault(checks: readonly (() => string | null)[]): string | null {
  for (const check of checks) {
    const fault = check()
    if (fault !== null) return fault
  }
  return null
}

function itemOf(shapes: Readonly<Record<string, Check>>): Check {
  const known = oneOf(Object.keys(shapes))
  return (value, keys) => {
    if (!isJsonObject(value)) return faultText(keys, 'must be object')
    const { type } = value
    const shape = typeof type === 'string' && Object.hasOwn(shapes, type) ? shapes[type] : undefined
    return shape === undefined ? known(type, [...keys, 'type']) : shape(value, keys)
  }
}

function wholeGroup(value: unknown, keys: readonly string[]): string | null {
  return isWholeGroup(value)
    ? null
    : faultText(keys, 'must be calls with their outputs, and reasoning before them, as the protocol has them')
}

function compacted(value: unknown, keys: readonly string[]): string | null {
  return isCompacted(value) ? null : faultText(keys, 'must be items that a request takes')
}
