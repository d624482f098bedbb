import { LoopchartError } from '../errors.ts'

/** The key of a request; null: it has none. Throws `usage` for one that cannot be used. */
export function idempotencyKey({ headers }: Request): string | null {
  const key = headers.get('idempotency-key')
  if (key === null || /^[!-~]{1,255}$/u.test(key)) return key
  throw new LoopchartError('usage', 'Idempotency-Key must be 1 to 255 printable characters without spaces')
}
