import type { RespondError, RespondInput } from '../../machines/loop.types.ts'
import type { ProviderError } from '../protocol/provider-error.ts'
import type { StreamError } from '../stream/stream-error.ts'
import type { Agent } from './agent.ts'
import type { SendFault } from './model.ts'

/** What to do about a request that failed, before it began or in its stream. */
export type RequestFailure = { readonly fault: SendFault } | { readonly stream: StreamError }

/** Says whether and when a failed request may be sent again; jitter is included, so that the chart needs no dice. */
export function retryOf(agent: Agent, input: RespondInput, failure: RequestFailure): RespondError {
  const { code, message, provider } = 'fault' in failure ? failure.fault : failure.stream
  const isLost = input.previousResponseId !== null && provider?.code === 'previous_response_not_found'
  const isContinuity =
    isLost || (input.previousResponseId !== null && provider?.param === 'previous_response_id')
  const { isRetryable, retriesMax, retryAt } =
    'fault' in failure ? faultRetry(failure.fault) : streamRetry(failure.stream)
  const isFallback = agent.fallbackOn.has(code) || agent.fallbackOn.has(provider?.code ?? '')
  // Where another model can be asked, nobody waits for one that wants to be left alone for long.
  const isPassedOver = isFallback && input.model + 1 < agent.models.length && isLong(agent, retryAt)
  return {
    code: reasonOf(code, provider),
    message,
    retryAt:
      isRetryable && !isPassedOver
        ? (retryAt ?? Math.floor(agent.clock.now()) + backoffMs(agent, input.attempt))
        : null,
    retriesMax,
    isContinuity,
    isLost,
    isFallback,
  }
}

// Codes of ours that say no more than that there was an error.
const VAGUE: ReadonlySet<string> = new Set(['request_failed', 'request_refused', 'response_failed'])

/** Our own code; the provider's where ours says little and theirs is a word. */
function reasonOf(code: string, provider: ProviderError | null): string {
  const theirs = provider?.code ?? ''
  return VAGUE.has(code) && /^[a-z][a-z0-9_]{1,63}$/u.test(theirs) ? theirs : code
}

/** Whether a wait is longer than a run is held for. */
export function isLong({ clock, retry }: Agent, until: number | null): boolean {
  return until !== null && until - clock.now() > retry.suspendAfterMs
}

interface Retry {
  readonly isRetryable: boolean
  readonly retriesMax: number | null
  readonly retryAt: number | null
}

function faultRetry({ isRetryable, retryAt }: SendFault): Retry {
  return { isRetryable, retriesMax: null, retryAt }
}

const TRANSIENT: ReadonlySet<string> = new Set([
  'server_error',
  'model_error',
  'rate_limit_exceeded',
  'too_many_requests',
  'overloaded',
  'overloaded_error',
  'service_unavailable',
])

function streamRetry({ code, provider }: StreamError): Retry {
  switch (code) {
    case 'stream_truncated':
      return { isRetryable: true, retriesMax: null, retryAt: null }
    // What the provider garbled once it may get right; twice is its way.
    case 'malformed_event':
    case 'protocol_violation':
      return { isRetryable: true, retriesMax: 1, retryAt: null }
    case 'event_too_large':
    case 'response_too_large':
      return { isRetryable: false, retriesMax: null, retryAt: null }
    case 'response_failed': {
      const isTransient = TRANSIENT.has(provider?.code ?? '') || TRANSIENT.has(provider?.type ?? '')
      return { isRetryable: isTransient, retriesMax: null, retryAt: null }
    }
  }
}

/** Full jitter: anywhere between nothing and a wait that doubles with each attempt. */
function backoffMs({ retry, random }: Agent, attempt: number): number {
  return Math.floor(random() * Math.min(retry.waitMaxMs, retry.waitMs * 2 ** attempt))
}
