import type { ContinuityMode, RespondInput } from '../../machines/loop.types.ts'
import type { InputItem } from '../protocol/items.ts'
import type { JsonObject } from '../protocol/json.ts'
import { parseRequest } from '../protocol/parse-request.ts'
import { ownText } from '../stream/own-text.ts'
import type { AnswerText } from './call-items.ts'
import { InputWriter, itemsText, joined, textPiece } from './input-text.ts'
import type { TextPiece } from './model.ts'
import type { RequestOptions, SystemPromptPlacement } from './request-options.ts'
import { toolChoiceFor, type ToolChoice } from './tool-choice.ts'

/** What all requests of an agent have in common. */
export interface RequestPlan {
  readonly model: string
  /** Null or empty: none. */
  readonly instructions: string | null
  /** As declared to the model, in a fixed order. */
  readonly definitions: readonly JsonObject[]
  readonly requestOptions: RequestOptions
  readonly answerText: AnswerText
  readonly stream: boolean
  /** Fields that the provider refuses: they are left out, with a warning. */
  readonly unsupported: readonly string[]
}

export interface BuiltRequest {
  /** The body as it is sent. */
  readonly text: string
  /** The same in pieces, where it carries the whole conversation. */
  readonly pieces: readonly TextPiece[] | undefined
  /** What of the options or of the conversation could not be sent as it was. */
  readonly warnings: readonly string[]
}

/**
 * Builds the request for one turn. The same input gives the same bytes. What stays the same over a run comes first
 * and `input` last, so that requests that carry the whole conversation extend each other. Throws `request_invalid`
 * when the result breaks the schema, which only a wrong plan can bring about.
 */
export function buildRequest(plan: RequestPlan, input: RespondInput): BuiltRequest {
  // Never both ways at once: a request with an id carries new items only.
  const previousId = input.mode === 'previous_response_id' ? input.previousResponseId : null
  const texts = textsOf(plan)
  const written = writerOf(plan, texts, previousId === null ? 'stateless' : 'previous_response_id').write(
    input.items,
  )
  const placement = placementOf(plan, input.mode)
  const head = headOf(plan, texts, placement, input)
  const opening = `${openingOf(head, input.toolCallsLeft, previousId)},"input":[`
  const warnings = head.warnings.concat(written.warnings)
  // Instructions as a field are not inherited by a response that continues another, and go with every request. As an item
  // they are, and would be said twice.
  if (previousId !== null) return { text: `${opening}${written.text}]}`, pieces: undefined, warnings }
  const first = itemsText(promptItems(plan, placement))
  const text = `${opening}${joined(first, written.text)}]}`
  // The text itself is shared with those before and after it, as long as nobody makes it one piece.
  if (written.pieces.length === 0) return { text, pieces: [textPiece(ownText(text))], warnings }
  const before = textPiece(`${opening}${first === '' ? '' : `${first},`}`)
  const behind = textPiece(`${written.rest === '' ? '' : `,${written.rest}`}]}`)
  return { text, pieces: [before, ...written.pieces, behind], warnings }
}

/** What is kept of a plan from one request to the next. */
interface PlanTexts {
  readonly writers: Partial<Record<ContinuityMode, InputWriter>>
  readonly heads: Map<string, RequestHead>
}

const TEXTS = new WeakMap<RequestPlan, PlanTexts>()

function textsOf(plan: RequestPlan): PlanTexts {
  const known = TEXTS.get(plan)
  if (known !== undefined) return known
  const texts: PlanTexts = { writers: {}, heads: new Map() }
  TEXTS.set(plan, texts)
  return texts
}

function writerOf(
  { requestOptions, answerText }: RequestPlan,
  { writers }: PlanTexts,
  mode: ContinuityMode,
): InputWriter {
  return (writers[mode] ??= new InputWriter({ mode, isStored: requestOptions.store !== false, answerText }))
}

/** Builds the requests of an agent that has a plan for each of its models. */
export function requestBuilder(plans: readonly RequestPlan[]): (input: RespondInput) => BuiltRequest {
  return (input) => {
    const plan = plans[input.model]
    if (plan === undefined) throw new Error(`there is no model ${input.model}`)
    return buildRequest(plan, input)
  }
}

/** The part of a request that is the same for all turns of a kind, as text: checked and written once. */
interface RequestHead {
  /** Without the brace that closes it. */
  readonly opening: string
  readonly hasCallLimit: boolean
  readonly warnings: readonly string[]
}

// By what heads of one plan differ in: where the instructions are, and the choice of tools.
function headOf(
  plan: RequestPlan,
  { heads }: PlanTexts,
  placement: SystemPromptPlacement | null,
  input: RespondInput,
): RequestHead {
  const { toolChoice, stickyToolChoice } = plan.requestOptions
  const choice = toolChoiceFor(toolChoice, stickyToolChoice, input)
  const isField = placement === 'instructions' || placement === 'both'
  const kind = typeof choice === 'string' ? choice : input.isChoiceSatisfied ? 'later' : 'first'
  const key = isField ? `instructions ${kind}` : kind
  const known = heads.get(key)
  if (known !== undefined) return known
  const head = writeHead(plan, isField ? plan.instructions : null, choice)
  heads.set(key, head)
  return head
}

/** The fields that differ from turn to turn, behind those that do not. */
function openingOf(
  { opening, hasCallLimit }: RequestHead,
  callsLeft: number,
  previousId: string | null,
): string {
  const fields = {
    // The schema knows no 0; the chart stops before a call that is over the limit.
    max_tool_calls: hasCallLimit ? Math.max(1, callsLeft) : undefined,
    previous_response_id: previousId ?? undefined,
  }
  if (!areTurnFields(fields)) parseRequest(fields)
  return joined(opening, JSON.stringify(fields).slice(1, -1))
}

// All that the schema asks of the two. It is large, and to go through it for them takes longer than to write them.
function areTurnFields(fields: Readonly<Record<string, unknown>>): boolean {
  const { max_tool_calls: callsMax, previous_response_id: id } = fields
  if (id !== undefined && typeof id !== 'string') return false
  return (
    callsMax === undefined ||
    (typeof callsMax === 'number' && Number.isSafeInteger(callsMax) && callsMax >= 1)
  )
}

function writeHead(plan: RequestPlan, instructions: string | null, choice: ToolChoice): RequestHead {
  const { requestOptions: options } = plan
  // Without tools, providers refuse the fields that are about tools.
  const hasTools = plan.definitions.length > 0
  const fields: Readonly<Record<string, unknown>> = withoutNulls({
    model: plan.model,
    instructions,
    tools: hasTools ? plan.definitions : null,
    parallel_tool_calls: hasTools ? options.parallelToolCalls : null,
    reasoning: options.reasoning,
    text: options.text,
    temperature: options.temperature,
    top_p: options.topP,
    max_output_tokens: options.maxOutputTokens,
    truncation: options.truncation,
    service_tier: options.serviceTier,
    prompt_cache_key: options.promptCacheKey,
    metadata: options.metadata,
    include: options.include.length === 0 ? null : options.include,
    store: options.store,
    stream: plan.stream,
    tool_choice: hasTools ? choice : null,
  })
  const written = hasTools ? [...Object.keys(fields), 'max_tool_calls'] : Object.keys(fields)
  const dropped = written.filter((field) => plan.unsupported.includes(field))
  return {
    opening: JSON.stringify(parseRequest(supported(plan, fields))).slice(0, -1),
    hasCallLimit: hasTools && !plan.unsupported.includes('max_tool_calls'),
    warnings: [
      ...options.warnings,
      ...dropped.map((field) => `the provider does not take ${field}: it is left out of every request`),
    ],
  }
}

function supported(
  { unsupported }: RequestPlan,
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (unsupported.length === 0) return fields
  return Object.fromEntries(Object.entries(fields).filter(([field]) => !unsupported.includes(field)))
}

/** Where the instructions go; null when there are none. */
function placementOf(
  { instructions, requestOptions }: RequestPlan,
  mode: ContinuityMode,
): SystemPromptPlacement | null {
  if (instructions === null || instructions === '') return null
  return requestOptions.systemPromptPlacement ?? (mode === 'stateless' ? 'system' : 'instructions')
}

function promptItems(
  { instructions }: RequestPlan,
  placement: SystemPromptPlacement | null,
): readonly InputItem[] {
  if (instructions === null || placement === null || placement === 'instructions') return []
  const role = placement === 'developer' ? 'developer' : 'system'
  return [{ type: 'message', role, content: instructions }]
}

function withoutNulls(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}
