const SECOND_MS = 1000
const MINUTE_S = 60
const HOUR_S = 3600

/** Time since the start of a run, in the same few figures whatever its size. */
export function offsetText(ms: number): string {
  const seconds = Math.max(0, ms) / SECOND_MS
  if (seconds < MINUTE_S) return `+${seconds.toFixed(seconds < 10 ? 3 : 2)}`
  const rest = Math.floor(seconds)
  const minutes = `${two(Math.floor((rest % HOUR_S) / MINUTE_S))}:${two(rest % MINUTE_S)}`
  return rest < HOUR_S ? `+${minutes}` : `+${Math.floor(rest / HOUR_S)}:${minutes}`
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}
