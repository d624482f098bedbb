// What answers say, for openapi.json; the tests hold real answers against them.
import { z } from 'zod'

import { RUN_STATUSES } from './run-status.ts'
import { SCOPES } from './tokens.ts'

const owner = z.strictObject({ pid: z.int(), host: z.string(), since: z.int() }).nullable()
const seq = z.int().min(-1)

export const ERROR = z.looseObject({ error: z.strictObject({ code: z.string(), message: z.string() }) })

export const STARTED = z.strictObject({ run_id: z.string(), state: z.string() })

const RUN_ROW = z.strictObject({
  run_id: z.string(),
  kind: z.enum(['run', 'conversation']),
  state: z.string(),
  status: z.enum(RUN_STATUSES),
  turn: z.int(),
  model: z.string(),
  agent: z.string().nullable(),
  started_at: z.number(),
  updated_at: z.number(),
  frames: z.int(),
  owner,
  needs: z.enum(['approval', 'reconcile']).nullable(),
})

export const RUN_LIST = z.strictObject({ runs: z.array(RUN_ROW), next: z.string().nullable() })

export const RUN = z.strictObject({
  run_id: z.string(),
  kind: z.enum(['run', 'conversation']),
  state: z.string(),
  status: z.enum(RUN_STATUSES),
  turn: z.int(),
  model: z.string(),
  agent: z.string().nullable(),
  explain: z
    .strictObject({
      state: z.string(),
      doc: z.string(),
      why: z.string(),
      waits_for: z.array(z.string()),
      can: z.array(z.string()),
    })
    .nullable(),
  can: z.array(z.string()),
  usage: z.record(z.string(), z.number()).nullable(),
  limits: z.record(z.string(), z.number().nullable()).nullable(),
  calls: z.array(z.strictObject({ call_id: z.string(), name: z.string(), outcome: z.string().nullable() })),
  last_seq: seq,
  owner,
  suspension: z
    .strictObject({ reason: z.string(), message: z.string(), retry_at: z.number().nullable() })
    .nullable(),
})

/** The whole of it is described by schemas/frames/v1.json. */
const FRAME = z.looseObject({
  v: z.literal(1),
  run_id: z.string(),
  seq: z.int(),
  ts: z.number(),
  type: z.string(),
})

export const FRAME_PAGE = z.strictObject({ frames: z.array(FRAME), last_seq: seq, is_ended: z.boolean() })

export const COMMAND_ANSWER = z.strictObject({
  answer: z.enum(['accepted', 'queued']),
  reason: z.string().nullable(),
  state: z.string(),
})

export const DIFF = z.strictObject({
  is_same: z.boolean(),
  text: z.string(),
  at: z.strictObject({ a: z.int().nullable(), b: z.int().nullable() }).nullable(),
  part: z.enum(['decision', 'states', 'requests', 'end']).nullable(),
  transition: z.int().nullable(),
})

export const ACCESS = z.strictObject({
  scopes: z.array(z.enum(SCOPES)),
  runs: z.array(z.string()).nullable(),
  agents: z.array(z.string()),
  version: z.string(),
})

export const HEALTH = z.strictObject({
  status: z.enum(['ok', 'closing']),
  proofs: z.array(z.string()).optional(),
})

export const CHART = z.looseObject({
  version: z.string(),
  states: z.array(z.unknown()),
  transitions: z.array(z.unknown()),
})
