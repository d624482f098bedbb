/** A step, as far as it matters here. */
interface StepPlace {
  readonly seq: number
  readonly state: string
}

/**
 * Whether a run has gone on from a state that it was in at a frame or came to after it. Not while the page has yet to
 * hear that the run was there.
 */
export function isOvertaken(steps: readonly StepPlace[], since: number, state: string): boolean {
  // Backwards: most of a long run was over before.
  for (let index = steps.length - 1; index >= 0; index -= 1) {
    const step = steps[index]
    if (step?.state === state) return index < steps.length - 1 && steps.at(-1)?.state !== state
    if ((step?.seq ?? 0) <= since) return false
  }
  return false
}
