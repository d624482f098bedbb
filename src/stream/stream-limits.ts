/** Bounds on what one response may make a reader hold; all can be raised by the caller. */
export interface StreamLimits {
  /** One event's data, name and id together. */
  readonly eventBytesMax: number
  /** The whole body, comments and framing included. */
  readonly responseBytesMax: number
  readonly eventsMax: number
  /** Argument text gathered for one call. */
  readonly argumentsBytesMax: number
  /** Output items and their parts together. */
  readonly itemsMax: number
  /** Nesting of an event that is kept after it was read (items, responses). */
  readonly depthMax: number
}

const MIB = 1024 * 1024

export const STREAM_LIMITS: StreamLimits = {
  eventBytesMax: 16 * MIB,
  responseBytesMax: 64 * MIB,
  eventsMax: 1_000_000,
  argumentsBytesMax: 8 * MIB,
  itemsMax: 10_000,
  depthMax: 128,
}
