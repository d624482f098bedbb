const STEPS: readonly (readonly [seconds: number, unit: string])[] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
]

/** How long ago something was, in one figure. */
export function agoText(thenMs: number, nowMs: number): string {
  const seconds = Math.floor((nowMs - thenMs) / 1000)
  const step = STEPS.find(([size]) => seconds >= size)
  return step === undefined ? 'now' : `${Math.floor(seconds / step[0])} ${step[1]} ago`
}
