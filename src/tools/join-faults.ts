const FAULTS_MAX = 5
const LENGTH_MAX = 1000

/** `a is missing; b must be string; and 3 more`: the first five faults, in at most 1,000 characters. */
export function joinFaults(faults: readonly string[], faultsTotal: number = faults.length): string {
  const shown = faults.slice(0, FAULTS_MAX)
  const more = faultsTotal - shown.length
  const text = [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
  return cutEnd(text, LENGTH_MAX)
}

/** A text with an ellipsis in place of what is over `lengthMax`. */
export function cutEnd(text: string, lengthMax: number): string {
  return text.length > lengthMax ? `${text.slice(0, lengthMax - 3)}...` : text
}
