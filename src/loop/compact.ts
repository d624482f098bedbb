import type { CompactInput, CompactOutput } from '../../machines/loop.types.ts'
import { makeFrame } from '../frames/make-frame.ts'
import type { Agent, CompactionPlan, CompactionPort, CustomCompaction } from './agent.ts'
import type { Children } from './children.ts'
import type { CompactAttempt, CompactWork } from './compact-attempt.ts'
import { compactByModel } from './compact-by-model.ts'
import { compactByProvider } from './compact-by-provider.ts'
import type { EffectIo } from './effect.ts'
import { findTornPair } from './find-torn-pair.ts'
import { parseInput } from './run-input.ts'

type AnyItems = CompactInput['items']

/**
 * Makes a conversation shorter in the way of the agent; where that fails, by rules. Settles with a value: a run goes on
 * as it was when nothing can be made shorter, or when what should do it throws.
 */
export async function compact(
  agent: Agent,
  input: CompactInput,
  io: EffectIo,
  children: Children | null = null,
): Promise<CompactOutput> {
  const { compaction } = agent
  if (compaction === null) return nothing('the agent cannot compact')
  try {
    if (compaction.custom !== null) return await byFunction(compaction, compaction.custom, input, io)
    const plan = compaction.plan(input.items, input.usedTokens)
    if (plan === null) return nothing('there is nothing to make shorter')
    const doubt = compaction.doubt(plan, input.usedTokens)
    if (doubt === 'gains_little') return nothing('it would gain too little')
    const made =
      doubt === 'stays_long'
        ? unasked(compaction)
        : await attempt(agent, compaction, plan, { input, io, children })
    return orByRules(compaction, plan, input, made)
  } catch (error) {
    return nothing(messageOf(error))
  }
}

/** What would have to be done again with the next response is not worth a request. */
function unasked({ way }: CompactionPort): CompactAttempt {
  const detail = way === 'rules' ? null : 'it would stay over its limit, so that nobody was asked'
  return { items: null, usage: null, detail }
}

/** What an attempt came to when that is shorter, else what the rules come to; what it used counts in any case. */
function orByRules(
  port: CompactionPort,
  plan: CompactionPlan,
  input: CompactInput,
  { items, usage, detail }: CompactAttempt,
): CompactOutput {
  try {
    const made = items === null ? null : shorter(port, input, { items, usage, way: port.way, detail })
    if (made !== null) return made
    const why = items === null ? detail : `what the ${port.way} gave is ${NO_SHORTER}`
    const ruled = shorter(port, input, { items: port.byRules(plan), usage, way: 'rules', detail: why })
    return ruled ?? { ok: false, message: `what the rules gave is ${NO_SHORTER}`, usage }
  } catch (error) {
    return { ok: false, message: messageOf(error), usage }
  }
}

const NO_SHORTER = 'no shorter than what it stands for'

function attempt(
  agent: Agent,
  port: CompactionPort,
  plan: CompactionPlan,
  work: CompactWork,
): CompactAttempt | Promise<CompactAttempt> {
  switch (port.way) {
    case 'model':
      return compactByModel(agent, port, plan, work)
    case 'provider':
      return compactByProvider(agent, plan, work)
    case 'rules':
    case 'custom':
      return { items: null, usage: null, detail: null }
  }
}

/** Said when what was made to be shorter cannot be gone on with. */
export const COMPACTION_REFUSED = 'compaction_refused'

async function byFunction(
  port: CompactionPort,
  custom: CustomCompaction,
  input: CompactInput,
  io: EffectIo,
): Promise<CompactOutput> {
  const made = await custom(input.items, io.signal)
  if (!made.ok) return nothing(made.message)
  const { usage = null } = made
  const refuse = (message: string): CompactOutput => {
    if (io.isWanted()) {
      io.stamp.tick()
      io.observe(makeFrame(io.stamp, 'warning', { cause: COMPACTION_REFUSED, figures: { message } }))
    }
    return { ok: false, message, usage }
  }
  let items: AnyItems
  try {
    // A copy that JSON can carry: it goes into the log, and the function may change what it gave.
    items = parseInput(made.items)
  } catch (error) {
    return refuse(messageOf(error))
  }
  const torn = findTornPair(items, input.items)
  if (torn !== null) return refuse(torn)
  return (
    shorter(port, input, { items, usage, way: 'custom', detail: null }) ??
    refuse(`what the function gave is ${NO_SHORTER}`)
  )
}

/** Null: it has as many tokens as before, or more. */
function shorter(
  { countTokens }: CompactionPort,
  { items: before }: CompactInput,
  made: Pick<Extract<CompactOutput, { ok: true }>, 'items' | 'usage' | 'way' | 'detail'>,
): CompactOutput | null {
  const tokensBefore = countTokens(before)
  const tokensAfter = countTokens(made.items)
  return tokensAfter < tokensBefore ? { ok: true, ...made, tokensBefore, tokensAfter } : null
}

function nothing(message: string): CompactOutput {
  return { ok: false, message, usage: null }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'it could not be made shorter'
}
