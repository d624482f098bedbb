import type { JsonObject } from '../protocol/json.ts'
import { RequestRefusal } from './request-refusal.ts'

const KEYS_MAX = 10_000

/** What was answered under idempotency keys: the same request again has the same answer and does nothing. */
export class AnsweredKeys {
  readonly #answers = new Map<string, { readonly request: string; readonly answer: Promise<JsonObject> }>()

  /** The answer from before, or that of `answer`. Throws `key_reused` when the key came with another request. */
  once(key: string, request: string, answer: () => Promise<JsonObject>): Promise<JsonObject> {
    const known = this.#answers.get(key)
    if (known !== undefined) {
      if (known.request !== request) throw keyReused()
      return known.answer
    }
    const answered = answer()
    this.#answers.set(key, { request, answer: answered })
    const [oldest] = this.#answers.keys()
    if (this.#answers.size > KEYS_MAX && oldest !== undefined) this.#answers.delete(oldest)
    // What went wrong may go well the next time.
    answered.catch(() => this.#answers.delete(key))
    return answered
  }
}

/** The refusal of a key that came before with another request. */
export function keyReused(): RequestRefusal {
  return new RequestRefusal('key_reused', 'the idempotency key came before with another request')
}
