/** How a call can end other than well; the closed set of docs/architecture.md without `ok`. */
export type FailedOutcome =
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

/**
 * What the model is told about a call that did not end well: what happened, and what it can do now. The detail
 * is the part that only the caller knows: a reason, a message, a limit. The same in, the same out: no times,
 * no ids.
 */
export function outcomeText(outcome: FailedOutcome, detail = ''): string {
  const about = detail === '' ? '' : `: ${detail}`
  switch (outcome) {
    case 'error':
      return `the tool failed${about}`
    case 'denied':
      return `a person declined this call, it did not run${about}; do not repeat it, ask or go another way`
    case 'timeout':
      return `the tool did not finish in time and was stopped${about}; it may have done part of its work`
    case 'cancelled':
      return `the call was cancelled${about}; it may have done part of its work`
    case 'unknown_tool':
      return `there is no such tool${about}`
    case 'bad_arguments':
      return `the arguments are not valid, the tool did not run${about}; correct them and call again`
    case 'not_allowed':
      return `this tool may not be used now, it did not run${about}`
    case 'duplicate':
      return `this call repeats the id of another one, it did not run${about}`
    case 'truncated':
      return `the response was cut off before this call was complete, it did not run${about}; call again`
    case 'limit':
      return `a limit of this run was reached, the call did not run${about}; answer with what you have`
    case 'outcome_unknown':
      return `the call was interrupted and nobody knows whether it took effect${about}; check before repeating it`
  }
}

/** The `exit_code` that the model sees for a call whose tool did not give one. */
export function exitCodeOf(outcome: FailedOutcome): number {
  return outcome === 'bad_arguments' ? 2 : 1
}
