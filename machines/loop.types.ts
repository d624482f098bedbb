import type { AnyItem } from '../src/protocol/items.ts'
import type { JsonObject } from '../src/protocol/json.ts'

/** How a follow-up request carries the conversation. */
export type ContinuityMode = 'previous_response_id' | 'stateless'

/** How a call ended. */
export type Outcome =
  | 'ok'
  | 'error'
  | 'denied'
  | 'timeout'
  | 'cancelled'
  | 'unknown_tool'
  | 'bad_arguments'
  | 'not_allowed'
  | 'duplicate'
  | 'truncated'
  | 'limit'
  | 'outcome_unknown'

export type LimitName = 'turns' | 'tool_calls' | 'tokens' | 'wall_time' | 'no_progress'

/** What the loop may use up; null means without limit. */
export interface LoopLimits {
  readonly turns: number
  readonly toolCalls: number
  readonly tokens: number | null
  /** How often the same call may give the same result. */
  readonly noProgress: number
  /** How many calls of one response are answered by running them. */
  readonly callsPerResponse: number
}

/** What a run is told at its start and keeps to. */
export interface LoopSettings {
  readonly limits: LoopLimits
  readonly onLimit: 'stop' | 'wrap_up'
  /** What to do with a response that the provider cut short. */
  readonly onIncomplete: 'stop' | 'continue'
  readonly mode: ContinuityMode
  /** The same for each further model of the list, in the order in which they are asked. */
  readonly fallbackModes: readonly ContinuityMode[]
  /** May turn to stateless once, when the provider cannot continue by id. */
  readonly maySwitchMode: boolean
  readonly toolExecution: 'sequential' | 'parallel'
  readonly maxConcurrency: number
  /** How often one request may be sent again. */
  readonly retriesMax: number
  /** How often an answer of the wrong format is sent back. */
  readonly repairsMax: number
  /** Said after tool outputs, for providers that refuse input without a user message. */
  readonly followUpMessage: string | null
  /** Said to a model that was cut short and may go on. */
  readonly continueMessage: string
  /** Makes the conversation shorter when a response has used so many tokens. */
  readonly compactAtTokens: number | null
  /** The same when the conversation has so many items. */
  readonly compactAtItems: number | null
}

export interface LoopInput {
  readonly items: readonly AnyItem[]
  readonly settings: LoopSettings
  /** Milliseconds of the wall clock; null: no limit of wall time. */
  readonly deadlineAt: number | null
  /** How long that is from the start. */
  readonly wallTimeMs: number | null
  /** Where the provider's own memory of an earlier run is gone on from; null: it has none, or it is not used. */
  readonly cursor: (Pick<LoopContext, 'knownItems'> & { readonly responseId: string }) | null
}

/** What somebody is asked about a call. */
export interface ApprovalQuestion {
  /** Why, in one word. */
  readonly reason: string
  /** No answer for the whole run covers it. */
  readonly isEachTime: boolean
  /** What would happen, as a person is shown it. */
  readonly shown: string
}

/** How far an answer reaches in its run: the same tool with the same arguments, or the tool. */
export type ApprovalScope = 'call' | 'tool'

/** An answer that holds for the rest of the run. */
export interface RememberedAnswer {
  readonly isApproved: boolean
  /** For the model, when it is a no. */
  readonly reason: string
}

/** What is known of a call before it runs. */
export interface CallFacts {
  /** The tool's own name; null when there is none. */
  readonly tool: string | null
  /** Why it will not run, whatever anybody decides. */
  readonly refusal: { readonly outcome: Outcome; readonly message: string } | null
  /** Why somebody must agree first; null: nobody need be asked. */
  readonly approval: ApprovalQuestion | null
  readonly readOnly: boolean
  readonly idempotent: boolean
  /** Resources it shares with others; null: it conflicts with every call. */
  readonly conflicts: readonly string[] | null
  readonly timeoutMs: number
  readonly maxCalls: number | null
  readonly argumentsHash: string
}

/** A call as the response brought it. */
export interface ProposedCall {
  readonly slot: number
  readonly outputIndex: number
  readonly itemId: string | null
  readonly callId: string
  readonly name: string
  readonly arguments: string
  readonly disposition: 'ready' | 'bad_arguments' | 'duplicate' | 'truncated'
  readonly facts: CallFacts
}

/** How a call ended, and what the model gets for it. */
export interface CallAnswer {
  readonly outcome: Outcome
  /** Null where the call did not run: the request then says so in words that go with the outcome. */
  readonly output: string | readonly JsonObject[] | null
  /** What a person or a rule said about it. */
  readonly detail: string | null
}

/** Where a call of the current response stands. */
export interface LoopCall extends ProposedCall {
  readonly status: 'undecided' | 'runnable' | 'running' | 'inDoubt' | 'settled'
  readonly attempt: number
  readonly answer: CallAnswer | null
}

export interface TokenUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly cached: number
  readonly reasoning: number
}

/** What a response came to, in the words of the chart. */
export interface LoopResponse {
  readonly responseId: string | null
  readonly status: 'completed' | 'incomplete'
  readonly incompleteReason: string | null
  readonly items: readonly AnyItem[]
  readonly calls: readonly ProposedCall[]
  readonly text: string
  /** What the text parses to, for an agent that asks for a format. */
  readonly output: unknown
  /** Why the text is not of the format asked for; null when it is, or none was. */
  readonly formatFault: string | null
  readonly usage: TokenUsage | null
}

/** Why a request gave no response. */
export interface RespondError {
  readonly code: string
  readonly message: string
  /** When it may be sent again; null: not at all. */
  readonly retryAt: number | null
  /** How often at most, when that is less than usual. */
  readonly retriesMax: number | null
  /** The provider cannot continue by `previous_response_id`. */
  readonly isContinuity: boolean
  /** It can, but has no such response any more. */
  readonly isLost: boolean
  /** The next model of the list may be asked instead. */
  readonly isFallback: boolean
}

export type RespondOutput =
  | { readonly ok: true; readonly response: LoopResponse }
  | { readonly ok: false; readonly error: RespondError; readonly usage: TokenUsage | null }

export interface RunToolOutput extends CallAnswer {
  /** What it used itself, when it asks a model. */
  readonly usage: TokenUsage | null
  /** Equal for equal outputs, and never long. */
  readonly outputHash: string
}

/** Who makes a conversation shorter: rules, the model, the provider's own endpoint, or a function of the user's. */
export type CompactionWay = 'rules' | 'model' | 'provider' | 'custom'

export interface CompactInput {
  readonly turn: number
  readonly attempt: number
  /** Place in the list of models. */
  readonly model: number
  readonly items: readonly AnyItem[]
  /** What the last response used with all of them but the newest, as the provider counts; null: it did not say. */
  readonly usedTokens: number | null
  /** What the run may still use up, for a summary that is a run of its own. */
  readonly left: RunBudget
}

export type CompactOutput =
  | {
      readonly ok: true
      readonly items: readonly AnyItem[]
      readonly usage: TokenUsage | null
      readonly way: CompactionWay
      /** Why it was not the way that was asked for; null: it was. */
      readonly detail: string | null
      /** Estimates, before and after. */
      readonly tokensBefore: number
      readonly tokensAfter: number
    }
  | { readonly ok: false; readonly message: string; readonly usage: TokenUsage | null }

/** What calls that were aborted answered all the same. */
export type DrainOutput = readonly {
  readonly slot: number
  readonly answer: CallAnswer
  readonly usage: TokenUsage | null
}[]

type RequestKind = 'initial' | 'follow_up' | 'wrap_up'

export interface RespondInput {
  readonly kind: RequestKind
  readonly turn: number
  readonly attempt: number
  /** Place in the list of models. */
  readonly model: number
  readonly mode: ContinuityMode
  readonly previousResponseId: string | null
  readonly items: readonly AnyItem[]
  readonly toolCallsLeft: number
  /** A call was made already: a choice that forced one is free from now on. */
  readonly isChoiceSatisfied: boolean
}

export interface RunToolInput {
  readonly turn: number
  readonly call: ProposedCall
  readonly attempt: number
  /** What the run may still use up, for a call that is a run of its own. */
  readonly left: RunBudget
}

/** What is left of the limits of a run; null means without limit. */
export interface RunBudget {
  readonly toolCalls: number
  readonly tokens: number | null
  /** Milliseconds of the wall clock. */
  readonly deadlineAt: number | null
}

/** The question that an approval or a denial answers. */
interface CallQuestion {
  readonly callId: string
  /** The arguments that were shown, by hash: an answer about others is refused. */
  readonly argumentsHash?: string
  /** The answer holds for the rest of the run. */
  readonly remember?: ApprovalScope
}

export type LoopCommand =
  | { readonly type: 'run.cancel'; readonly reason?: string }
  | { readonly type: 'run.steer'; readonly text: string }
  | ({ readonly type: 'call.approve' } & CallQuestion)
  | ({ readonly type: 'call.deny'; readonly reason: string } & CallQuestion)
  | { readonly type: 'call.reconcile'; readonly callId: string; readonly as: 'rerun' }
  | {
      readonly type: 'call.reconcile'
      readonly callId: string
      readonly as: 'done' | 'failed'
      readonly output: string
    }

/** What a command came to. */
export interface CommandAnswer {
  readonly answer: 'accepted' | 'queued' | 'refused'
  /** Why it was refused; null otherwise. */
  readonly reason: string | null
}

export type LoopEvent =
  | LoopCommand
  | { readonly type: 'stream.opened' }
  | {
      readonly type: 'effect.inDoubt'
      readonly id: string
      /** It is known not to have done anything. */
      readonly isUntouched?: boolean
    }
  | {
      readonly type: `xstate.done.actor.tool.${number}`
      readonly output: RunToolOutput
      readonly actorId: string
    }
  | { readonly type: `xstate.error.actor.${string}`; readonly error: unknown; readonly actorId: string }

type FinalState = 'done' | 'limitExceeded' | 'failed' | 'cancelled'

/** Where the run is about to end, and why. */
export interface LoopEnding {
  readonly state: FinalState
  /** From a closed set: `completed`, a limit's name, an error's code, `incomplete`, `cancelled`. */
  readonly reason: string
  readonly message: string
}

/** A message for the next request. */
export interface QueuedMessage {
  readonly text: string
  /** The loop says it itself, so that the model goes on; left out: somebody said it. */
  readonly by?: 'loop'
}

/** Where requests go, and how they carry the conversation. */
interface LoopRoute {
  /** Place in the list of models. */
  readonly model: number
  readonly mode: ContinuityMode
  /** The attempt at the current request with which it was first sent to this model. */
  readonly since: number
}

export interface LoopContext {
  readonly settings: LoopSettings
  readonly deadline: Pick<LoopInput, 'deadlineAt' | 'wallTimeMs'>
  readonly route: LoopRoute
  readonly kind: RequestKind
  readonly turn: number
  readonly attempt: number
  /** Everything said so far, in the order in which the model sees it. */
  readonly items: readonly AnyItem[]
  /** How many of them the provider has by way of `responseId`. */
  readonly knownItems: number
  readonly responseId: string | null
  readonly response: LoopResponse | null
  readonly error: RespondError | null
  readonly calls: readonly LoopCall[]
  readonly steers: readonly QueuedMessage[]
  /** Answers that hold for the rest of the run, by what they are about. */
  readonly remembered: Readonly<Record<string, RememberedAnswer>>
  /** Calls that were run or asked about. */
  readonly counts: { readonly toolCalls: number; readonly byTool: Readonly<Record<string, number>> }
  /** The latest calls with their results, by hash of both. */
  readonly recentResults: readonly string[]
  readonly repairs: number
  readonly usage: TokenUsage
  readonly ending: LoopEnding | null
}

export interface LoopOutput extends LoopEnding {
  readonly text: string
  readonly output: unknown
  readonly turns: number
  readonly usage: TokenUsage
  readonly reasoning: readonly AnyItem[]
  readonly unansweredCalls: readonly string[]
}

/** What a conversation has too much of. */
export type CompactionCause = 'tokens' | 'items'

/** What the chart tells besides its state. */
export type LoopEmitted =
  | {
      readonly type: 'retry_scheduled'
      readonly cause: string
      readonly attempt: number
      readonly retryAt: number
    }
  | { readonly type: 'continuity_switched'; readonly cause: string }
  | { readonly type: 'cursor_updated'; readonly reason: string; readonly previousResponseId: string }
  | { readonly type: 'provider_switched'; readonly cause: string; readonly from: number; readonly to: number }
  | {
      readonly type: 'limit_reached'
      readonly limit: LimitName
      readonly used: number
      readonly allowed: number
    }
  | { readonly type: 'batch_planned'; readonly slots: readonly number[] }
  | { readonly type: 'approval_requested'; readonly callId: string }
  | {
      readonly type: 'history_compacted'
      readonly cause: CompactionCause
      readonly way: CompactionWay
      readonly detail: string | null
      readonly itemsBefore: number
      readonly itemsAfter: number
      readonly tokensBefore: number
      readonly tokensAfter: number
    }
  | {
      readonly type: 'call_settled'
      readonly callId: string
      readonly name: string
      readonly answer: CallAnswer
    }
