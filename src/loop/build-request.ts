import type { ContinuityMode, RespondInput } from '../../machines/loop.types.ts'
import type { InputItem } from '../protocol/items.ts'
import type { JsonObject } from '../protocol/json.ts'
import { parseRequest } from '../protocol/parse-request.ts'
import { ownText } from '../stream/own-text.ts'
import type { AnswerText } from './call-items.ts'
import { InputWriter, itemsText, joined, textPiece } from './input-text.ts'
import type { TextPiece } from './model.ts'
import type { RequestOptions, SystemPromptPlacement } from './request-options.ts'
import { toolChoiceFor } from './tool-choice.ts'

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
  const { requestOptions: options } = plan
  // Never both ways at once: a request with an id carries new items only.
  const previousId = input.mode === 'previous_response_id' ? input.previousResponseId : null
  const written = writerOf(plan, previousId === null ? 'stateless' : 'previous_response_id').write(
    input.items,
  )
  const prompt = placeInstructions(plan.instructions, input, previousId !== null, options)
  const head = headOf(plan, prompt.instructions)
  const fields = parseRequest({
    ...supported(plan, choiceOfTools(plan, input)),
    ...(previousId === null ? {} : { previous_response_id: previousId }),
  })
  const opening = `${joined(head.opening, JSON.stringify(fields).slice(1, -1))},"input":[`
  const first = itemsText(prompt.items)
  const text = `${opening}${joined(first, written.text)}]}`
  const warnings = [...head.warnings, ...written.warnings]
  if (previousId !== null) return { text, pieces: undefined, warnings }
  // The text itself is shared with those before and after it, as long as nobody makes it one piece.
  if (written.pieces.length === 0) return { text, pieces: [textPiece(ownText(text))], warnings }
  const before = textPiece(`${opening}${first === '' ? '' : `${first},`}`)
  const behind = textPiece(`${written.rest === '' ? '' : `,${written.rest}`}]}`)
  return { text, pieces: [before, ...written.pieces, behind], warnings }
}

const WRITERS = new WeakMap<RequestPlan, Partial<Record<ContinuityMode, InputWriter>>>()

function writerOf(plan: RequestPlan, mode: ContinuityMode): InputWriter {
  const writers = WRITERS.get(plan) ?? {}
  WRITERS.set(plan, writers)
  const { requestOptions, answerText } = plan
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

/** The part of a request that is the same each time, as text: checked and written once. */
interface RequestHead {
  /** Without the brace that closes it. */
  readonly opening: string
  readonly warnings: readonly string[]
}

const HEADS = new WeakMap<RequestPlan, Map<string | null, RequestHead>>()

function headOf(plan: RequestPlan, instructions: string | null): RequestHead {
  const heads = HEADS.get(plan) ?? new Map<string | null, RequestHead>()
  HEADS.set(plan, heads)
  const head = heads.get(instructions) ?? writeHead(plan, instructions)
  heads.set(instructions, head)
  return head
}

function writeHead(plan: RequestPlan, instructions: string | null): RequestHead {
  const { requestOptions: options } = plan
  const fields: Readonly<Record<string, unknown>> = withoutNulls({
    model: plan.model,
    instructions,
    ...declaredTools(plan),
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
  })
  const toolFields = plan.definitions.length === 0 ? [] : ['tool_choice', 'max_tool_calls']
  const dropped = [...Object.keys(fields), ...toolFields].filter((field) => plan.unsupported.includes(field))
  return {
    opening: JSON.stringify(parseRequest(supported(plan, fields))).slice(0, -1),
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

interface PlacedInstructions {
  readonly instructions: string | null
  readonly items: readonly InputItem[]
}

// The field is not inherited by a response that continues another and goes with every request. An item is
// inherited and would be said twice.
function placeInstructions(
  text: string | null,
  { mode }: RespondInput,
  isContinued: boolean,
  { systemPromptPlacement }: RequestOptions,
): PlacedInstructions {
  if (text === null || text === '') return { instructions: null, items: [] }
  const placement: SystemPromptPlacement =
    systemPromptPlacement ?? (mode === 'stateless' ? 'system' : 'instructions')
  const isField = placement === 'instructions' || placement === 'both'
  const role = placement === 'developer' ? 'developer' : 'system'
  const isItem = placement !== 'instructions' && !isContinued
  return {
    instructions: isField ? text : null,
    items: isItem ? [{ type: 'message', role, content: text }] : [],
  }
}

// Without tools, providers refuse the fields that are about tools.
function declaredTools({ definitions, requestOptions }: RequestPlan): Readonly<Record<string, unknown>> {
  if (definitions.length === 0) return {}
  return { tools: definitions, parallel_tool_calls: requestOptions.parallelToolCalls }
}

function choiceOfTools(plan: RequestPlan, input: RespondInput): Readonly<Record<string, unknown>> {
  if (plan.definitions.length === 0) return {}
  const { toolChoice, stickyToolChoice } = plan.requestOptions
  return {
    tool_choice: toolChoiceFor(toolChoice, stickyToolChoice, input),
    // The schema knows no 0; the chart stops before a call that is over the limit.
    max_tool_calls: Math.max(1, input.toolCallsLeft),
  }
}

function withoutNulls(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}
