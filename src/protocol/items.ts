import type { JsonObject } from './json.ts'

/** An item that a model put out, as the protocol defines it. */
export type { ItemField as OutputItem } from './generated/openresponses.ts'

/** An item that may stand in the `input` of a request. */
export type { ItemParam as InputItem } from './generated/openresponses.ts'

/**
 * An item as providers really send it: a type, and whatever else they like. Kept and sent back as it came.
 */
export interface AnyItem extends JsonObject {
  readonly type: string
}
