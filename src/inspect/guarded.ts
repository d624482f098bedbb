import type { Inspect } from './inspection-event.ts'

/** An inspector that cannot harm the run: once it has thrown it is told nothing more, and that is said. */
export function guarded(inspect: Inspect): Inspect {
  let isBroken = false
  return (event) => {
    if (isBroken) return
    try {
      inspect(event)
    } catch (error) {
      isBroken = true
      const why = error instanceof Error ? error.message : String(error)
      process.emitWarning(`an inspector threw and is told nothing more: ${why}`, 'LoopchartWarning')
    }
  }
}
