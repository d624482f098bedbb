import { Buffer } from 'node:buffer'

import { LoopchartError } from '../errors.ts'
import { FRAME_VERSION } from '../frames/frame-stamp.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { parseFrame } from './parse-frame.ts'
import { appendBatch, findRun, insertRun } from './run-rows.ts'
import { NO_FRAMES, summarise } from './run-summary.ts'
import { EMPTY_LOG, SegmentEncoder } from './segments.ts'
import type { StoreFile } from './store-file.ts'

/** What was taken in. */
export interface ImportedRun {
  readonly runId: string
  readonly frames: number
  /** Bytes of a last line that was cut off while it was written; a `log_repaired` frame stands in its place. */
  readonly bytesDropped: number
}

const EPOCH = 1

/** Takes a log of JSON lines into a store, in one transaction. */
export function importLog(file: StoreFile, lines: Iterable<string>): ImportedRun {
  const { frames, bytesDropped } = parseLog(lines)
  const [first] = frames
  if (first === undefined) throw new LoopchartError('log_corrupt', 'the log is empty')
  const runId = first.run_id
  const encoder = new SegmentEncoder(runId, EPOCH, EMPTY_LOG)
  for (const frame of frames) encoder.add(frame)
  const encoded = encoder.take()
  const summary = summarise(NO_FRAMES, frames)
  const isTaken = file.transaction('durable', () => {
    if (findRun(file, runId) !== null) return false
    insertRun(file, runId, EPOCH, null)
    const id = findRun(file, runId)?.id
    return (
      id !== undefined &&
      appendBatch(file, { ...encoded, id, epoch: EPOCH, after: 0, chain: encoder.chain, summary })
    )
  })
  if (!isTaken) throw new LoopchartError('run_exists', `the store has a run ${runId} already: ${file.path}`)
  return { runId, frames: frames.length, bytesDropped }
}

/** The frames of a log of JSON lines, with `log_repaired` in the place of a last one that was cut off. Throws as importing does. */
export function parseLog(lines: Iterable<string>): {
  readonly frames: readonly Frame[]
  readonly bytesDropped: number
} {
  const frames: Frame[] = []
  let torn: { readonly error: unknown; readonly line: string } | null = null
  let offset = 0
  for (const line of lines) {
    // Only the last line can have been cut off.
    if (torn !== null) throw damaged(frames.length, torn.error)
    try {
      if (line !== '') frames.push(checkOrder(parseFrame(line), frames))
      offset += Buffer.byteLength(line) + 1
    } catch (error) {
      if (isJson(line)) throw error
      torn = { error, line }
    }
  }
  if (torn === null) return { frames, bytesDropped: 0 }
  const last = frames.at(-1)
  if (last === undefined || last.type === 'run_ended') throw damaged(frames.length, torn.error)
  const bytesDropped = Buffer.byteLength(torn.line)
  frames.push({
    v: FRAME_VERSION,
    run_id: last.run_id,
    seq: last.seq + 1,
    ts: last.ts,
    type: 'log_repaired',
    offset,
    bytes_dropped: bytesDropped,
  })
  return { frames, bytesDropped }
}

function checkOrder(frame: Frame, before: readonly Frame[]): Frame {
  const last = before.at(-1)
  const expected = last === undefined ? 0 : last.seq + 1
  if (frame.seq !== expected) throw damaged(expected, null, 'it is missing')
  const isFirst = frame.type === 'run_started' || frame.type === 'conversation_started'
  if (isFirst !== (last === undefined)) {
    throw damaged(expected, null, 'a log begins with run_started or conversation_started, and has one')
  }
  if (last !== undefined && frame.run_id !== last.run_id)
    throw damaged(expected, null, 'it is of another run')
  if (last?.type === 'run_ended') throw damaged(expected, null, 'the run had ended')
  if (!isKept(frame)) throw damaged(expected, null, 'its time or turn is too large to be kept')
  return frame
}

// The row of a run has both, and a number that is not safe there could not be read in the list of all runs.
function isKept(frame: Frame): boolean {
  return (
    Number.isSafeInteger(frame.ts) && (frame.type !== 'state_entered' || Number.isSafeInteger(frame.turn))
  )
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}

function damaged(seq: number, cause: unknown, why = 'the line cannot be read'): LoopchartError {
  return new LoopchartError('log_corrupt', `frame ${seq}: ${why}`, { cause })
}
