import { Buffer } from 'node:buffer'

import type { CompactInput } from '../../machines/loop.types.ts'
import { makeFrame } from '../frames/make-frame.ts'
import { requestSentFrame, responseHeadersFrame } from '../frames/turn-frames.ts'
import type { AnyItem } from '../protocol/items.ts'
import { isJsonObject, parseJson, type Json } from '../protocol/json.ts'
import { isDeeperThan } from '../stream/json-depth.ts'
import { STREAM_LIMITS } from '../stream/stream-limits.ts'
import type { Agent, CompactionPlan } from './agent.ts'
import type { CompactAttempt, CompactWork } from './compact-attempt.ts'
import type { EffectIo } from './effect.ts'
import { inputItems, type SentItems } from './input-items.ts'
import { readUsage } from './usage.ts'
import type { SendFault } from './model.ts'

/** What gives way. Where no messages of it are said to stand, all of it is sent. */
type ProviderPlan = Omit<CompactionPlan, 'standing'> & Partial<Pick<CompactionPlan, 'standing'>>

/**
 * Has the provider make a conversation shorter. What it gives is opaque and stands for all that it was sent; prompts are
 * not sent, since it would not give them back: they stay. The request and the answer are seen in the log. Does not
 * reject: whatever goes wrong is an attempt that came to nothing.
 */
export async function compactByProvider(
  agent: Agent,
  plan: ProviderPlan,
  work: CompactWork,
): Promise<CompactAttempt> {
  try {
    const sent = await sendCompaction(agent, plan, work)
    return typeof sent === 'string' ? readAnswer(sent, agent, plan, work) : sent
  } catch (error) {
    return failed(error instanceof Error ? error.message : 'the provider could not be asked')
  }
}

/** The body that the provider answered with, or why there is none. */
async function sendCompaction(
  agent: Agent,
  { lead, old, standing = [] }: ProviderPlan,
  { input, io }: CompactWork,
): Promise<string | CompactAttempt> {
  const model = agent.models[input.model]
  if (model?.compact == null) return failed(`${model?.name ?? 'the model'} has no endpoint for it`)
  const stays = new Set(standing.filter(isPrompt))
  const body = compactBody(agent, input, [
    ...lead.filter((item) => !isPrompt(item)),
    ...old.filter((item) => !stays.has(item)),
  ])
  const { turn, attempt } = input
  const { endpoint } = model.compact
  const sent = {
    turn,
    attempt,
    kind: 'compact',
    continuity: 'stateless',
    endpoint,
    model: model.name,
  } as const
  io.stamp.tick()
  io.observe(requestSentFrame(io.stamp, { ...sent, body }))
  const answer = new WholeBody(agent.streamLimits.responseBytesMax ?? STREAM_LIMITS.responseBytesMax)
  const fault = await model.compact.send({
    body,
    idempotencyKey: `${io.runId}/${turn}/compact`,
    signal: io.signal,
    onHead: ({ status, requestId, contentType }) => {
      if (!io.isWanted()) return
      io.stamp.tick()
      const head = { turn, attempt, status, request_id: requestId, content_type: contentType }
      io.observe(responseHeadersFrame(io.stamp, head))
    },
    onChunk: (chunk) => io.isWanted() && answer.add(chunk),
  })
  if (!io.isWanted()) return failed('the run let go of it')
  if (fault !== null) return noteFault(fault, input, io)
  if (answer.isTooLarge) return failed('the answer is too large')
  return answer.text()
}

function failed(detail: string): CompactAttempt {
  return { items: null, usage: null, detail }
}

function noteFault({ code, message, body }: SendFault, input: CompactInput, io: EffectIo): CompactAttempt {
  if (body != null && body !== '') {
    const { turn, attempt } = input
    io.stamp.tick()
    io.observe(makeFrame(io.stamp, 'warning', { cause: 'error_body', figures: { turn, attempt, body } }))
  }
  return failed(`the provider did not compact: ${code}: ${message}`)
}

function isPrompt({ type, role }: AnyItem): boolean {
  return type === 'message' && (role === 'system' || role === 'developer')
}

/** The request: the items as a request with the whole conversation has them, and the instructions where they are a field. */
function compactBody(agent: Agent, { model: at }: CompactInput, items: readonly AnyItem[]): string {
  const plan = agent.description.plans[at]
  if (plan === undefined) throw new Error(`there is no model ${at}`)
  const { instructions, requestOptions, unsupported } = plan
  const placement =
    requestOptions.systemPromptPlacement ?? (agent.settings.mode === 'stateless' ? 'system' : 'instructions')
  const isField =
    (placement === 'instructions' || placement === 'both') && !unsupported.includes('instructions')
  const { items: input } = wholeInput(agent, at, items)
  return JSON.stringify({
    model: plan.model,
    ...(isField && instructions !== null && instructions !== '' && { instructions }),
    input,
  })
}

function wholeInput(agent: Agent, at: number, items: readonly AnyItem[]): SentItems {
  return inputItems(items, {
    mode: 'stateless',
    isStored: agent.description.plans[at]?.requestOptions.store !== false,
    answerText: agent.tools.answerText,
  })
}

function readAnswer(
  raw: string,
  agent: Agent,
  { lead, standing = [], kept }: ProviderPlan,
  { input, io }: CompactWork,
): CompactAttempt {
  const parsed = parseJson(raw)
  const status = parsed === undefined ? 'invalid_json' : 'event'
  const { turn, attempt } = input
  io.stamp.tick()
  const nothingAmiss = { errors: [], response_errors: [], anomalies: [] }
  io.observe(
    makeFrame(io.stamp, 'provider_event', { turn, attempt, status, event_name: null, raw, ...nothingAmiss }),
  )
  if (!isJsonObject(parsed)) return failed('the answer is not a JSON object')
  const usage = readUsage(isJsonObject(parsed['usage']) ? parsed['usage'] : null)
  const refused = (detail: string): CompactAttempt => ({ items: null, usage, detail })
  const { depthMax, itemsMax } = { ...STREAM_LIMITS, ...agent.streamLimits }
  if (isDeeperThan(depthMax, raw)) return refused(`the answer is nested deeper than ${depthMax}`)
  const output = itemsIn(parsed['output'])
  if (output === null) return refused('the answer has no items')
  if (output.length > itemsMax) return refused(`the answer has more than ${itemsMax} items`)
  const fault = findUnfit(output, wholeInput(agent, input.model, output))
  if (fault !== null) return refused(fault)
  // A pair that it tore could not be sent either, and what is kept is whole.
  const items = [...lead.filter(isPrompt), ...output, ...standing.filter(isPrompt), ...kept]
  return { items, usage, detail: null }
}

/** Why what a provider gave cannot be the conversation; null: every item of it can be sent as it is. */
function findUnfit(output: readonly AnyItem[], { items, warnings }: SentItems): string | null {
  const [warning] = warnings
  if (warning !== undefined) return `the answer cannot be sent back: ${warning}`
  if (items.length !== output.length) return 'the answer has a call that nothing answers'
  const tells = items.some(({ type }) => type === 'compaction' || type === 'message')
  return tells ? null : 'the answer says nothing of the conversation'
}

function itemsIn(output: Json | undefined): readonly AnyItem[] | null {
  if (!Array.isArray(output) || output.length === 0) return null
  const items = output.filter(isItem)
  return items.length === output.length ? items : null
}

function isItem(value: Json): value is AnyItem {
  return isJsonObject(value) && typeof value['type'] === 'string'
}

/** A body that comes whole, as far as there is room for it. */
class WholeBody {
  isTooLarge = false
  readonly #bytesMax: number
  readonly #chunks: Uint8Array[] = []
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** False: no more is wanted. */
  add(chunk: Uint8Array): boolean {
    this.#bytes += chunk.length
    this.isTooLarge = this.#bytes > this.#bytesMax
    if (!this.isTooLarge) this.#chunks.push(chunk)
    return !this.isTooLarge
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8')
  }
}
