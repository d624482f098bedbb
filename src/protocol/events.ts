import { EVENT_TYPES } from './generated/event-types.ts'

/** An event of a response stream as the protocol defines it, told apart by `type`. */
export type { StreamingEvent } from './generated/openresponses.ts'

/** The wire name of an event of the protocol. */
export type EventType = (typeof EVENT_TYPES)[number]

const known: ReadonlySet<string> = new Set(EVENT_TYPES)

/**
 * Whether the protocol defines an event of this type. Extensions and providers' own names are not among them.
 */
export function isEventType(type: string): type is EventType {
  return known.has(type)
}
