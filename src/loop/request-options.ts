import { createRequire } from 'node:module'

import type * as zod from 'zod'

import { LoopchartError } from '../errors.ts'
import { findUnsendable } from '../protocol/find-unsendable.ts'
import type {
  IncludeEnum,
  JsonSchemaResponseFormatParam,
  MetadataParam,
  ReasoningParam,
  ServiceTierEnum,
  TextParam,
  TruncationEnum,
} from '../protocol/generated/openresponses.ts'
import { isJsonObject, type JsonObject } from '../protocol/json.ts'
import { describeIssue } from './describe-issue.ts'
import { parseToolChoice, type ToolChoice, type ToolChoiceInput } from './tool-choice.ts'

/**
 * Where the instructions go: the field of that name in every request, or a first item of that role in every
 * request that starts a conversation, or both. Null: the field with `previous_response_id`, where an item would be
 * said again, and a system item where the whole conversation is sent.
 */
export type SystemPromptPlacement = 'instructions' | 'system' | 'developer' | 'both'

/** What is asked of every request of an agent, checked. Null: not said, the provider decides. */
export interface RequestOptions {
  readonly toolChoice: ToolChoice
  /** A forced choice stays forced after it was followed. */
  readonly stickyToolChoice: boolean
  readonly parallelToolCalls: boolean
  readonly reasoning: ReasoningParam | null
  readonly text: TextParam | null
  readonly maxOutputTokens: number | null
  readonly include: readonly IncludeEnum[]
  readonly store: boolean | null
  readonly encryptedReasoning: boolean
  readonly metadata: MetadataParam | null
  readonly serviceTier: ServiceTierEnum | null
  readonly truncation: TruncationEnum | null
  readonly promptCacheKey: string | null
  readonly temperature: number | null
  readonly topP: number | null
  readonly systemPromptPlacement: SystemPromptPlacement | null
  /** What was understood although it should be written in another way. */
  readonly warnings: readonly string[]
}

/** What is known of the agent when its options are read. */
export interface RequestOptionsContext {
  readonly toolExecution?: 'sequential' | 'parallel'
  /** Every declared name, aliases too; a choice that names another is refused. Null: not known. */
  readonly toolNames?: readonly string[] | null
}

const ENCRYPTED = 'reasoning.encrypted_content' satisfies IncludeEnum
const METADATA_PAIRS_MAX = 16

// Loaded with the first agent that has options: loading takes longer than anything else about an agent, and 11 MB.
let loadedShape: ReturnType<typeof shapeOf> | null = null

function optionsShape(): ReturnType<typeof shapeOf> {
  const z: typeof zod = createRequire(import.meta.url)('zod')
  loadedShape ??= shapeOf(z)
  return loadedShape
}

function shapeOf(z: typeof zod) {
  const jsonSchema = z.custom<Readonly<Record<string, unknown>>>(isJsonObject, 'must be a JSON Schema object')

  const formatShape = z.strictObject({
    type: z.literal('json_schema').optional(),
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -'),
    description: z.string().optional(),
    schema: jsonSchema,
    strict: z.boolean().optional(),
  })

  return z.strictObject({
    toolChoice: z.custom<ToolChoiceInput>().optional(),
    stickyToolChoice: z.boolean().optional(),
    parallelToolCalls: z.boolean().optional(),
    reasoning: z
      .strictObject({
        effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).optional(),
        summary: z.enum(['concise', 'detailed', 'auto']).optional(),
      })
      .optional(),
    verbosity: z.enum(['low', 'medium', 'high']).optional(),
    format: formatShape.optional(),
    maxOutputTokens: z.int().min(16).optional(),
    include: z.array(z.enum([ENCRYPTED, 'message.output_text.logprobs'])).optional(),
    store: z.boolean().optional(),
    encryptedReasoning: z.boolean().optional(),
    metadata: z
      .record(z.string().max(64, 'must have keys of at most 64 characters'), z.string().max(512))
      .refine(
        (pairs) => Object.keys(pairs).length <= METADATA_PAIRS_MAX,
        `must have at most ${METADATA_PAIRS_MAX} pairs`,
      )
      .optional(),
    serviceTier: z.enum(['auto', 'default', 'flex', 'priority']).optional(),
    truncation: z.enum(['auto', 'disabled']).optional(),
    promptCacheKey: z.string().max(64).optional(),
    temperature: z.number().optional(),
    topP: z.number().optional(),
    systemPromptPlacement: z.enum(['instructions', 'system', 'developer', 'both']).optional(),
  })
}

/** The options as a user writes them; `format` and `verbosity` become the request's `text`. */
export type RequestOptionsInput = Readonly<zod.input<ReturnType<typeof shapeOf>>>

/**
 * Reads the options for requests. Encrypted reasoning asks for `reasoning.encrypted_content` once and, unless
 * `store` is given, that nothing is stored. Throws `agent_invalid` naming the first wrong field, also for a field
 * that does not exist.
 */
export function parseRequestOptions(
  options: RequestOptionsInput,
  { toolExecution = 'sequential', toolNames = null }: RequestOptionsContext = {},
): RequestOptions {
  const given: Given = hasNone(options) ? {} : check(options)
  const { toolChoice, warnings } = parseToolChoice(given.toolChoice, toolNames)
  const { encryptedReasoning = false } = given
  const include: IncludeEnum[] = [...(given.include ?? [])]
  if (encryptedReasoning) include.push(ENCRYPTED)
  const isMinimal = given.reasoning?.effort === 'minimal'
  return {
    toolChoice,
    stickyToolChoice: given.stickyToolChoice ?? false,
    parallelToolCalls: given.parallelToolCalls ?? toolExecution === 'parallel',
    reasoning: reasoningOf(given.reasoning),
    text: textOf(given),
    maxOutputTokens: given.maxOutputTokens ?? null,
    include: [...new Set(include)],
    store: given.store ?? (encryptedReasoning ? false : null),
    encryptedReasoning,
    metadata: given.metadata ?? null,
    serviceTier: given.serviceTier ?? null,
    truncation: given.truncation ?? null,
    promptCacheKey: given.promptCacheKey ?? null,
    temperature: given.temperature ?? null,
    topP: given.topP ?? null,
    systemPromptPlacement: given.systemPromptPlacement ?? null,
    warnings: isMinimal
      ? [...warnings, 'reasoning.effort: minimal is not in the protocol, low was taken instead']
      : warnings,
  }
}

type Given = zod.output<ReturnType<typeof shapeOf>>

function hasNone(options: unknown): boolean {
  return isJsonObject(options) && Object.keys(options).length === 0
}

function check(options: RequestOptionsInput): Given {
  const parsed = optionsShape().safeParse(options)
  if (!parsed.success) throw new LoopchartError('agent_invalid', describeIssue(parsed.error))
  return parsed.data
}

// `minimal` was a word of OpenAI's that the protocol describes and does not admit.
function reasoningOf(reasoning: Given['reasoning']): ReasoningParam | null {
  if (reasoning === undefined) return null
  const { effort, summary } = reasoning
  if (effort === undefined && summary === undefined) return null
  return {
    ...(effort === undefined ? {} : { effort: effort === 'minimal' ? 'low' : effort }),
    ...(summary === undefined ? {} : { summary }),
  }
}

function textOf({ format, verbosity }: Given): TextParam | null {
  if (format === undefined && verbosity === undefined) return null
  return {
    ...(format === undefined ? {} : { format: formatOf(format) }),
    ...(verbosity === undefined ? {} : { verbosity }),
  }
}

function formatOf({
  name,
  description,
  schema,
  strict,
}: NonNullable<Given['format']>): JsonSchemaResponseFormatParam {
  const unsendable = findUnsendable(schema)
  if (unsendable !== null) throw new LoopchartError('agent_invalid', `format.schema: ${unsendable}`)
  // A copy: what is sent must not change when the caller's object does.
  const copy: JsonObject = JSON.parse(JSON.stringify(schema))
  return {
    type: 'json_schema',
    name,
    ...(description === undefined ? {} : { description }),
    schema: copy,
    ...(strict === undefined ? {} : { strict }),
  }
}
