// Puts an agent together from rooms that do not know each other: the loop names what it needs, tools fit it.
import { agentCompaction, type CompactionOptions } from './agent-compaction.ts'
import { agentTool, type AgentToolOptions } from './agent-tool.ts'
import { systemClock, type Clock } from './clock.ts'
import { LoopchartError, type ErrorCode } from './errors.ts'
import {
  DEFAULT_LIMITS,
  fingerprintOf,
  type Agent,
  type AgentDescription,
  type RetryPolicy,
} from './loop/agent.ts'
import { requestBuilder } from './loop/build-request.ts'
import { resolveContinuity, type Continuity } from './loop/continuity.ts'
import type { Model } from './loop/model.ts'
import { parseRequestOptions, type RequestOptions, type RequestOptionsInput } from './loop/request-options.ts'
import { narrowToolChoice, toolChoiceFor, toolChoicePolicy } from './loop/tool-choice.ts'
import type { OutputCheck } from './loop/structured-output.ts'
import type { ToolPort } from './loop/tool-port.ts'
import { isJsonObject, type JsonObject } from './protocol/json.ts'
import type { ValidationProfile } from './protocol/validation-profile.ts'
import type { StreamLimits } from './stream/stream-limits.ts'
import { bindTools } from './tools/bind-tools.ts'
import { makePolicy, type Policy, type PolicyRule } from './tools/policy/policy.ts'
import { jsonSchemaChecker, standardChecker } from './tools/check-arguments.ts'
import type { CallResult } from './tools/run-call.ts'
import { isStandardSchema, jsonSchemaOf, type StandardSchema } from './tools/standard-schema.ts'
import type { Tool } from './tools/tool.ts'

export interface AgentLimits {
  readonly turns?: number
  readonly toolCalls?: number
  readonly tokens?: number
  /** How long a run may take. */
  readonly ms?: number
  /** How often the same call may give the same result. */
  readonly noProgress?: number
  readonly callsPerResponse?: number
}

export interface AgentOptions {
  /** Or several, in the order in which they are asked. */
  readonly model: Model | readonly Model[]
  /** The errors after which the next model is asked, by code; without it, those of a provider that does not work. */
  readonly fallbackOn?: readonly string[]
  readonly instructions?: string
  readonly tools?: readonly Tool[]
  /** What may be done without asking, what must be asked about, what may not be done: over what the tools ask for. */
  readonly policy?: readonly PolicyRule[]
  /**
   * Whether what the tools work on is trusted. Where it is not, only tools that are `readOnly` can be used. With either,
   * requests name the tools that may be called as `allowed_tools`.
   */
  readonly trust?: 'trusted' | 'untrusted'
  /**
   * Where untrusted tools are left out: of `tools` and of `allowed_tools`, or of the latter only, so that `tools` stays
   * the same for the cache of a provider.
   */
  readonly trustFilter?: 'both' | 'allowed_only'
  readonly limits?: AgentLimits
  /** What to do at a limit: stop, or let the model have a last word. */
  readonly onLimit?: 'stop' | 'wrap_up'
  /** What to do with a response that the provider cut short. */
  readonly onIncomplete?: 'stop' | 'continue'
  readonly continuity?: Continuity
  readonly toolExecution?: 'sequential' | 'parallel'
  readonly maxConcurrency?: number
  readonly retry?: Partial<RetryPolicy>
  /** Said after tool outputs, for providers that refuse input without a user message. */
  readonly followUpMessage?: string
  /** When the conversation of a run is made shorter, and how. */
  readonly compaction?: CompactionOptions
  /** The format of the answer: `result.output` is then what it parses to, as JSON. An answer that is not of it goes back once. */
  readonly output?: OutputFormat
  /** What goes into every request. */
  readonly request?: Omit<RequestOptionsInput, 'format'>
  readonly profile?: ValidationProfile
  readonly streamLimits?: Partial<StreamLimits>
  readonly clock?: Clock
  /** From 0 up to 1; for waits. */
  readonly random?: () => number
}

export interface OutputFormat {
  /** 1 to 64 letters, digits, `_` or `-`. */
  readonly name: string
  readonly description?: string
  /** A schema of a library that gives JSON Schema, such as zod 4, or raw JSON Schema. */
  readonly schema: StandardSchema | JsonObject
  readonly strict?: boolean
}

const RETRY: RetryPolicy = { times: 4, waitMs: 500, waitMaxMs: 30_000, suspendAfterMs: 120_000 }

// Of a provider that is not there, not well, or not willing just now.
const FALLBACK_ON: readonly ErrorCode[] = [
  'connect_failed',
  'connect_timeout',
  'tls_failed',
  'headers_timeout',
  'stream_stalled',
  'stream_no_progress',
  'stream_truncated',
  'response_timeout',
  'connection_lost',
  'endpoint_not_found',
  'quota_used_up',
  'provider_rate_limited',
  'provider_unavailable',
  'malformed_event',
  'protocol_violation',
]

/** An agent that can also be a tool of another one. */
export interface ToolableAgent extends Agent {
  readonly asTool: (options: AgentToolOptions) => Tool
}

/** Describes an agent. Throws at once when it cannot work; nothing is sent before `run`. */
export function agent(options: AgentOptions): ToolableAgent {
  const described = describeAgent(options)
  return { ...described, asTool: (toolOptions) => agentTool(described, toolOptions) }
}

function describeAgent(options: AgentOptions): Agent {
  const { instructions = null, clock = systemClock } = options
  const models = modelsOf(options)
  checkOptions(options)
  const toolExecution = options.toolExecution ?? 'sequential'
  const { tools, trustedNames } = trustedTools(options)
  const names = namesOf(tools)
  const format = options.output === undefined ? null : formatOf(options.output)
  const request = format === null ? (options.request ?? {}) : { ...options.request, format: format.declared }
  const asked = parseRequestOptions(request, { toolExecution, toolNames: names })
  const requestOptions =
    trustedNames === null ? asked : { ...asked, toolChoice: narrowToolChoice(asked.toolChoice, trustedNames) }
  const rules = options.policy === undefined ? null : makePolicy(options.policy, namesOf(options.tools ?? []))
  const toolPort = portOf(tools, requestOptions, { clock, rules })
  const compaction = agentCompaction(options.compaction, models)
  const retry = { ...RETRY, ...given(options.retry ?? {}) }
  const [{ mode, maySwitchMode }, ...fallbacks] = mapModels(models, ({ canContinueById }) => {
    const { store, encryptedReasoning } = requestOptions
    return resolveContinuity({
      continuity: options.continuity ?? null,
      store,
      encryptedReasoning,
      canContinueById,
    })
  })
  const described = models.map((model) => ({
    model: model.name,
    instructions,
    definitions: toolPort.definitions,
    requestOptions: withContinuityWarning(requestOptions, options.continuity, model),
    stream: model.isStreamed,
    unsupported: model.unsupported ?? [],
  }))
  return {
    models,
    fallbackOn: new Set(options.fallbackOn ?? FALLBACK_ON),
    tools: toolPort,
    clock,
    random: options.random ?? Math.random,
    retry,
    profile: options.profile ?? null,
    streamLimits: given(options.streamLimits ?? {}),
    continuity: options.continuity ?? mode,
    wallTimeMs: positive('limits.ms', options.limits?.ms) ?? null,
    buildRequest: requestBuilder(described.map((plan) => ({ ...plan, answerText: toolPort.answerText }))),
    description: describe(described, tools),
    checkOutput: format?.check ?? null,
    compaction: compaction?.port ?? null,
    settings: {
      limits: limitsOf(options.limits ?? {}),
      onLimit: options.onLimit ?? 'stop',
      onIncomplete: options.onIncomplete ?? 'stop',
      mode,
      fallbackModes: fallbacks.map((fallback) => fallback.mode),
      maySwitchMode,
      toolExecution,
      maxConcurrency: positive('maxConcurrency', options.maxConcurrency) ?? 4,
      retriesMax: retry.times,
      repairsMax: format === null ? 0 : 1,
      followUpMessage: options.followUpMessage ?? models[0].followUpMessage ?? null,
      continueMessage: 'Continue where you stopped.',
      compactAtTokens: compaction?.atTokens ?? null,
      compactAtItems: compaction?.atItems ?? null,
    },
  }
}

/** What was asked for by name is done, also where it is known not to work; but not without a word. */
function withContinuityWarning(
  requestOptions: RequestOptions,
  continuity: Continuity | undefined,
  { name, canContinueById }: Model,
): RequestOptions {
  if (continuity !== 'previous_response_id' || canContinueById !== false) return requestOptions
  const warning = `${name} is known not to keep responses, and is sent previous_response_id as asked`
  return { ...requestOptions, warnings: [...requestOptions.warnings, warning] }
}

function describe(plans: AgentDescription['plans'], tools: readonly Tool[]): AgentDescription {
  const encodings = Object.fromEntries(
    tools.flatMap(({ name, aliases, outputEncoding }) =>
      [name, ...aliases].map((one) => [one, outputEncoding]),
    ),
  )
  return { fingerprint: fingerprintOf({ plans, encodings }), plans, encodings }
}

/** The tools that are declared, and the names of those that may be called; null: nothing is known about trust. */
function trustedTools({ tools = [], trust, trustFilter }: AgentOptions): {
  readonly tools: readonly Tool[]
  readonly trustedNames: readonly string[] | null
} {
  if (trust === undefined) return { tools, trustedNames: null }
  const trusted = trust === 'trusted' ? tools : tools.filter(({ readOnly }) => readOnly)
  return { tools: trustFilter === 'allowed_only' ? tools : trusted, trustedNames: namesOf(trusted) }
}

function namesOf(tools: readonly Tool[]): readonly string[] {
  return tools.flatMap(({ name, aliases }) => [name, ...aliases])
}

type Models = readonly [Model, ...Model[]]

function modelsOf({ model }: AgentOptions): Models {
  const [first, ...rest] = Array.isArray(model) ? model : [model]
  const models: readonly unknown[] = [first, ...rest]
  if (models.some((one) => typeof Object(one).send !== 'function')) {
    throw new LoopchartError(
      'agent_invalid',
      'model must be a model, with a function send, or a list of them',
    )
  }
  return [first, ...rest]
}

function mapModels<T>([first, ...rest]: Models, map: (model: Model) => T): readonly [T, ...T[]] {
  return [map(first), ...rest.map(map)]
}

/** How the format is declared to the model, and how an answer is held against it. */
function formatOf({ schema, ...rest }: OutputFormat): {
  readonly declared: NonNullable<RequestOptionsInput['format']>
  readonly check: OutputCheck
} {
  const isLibrary = isStandardSchema(schema)
  const jsonSchema = isLibrary ? jsonSchemaOf(schema) : schema
  if (!isJsonObject(jsonSchema)) {
    throw new LoopchartError('agent_invalid', 'output.schema gives no JSON Schema')
  }
  const checker = isLibrary ? standardChecker(schema) : jsonSchemaChecker(jsonSchema)
  const check: OutputCheck = async (value) => {
    if (!isJsonObject(value)) return { output: null, fault: 'it must be an object' }
    const checked = await checker(value)
    return checked.ok
      ? { output: checked.value, fault: null }
      : { output: null, fault: checked.faults.join('; ') }
  }
  return { declared: { ...rest, schema: jsonSchema }, check }
}

const CHOICES = {
  onLimit: ['stop', 'wrap_up'],
  onIncomplete: ['stop', 'continue'],
  continuity: ['previous_response_id', 'stateless', 'auto'],
  toolExecution: ['sequential', 'parallel'],
  trust: ['trusted', 'untrusted'],
  trustFilter: ['both', 'allowed_only'],
} as const

// A record, so that an option that is added and not listed here does not compile.
const OPTIONS: Readonly<Record<keyof AgentOptions, true>> = {
  model: true,
  fallbackOn: true,
  instructions: true,
  tools: true,
  policy: true,
  trust: true,
  trustFilter: true,
  limits: true,
  onLimit: true,
  onIncomplete: true,
  continuity: true,
  toolExecution: true,
  maxConcurrency: true,
  retry: true,
  followUpMessage: true,
  compaction: true,
  output: true,
  request: true,
  profile: true,
  streamLimits: true,
  clock: true,
  random: true,
}

/** What types say already, for those who have none: wrong options are refused here and not at the first request. */
function checkOptions(options: AgentOptions): void {
  const unknown = Object.keys(options).find((option) => !Object.hasOwn(OPTIONS, option))
  if (unknown !== undefined) {
    throw new LoopchartError('agent_invalid', `there is no option ${JSON.stringify(unknown)}`)
  }
  for (const [field, choices] of Object.entries(CHOICES)) {
    const value: unknown = Object(options)[field]
    const isKnown = value === undefined || choices.some((choice) => choice === value)
    if (!isKnown) throw new LoopchartError('agent_invalid', `${field} must be ${choices.join(' or ')}`)
  }
  if (options.profile !== undefined && typeof options.profile.checkEvent !== 'function') {
    throw new LoopchartError('agent_invalid', 'profile must be a validation profile, such as tolerant')
  }
  for (const [field, value] of Object.entries({ ...options.retry, ...options.streamLimits }))
    whole(field, value)
  if (Object.hasOwn(options.request ?? {}, 'format')) {
    throw new LoopchartError(
      'agent_invalid',
      'request.format: say it as output, so that answers are held to it',
    )
  }
}

/** The fields that have a value: one that is undefined must not hide its default. */
function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> }
function given(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function limitsOf(limits: AgentLimits): Agent['settings']['limits'] {
  return {
    turns: positive('limits.turns', limits.turns) ?? DEFAULT_LIMITS.turns,
    toolCalls: whole('limits.toolCalls', limits.toolCalls) ?? DEFAULT_LIMITS.toolCalls,
    tokens: positive('limits.tokens', limits.tokens) ?? DEFAULT_LIMITS.tokens,
    noProgress: positive('limits.noProgress', limits.noProgress) ?? DEFAULT_LIMITS.noProgress,
    callsPerResponse:
      positive('limits.callsPerResponse', limits.callsPerResponse) ?? DEFAULT_LIMITS.callsPerResponse,
  }
}

function positive(field: string, value: number | undefined): number | undefined {
  if (whole(field, value) === 0) throw new LoopchartError('agent_invalid', `${field} must be at least 1`)
  return value
}

function whole(field: string, value: number | undefined): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value >= 0)) return value
  throw new LoopchartError('agent_invalid', `${field} must be a whole number`)
}

/**
 * Fits tools to what the loop needs. The choice of tools is enforced here too: a forced choice until it was followed,
 * a list of allowed ones always.
 */
function portOf(
  tools: readonly Tool[],
  { toolChoice, stickyToolChoice }: RequestOptions,
  bound: { readonly clock: Clock; readonly rules: Policy | null },
): ToolPort {
  const policyWhen = (isChoiceSatisfied: boolean): ReturnType<typeof toolChoicePolicy> =>
    toolChoicePolicy(toolChoiceFor(toolChoice, stickyToolChoice, { kind: 'follow_up', isChoiceSatisfied }))
  const first = bindTools(tools, { ...bound, policy: policyWhen(false) })
  const later = bindTools(tools, { ...bound, policy: policyWhen(true) })
  return {
    definitions: first.definitions.map((definition) => ({ ...definition })),
    readOnlyTools: namesOf(tools.filter(({ readOnly }) => readOnly)),
    appraise: (call, isChoiceSatisfied) => (isChoiceSatisfied ? later : first).appraise(call),
    answerText: first.answerText,
    claim: first.claim,
    run: async (call, { key, timeoutMs, signal, onOutput, onLate, runAgent }) => {
      const { refusal, approval, argumentsHash } = call.facts
      // A call that was forbidden is told so again: what forbids it looks at more than the tool does.
      if (refusal?.outcome === 'not_allowed') return first.refuse(call, refusal)
      const late = Promise.withResolvers<CallResult>()
      const wasAborted = signal.aborted
      const approvedHash = approval === null ? undefined : argumentsHash
      const run = { key, timeoutMs, approvedHash, onOutput, onLate: late.resolve, runAgent, signal }
      const result = await later.run(call, run)
      if (result.outcome === 'timeout') void late.promise.then(({ outcome }) => onLate(outcome))
      if (result.outcome !== 'cancelled' || wasAborted) return result
      // Whoever stops a run listens for what the tool really came to; for a while, and then no more.
      const answered = await late.promise
      return answered.outcome === 'ok' ? answered : result
    },
  }
}
