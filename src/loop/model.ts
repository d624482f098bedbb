import type { ProviderError } from '../protocol/provider-error.ts'

/** What a provider says before the body. */
export interface ResponseHead {
  readonly status: number
  readonly requestId: string | null
  readonly contentType: string | null
}

/** A part of a text, and how many bytes it is in UTF-8. */
export interface TextPiece {
  readonly text: string
  readonly byteLength: number
}

export interface ModelRequest {
  /** The exact text to send. */
  readonly body: string
  /**
   * The same text in pieces, where it carries the whole conversation and so has most in common with the one before. To send
   * it piece by piece takes far less than to make it one.
   */
  readonly pieces?: readonly TextPiece[] | undefined
  /** The same for every attempt at one request. */
  readonly idempotencyKey: string
  readonly signal: AbortSignal
  readonly onHead: (head: ResponseHead) => void
  /** Takes the next bytes of the body; false: read no further and drop the connection. */
  readonly onChunk: (chunk: Uint8Array) => boolean
}

/** Why a request came to nothing before, or beside, its body. */
export interface SendFault {
  readonly code: string
  readonly message: string
  /** What the provider itself said, when it said something. */
  readonly provider: ProviderError | null
  readonly isRetryable: boolean
  /** When the provider asked to be tried again, in milliseconds of the wall clock; null: it did not say. */
  readonly retryAt: number | null
  /** What came instead of a response, as far as it is kept: for the log. */
  readonly body?: string | null
}

/** Sends one request and reports its response. Resolves with null when the body ended; it never rejects. */
export type SendRequest = (request: ModelRequest) => Promise<SendFault | null>

/** A model behind an Open Responses endpoint. */
export interface Model {
  readonly name: string
  readonly endpoint: string
  readonly isStreamed: boolean
  /** Whether it keeps responses and continues by `previous_response_id`; null: not known. */
  readonly canContinueById: boolean | null
  /** Request fields that it refuses: they are left out, and a warning says so. */
  readonly unsupported?: readonly string[]
  /** Said after tool outputs, when it refuses input without a user message. */
  readonly followUpMessage?: string | null
  /** Whether it takes the calls of earlier runs as `function_call` items; where that is not known, it is not asked to. */
  readonly nativeToolHistory?: boolean
  /** How many tokens a request and its response may have together; null or left out: not known. */
  readonly contextWindow?: number | null
  /** The provider's own compaction; null or left out: it has none. */
  readonly compact?: CompactEndpoint | null
  readonly send: SendRequest
}

/** Where a provider makes a conversation shorter: its answer is one JSON body, not a stream. */
export interface CompactEndpoint {
  readonly endpoint: string
  readonly send: SendRequest
}
