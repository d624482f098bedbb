import type { TurnResult } from '../../src/conversation/conversation-api.ts'
import { answerTo, CHAIN_LENGTH, childOf, NO_RESULT, steeredOf, type Directive } from './directive.ts'

/** What a message must come to. */
export interface ExpectedResult {
  readonly state: 'done' | 'failed' | 'cancelled'
  /** Null: any. */
  readonly reason: string | null
  /** Null: any. */
  readonly text: string | null
}

/** What a message must come to by what it asks for. `isSteered`: what was said in the middle was taken. */
export function expectedResult(directive: Directive, isSteered: boolean): ExpectedResult {
  switch (directive.kind) {
    case 'down':
      return { state: 'failed', reason: 'provider_unavailable', text: null }
    case 'torn':
      return { state: 'failed', reason: 'stream_truncated', text: null }
    case 'silent':
      return { state: 'failed', reason: 'stream_stalled', text: null }
    case 'cancel-stream':
    case 'cancel-tool':
    case 'cancel-wait':
    case 'abort':
    case 'abandon':
      return { state: 'cancelled', reason: null, text: null }
    case 'steer':
      return done(answerTo(isSteered ? steeredOf(directive) : directive, []))
    default:
      return done(answerTo(directive, resultsOf(directive)))
  }
}

function done(text: string): ExpectedResult {
  return { state: 'done', reason: 'completed', text }
}

/** What the last calls of a message give. */
function resultsOf(directive: Directive): readonly string[] {
  const { kind, a, b } = directive
  switch (kind) {
    case 'tool':
      return [`${a + b}`]
    case 'chain':
      return [`${a + b * CHAIN_LENGTH}`]
    case 'parallel':
      return [`${a + b}`, 'waited 40', `${b + b}`]
    case 'throws':
    case 'timeout':
    case 'late':
    case 'deny':
      return [NO_RESULT]
    case 'approve':
    case 'close-approval':
      return [`paid ${a}`]
    case 'close-tool':
      return ['waited 500']
    case 'subagent':
      return [answerTo(childOf(directive), [`${a + b}`])]
    default:
      return []
  }
}

/** What is wrong with what a message came to; null: it is as it must be. */
export function findWrong(expected: ExpectedResult, result: TurnResult): string | null {
  if (result.status === 'refused') return `it was refused: ${result.reason}: ${result.message}`
  const { state, reason, message, text } = result
  const came = `it came to ${result.status} ${state} (${reason}: ${message})`
  if (result.status !== 'ended' || state !== expected.state) return `${came}, not to ${expected.state}`
  if (expected.reason !== null && reason !== expected.reason) return `${came}, not for ${expected.reason}`
  if (expected.text !== null && text !== expected.text)
    return `the answer is ${JSON.stringify(text.slice(0, 300))}, not ${JSON.stringify(expected.text.slice(0, 300))}`
  return null
}
