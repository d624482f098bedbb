import { FrameRedactor } from '../frames/redact-frames.ts'
import type { Redactor } from '../frames/redactor.ts'
import type { Run } from '../loop/run.ts'
import type { Log } from './log.ts'

/** What notes in a log what each run does from a frame on, as other verbs do it for theirs. */
export function logRuns(log: Log, redactor: Redactor): (run: Run, from: number) => void {
  return (run, from) => {
    logRun(log, redactor, run, from).catch(() => log.warn(`run ${run.id} cannot be logged any further`))
  }
}

async function logRun(log: Log, redactor: Redactor, run: Run, from: number): Promise<void> {
  const shown = new FrameRedactor(redactor)
  for await (const frame of run.frames(from)) for (const one of shown.push(frame)) log.frame(one)
  for (const one of shown.end()) log.frame(one)
}
