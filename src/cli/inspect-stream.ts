import type { Frame } from '../frames/generated/frame.ts'
import { FrameRedactor } from '../frames/redact-frames.ts'
import type { Redactor } from '../frames/redactor.ts'
import { connectStately } from '../inspect/connect-stately.ts'
import { Inspection } from '../inspect/inspection.ts'
import type { Inspect, InspectionEvent } from '../inspect/inspection-event.ts'
import { ndjsonFile } from '../inspect/ndjson-file.ts'
import { ExitCode } from './exit-code.ts'
import type { InspectedLog } from './inspect-log.ts'
import { listenToSignals } from './listen-to-signals.ts'
import { safeJson } from './safe-text.ts'
import type { Say } from './say-to.ts'

/** Where the inspection events of a log go, besides the page. */
export interface StreamFlags {
  readonly ndjson?: string
  readonly stately?: string
}

/** Takes events, and is closed when none follow. */
interface Sink {
  readonly inspect: Inspect
  readonly close: () => void | Promise<void>
  /** Resolves when it takes more; one without takes what it is given. */
  readonly ready?: () => Promise<void>
}

const FRAMES_MAX = 500

/**
 * Sends the inspection events of a log to a file or an inspector, and follows it while another process drives the run.
 * An inspector is kept until a signal, for whoever looks at it later. Resolves with the exit code.
 */
export async function streamLog(
  log: InspectedLog,
  { ndjson, stately }: StreamFlags,
  redactor: Redactor,
  say: Say,
): Promise<number> {
  const told = Promise.withResolvers<void>()
  const sinks: Sink[] = []
  if (ndjson !== undefined) sinks.push(ndjson === '-' ? standardOutput : ndjsonFile(ndjson))
  if (stately !== undefined) sinks.push(statelySink(stately, say))
  const release = listenToSignals({ cancel: told.resolve, leave: told.resolve })
  try {
    const inspection = new Inspection()
    for await (const frame of framesOf(log, redactor, told.promise)) {
      for (const { ready } of sinks) if (ready !== undefined) await Promise.race([ready(), told.promise])
      for (const event of inspection.add(frame)) for (const { inspect } of sinks) inspect(event)
    }
    if (stately !== undefined) await told.promise
    return ExitCode.ok
  } finally {
    release()
    for (const sink of sinks) await sink.close()
  }
}

function statelySink(url: string, say: Say): Sink {
  const connection = connectStately(url, { notify: say, onFault: say })
  return {
    inspect: connection.inspect,
    close: () => connection.close(),
    ready: () => connection.ready(),
  }
}

const standardOutput: Sink = {
  inspect: (event: InspectionEvent) => void process.stdout.write(`${safeJson(JSON.stringify(event))}\n`),
  close: () => undefined,
}

/** The frames of a log as they may be shown, until it ends, nobody drives the run, or somebody has seen enough. */
async function* framesOf(
  { store, runId }: InspectedLog,
  redactor: Redactor,
  told: Promise<void>,
): AsyncGenerator<Frame> {
  const shown = new FrameRedactor(redactor)
  const cursor = store.cursor(runId, 0)
  void told.then(() => cursor.close())
  try {
    for (;;) {
      const isDriven = store.find(runId)?.owner != null
      const frames = cursor.take(FRAMES_MAX)
      for (const frame of frames) yield* shown.push(frame)
      if (cursor.isEnded || (frames.length === 0 && !cursor.isBehind && !isDriven)) break
      if (frames.length === 0) await cursor.changed()
    }
    yield* shown.end()
  } finally {
    cursor.close()
  }
}
