// The last moment that a Date can name.
const FAR_MS = 8.64e15
// A longer value is not one of the three forms.
const TEXT_MAX = 64

/** What of a response's head says when to come back. */
export interface RetryHeaders {
  readonly get: (name: string) => string | null
}

/**
 * When a provider asks to be tried again, in milliseconds of our clock; null when it does not say, or asks for no
 * wait. Read from `retry-after-ms` and from `Retry-After`, as seconds or as a date; never earlier than any of them
 * asks for. A date is also held against the provider's own clock: that one may be ahead of ours.
 */
export function retryAtOf(headers: RetryHeaders, nowMs: number): number | null {
  const read = (name: string): string => (headers.get(name) ?? '').trim().slice(0, TEXT_MAX)
  const after = read('retry-after')
  const dateMs = parseHttpDate(after)
  const theirNowMs = Math.min(nowMs, parseHttpDate(read('date')) ?? nowMs)
  const waitMs = Math.max(
    parseNumber(read('retry-after-ms')) ?? 0,
    (parseNumber(after) ?? 0) * 1000,
    dateMs === null ? 0 : dateMs - theirNowMs,
  )
  return waitMs > 0 ? Math.min(FAR_MS, Math.ceil(nowMs + waitMs)) : null
}

/** A number that is not negative. One beyond all numbers is Infinity: it was still asked to wait. */
function parseNumber(text: string): number | null {
  return /^\+?\d+(?:\.\d*)?(?:e[+-]?\d+)?$/iu.test(text) ? Number(text) : null
}

// Date.parse takes nearly anything, "-5" too, so the form is checked first.
const DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? [\w -]+ \d\d:\d\d:\d\d(?: (?:GMT|\d{4}))$/u

function parseHttpDate(text: string): number | null {
  if (!DATE.test(text)) return null
  // The oldest of the three forms names no zone, and means the same one.
  const ms = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(ms) ? null : ms
}
