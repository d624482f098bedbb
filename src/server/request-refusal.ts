import { LoopchartError, type ErrorCode } from '../errors.ts'
import type { JsonObject } from '../protocol/json.ts'

export interface RefusalDetails {
  /** What the answer says besides the error, such as the state of the run. */
  readonly fields?: JsonObject
  /** Headers that go with it, such as `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A request that the service does not carry out, with what its sender needs to do better. */
export class RequestRefusal extends LoopchartError {
  override readonly name: string = 'RequestRefusal'
  readonly fields: JsonObject
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ErrorCode, message: string, { fields = {}, headers = {} }: RefusalDetails = {}) {
    super(code, message)
    this.fields = fields
    this.headers = headers
  }
}

/** A request beyond a cap, and after how many seconds it is worth another try. */
export function tooMany(message: string, afterSeconds: number): RequestRefusal {
  return new RequestRefusal('too_many', message, { headers: { 'retry-after': String(afterSeconds) } })
}
