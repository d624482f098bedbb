import type { Tool } from '../../protocol/generated/openresponses.ts'
import type { CreateResponseBody } from '../../protocol/requests.ts'
import type { ResponseResource } from '../../protocol/responses.ts'
import type { ScriptTurn } from './script.ts'

/** What a response is made from. The same plan always gives the same events. */
export interface ResponsePlan {
  readonly turn: ScriptTurn
  readonly request: CreateResponseBody
  /** Ids of items and calls are made from it. */
  readonly responseId: string
  /** Seconds since 1970. */
  readonly createdAt: number
}

/** A response that has just begun: every key of the schema, with what the request asked for. */
export function openResponse({ request, responseId, createdAt }: ResponsePlan): ResponseResource {
  return {
    id: responseId,
    object: 'response',
    created_at: createdAt,
    completed_at: null,
    status: 'in_progress',
    incomplete_details: null,
    model: request.model ?? SCRIPTED_MODEL,
    previous_response_id: request.previous_response_id ?? null,
    instructions: request.instructions ?? null,
    output: [],
    error: null,
    tools: (request.tools ?? []).map(toolOf),
    tool_choice: toolChoiceOf(request),
    truncation: request.truncation ?? 'disabled',
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    text: textOf(request),
    top_p: request.top_p ?? 1,
    presence_penalty: request.presence_penalty ?? 0,
    frequency_penalty: request.frequency_penalty ?? 0,
    top_logprobs: request.top_logprobs ?? 0,
    temperature: request.temperature ?? 1,
    reasoning: { effort: request.reasoning?.effort ?? null, summary: request.reasoning?.summary ?? null },
    usage: null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    store: request.store ?? true,
    background: false,
    service_tier: request.service_tier ?? 'default',
    metadata: request.metadata ?? {},
    safety_identifier: request.safety_identifier ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
  }
}

/** The one model that a scripted provider lists. It answers to any other name as well. */
export const SCRIPTED_MODEL = 'scripted-1'

function toolOf(tool: NonNullable<CreateResponseBody['tools']>[number]): Tool {
  const { name, description = null, parameters = null, strict = null } = tool
  return { type: 'function', name, description, parameters, strict }
}

function toolChoiceOf({ tool_choice: choice }: CreateResponseBody): ResponseResource['tool_choice'] {
  if (choice == null) return 'auto'
  if (typeof choice === 'string' || choice.type === 'function') return choice
  return { ...choice, mode: choice.mode ?? 'auto' }
}

function textOf({ text }: CreateResponseBody): ResponseResource['text'] {
  const verbosity = text?.verbosity === undefined ? {} : { verbosity: text.verbosity }
  const format = text?.format
  if (format == null || format.type === 'text') return { format: { type: 'text' }, ...verbosity }
  const { name = '', description = null, strict } = format
  // The protocol has no place for the schema in the echo: only null is valid there.
  return {
    format: { type: 'json_schema', name, description, schema: null, strict: strict ?? false },
    ...verbosity,
  }
}
