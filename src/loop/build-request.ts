import type { RespondInput } from '../../machines/loop.types.ts'
import type { InputItem } from '../protocol/items.ts'
import type { JsonObject } from '../protocol/json.ts'
import { parseRequest } from '../protocol/parse-request.ts'
import type { CreateResponseBody } from '../protocol/requests.ts'
import type { AnswerText } from './call-items.ts'
import { inputItems } from './input-items.ts'
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
}

export interface BuiltRequest {
  readonly body: CreateResponseBody
  /** The body as it is sent. */
  readonly text: string
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
  const { items, warnings } = inputItems(input.items, {
    mode: previousId === null ? 'stateless' : 'previous_response_id',
    isStored: options.store !== false,
    answerText: plan.answerText,
  })
  const prompt = placeInstructions(plan.instructions, input, previousId !== null, options)
  const body = parseRequest(
    withoutNulls({
      model: plan.model,
      instructions: prompt.instructions,
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
      ...choiceOfTools(plan, input),
      previous_response_id: previousId,
      input: [...prompt.items, ...items],
    }),
  )
  return { body, text: JSON.stringify(body), warnings: [...options.warnings, ...warnings] }
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
