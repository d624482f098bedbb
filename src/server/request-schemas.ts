// What requests may say. The same schemas check them and describe them in openapi.json.
import { z } from 'zod'

import { RUN_STATUSES } from './run-status.ts'

const ID_MAX = 256
const TEXT_MAX = 100_000
const LIMIT_MAX = 5_000

const count = z.int().min(1)
const text = z.string().min(1).max(TEXT_MAX)

/** The id of a call, or the ids from the outermost call inwards for one in the run of a call. */
const call = z.union([z.string().min(1).max(ID_MAX), z.array(z.string().min(1).max(ID_MAX)).min(1).max(16)], {
  error: `must be the id of a call, or a list of 1 to 16, each of at most ${ID_MAX} characters`,
})

const answer = {
  call,
  arguments_hash: z.string().min(1).max(ID_MAX).optional(),
  remember: z.enum(['call', 'tool']).optional(),
}

export const NEW_RUN = z.strictObject({
  agent: z.string().min(1).max(ID_MAX).optional(),
  input: z.union([z.string().min(1), z.array(z.record(z.string(), z.json())).min(1)], {
    error: 'must be a text or a list of items, and not empty',
  }),
  limits: z
    .strictObject({
      turns: count.optional(),
      tool_calls: z.int().min(0).optional(),
      tokens: count.optional(),
      ms: count.optional(),
    })
    .optional(),
})

export const CANCEL = z.strictObject({ reason: text.optional() })
export const STEER = z.strictObject({ text })
export const APPROVE = z.strictObject(answer)
export const DENY = z.strictObject({ ...answer, reason: text })
export const RECONCILE = z.strictObject({
  call,
  as: z.enum(['done', 'failed', 'rerun']),
  output: z.string().max(TEXT_MAX).optional(),
})

/** The number of the last frame that the reader has; -1: none. */
const after = z
  .string()
  .regex(/^(?:-1|\d{1,15})$/u, 'must be the number of a frame, or -1 for none')
  .optional()

const limit = z
  .string()
  .regex(/^\d{1,5}$/u, `must be a whole number; at most ${LIMIT_MAX} are given at once`)
  .optional()

export const LIST_QUERY = z.strictObject({
  state: z.string().max(ID_MAX).optional(),
  status: z.enum(RUN_STATUSES).optional(),
  q: z.string().max(ID_MAX).optional(),
  kind: z.enum(['run', 'conversation']).optional(),
  needs: z.enum(['approval', 'reconcile', 'any']).optional(),
  limit,
  before: z
    .string()
    .max(2 * ID_MAX)
    .optional(),
})

export const FRAMES_QUERY = z.strictObject({ after, limit })
export const DIFF_QUERY = z.strictObject({ a: z.string(), b: z.string() })
export const HEALTH_QUERY = z.strictObject({
  nonce: z
    .string()
    .regex(/^[\w-]{16,128}$/u, 'must be 16 to 128 letters, digits, _ or -')
    .optional(),
})
export const NO_QUERY = z.strictObject({})
export const NO_BODY = z.undefined()

/** How many of something are asked for; `otherwise` when nothing is said. */
export function limitOf(asked: string | undefined, otherwise: number): number {
  return Math.min(LIMIT_MAX, Math.max(1, Number(asked ?? otherwise)))
}
