/** How long ago something was, for a table: `now`, `5 min`, `3 h`, `12 d`. */
export function ageOf(ms: number): string {
  const minutes = Math.max(Math.floor(ms / 60_000), 0)
  if (minutes < 1) return 'now'
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`
}
