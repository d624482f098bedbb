import { LoopchartError } from '../errors.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { FrameDecoder } from './frame-codec.ts'
import { unpackBytes } from './packed-bytes.ts'
import { chainOf } from './segments.ts'
import { storeError } from './store-error.ts'
import type { StoreFile } from './store-file.ts'
import { bytesIn, numberIn, type StoreRow } from './store-row.ts'

/** The log of one run, as its row in `runs` has it. */
export interface LogPlace {
  readonly id: number
  readonly runId: string
  readonly frames: number
  readonly chain: number
}

/**
 * Reads a log as far as it went when its place was read. No lock is held between two rows: the log only grows, and a
 * reader who stops half-way is in nobody's way. Throws `log_corrupt` with the frame that cannot be read.
 */
export function* readLog(file: StoreFile, place: LogPlace): Generator<Frame> {
  const { id, runId, frames } = place
  const decoder = new FrameDecoder((hash) => {
    const row = file.get('SELECT bytes FROM texts WHERE hash = ?', hash)
    return row === null ? null : bytesIn(row, 'bytes')
  })
  let [seq, chain] = [0, 0]
  while (seq < frames) {
    const at = seq
    const segment = damageNamed(file, place, at, () => readSegment(file, id, runId, at, chain))
    for (const line of segment.lines) {
      yield damageNamed(file, place, seq, () => checkPlace(decoder.decode(line, seq), runId, seq))
      seq += 1
    }
    ;({ chain } = segment)
  }
  damageNamed(file, place, seq, () => {
    if (seq === frames && chain === place.chain) return
    throw new LoopchartError('log_corrupt', 'the log does not end where the store says')
  })
}

interface ReadSegment {
  readonly lines: readonly string[]
  readonly chain: number
}

function readSegment(
  file: StoreFile,
  id: number,
  runId: string,
  firstSeq: number,
  before: number,
): ReadSegment {
  const row = file.get(
    'SELECT last_seq, epoch, chain, lines FROM segments WHERE run = ? AND first_seq = ?',
    id,
    firstSeq,
  )
  if (row === null) throw new LoopchartError('log_corrupt', 'it is missing')
  return checkSegment(row, runId, firstSeq, before)
}

function checkSegment(row: StoreRow, runId: string, firstSeq: number, before: number): ReadSegment {
  const [lastSeq, epoch, chain] = [numberIn(row, 'last_seq'), numberIn(row, 'epoch'), numberIn(row, 'chain')]
  const bytes = bytesIn(row, 'lines')
  if (chainOf(runId, { firstSeq, lastSeq, epoch }, bytes, before) !== chain) {
    throw new LoopchartError('log_corrupt', 'its checksum is not that of its bytes')
  }
  const lines = unpackBytes(bytes).toString('utf8').split('\n')
  if (lines.length !== lastSeq - firstSeq + 1) throw new LoopchartError('log_corrupt', 'lines are missing')
  return { lines, chain }
}

function checkPlace(frame: Frame, runId: string, seq: number): Frame {
  if (frame.seq === seq && frame.run_id === runId) return frame
  throw new LoopchartError('log_corrupt', `frame ${frame.seq} of ${frame.run_id} is in its place`)
}

/** Says of damage where it is. A frame of a later format keeps its own name. */
function damageNamed<T>(file: StoreFile, { id, runId }: LogPlace, seq: number, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const { code, message } = storeError(error, file.path)
    if (code !== 'log_corrupt' && code !== 'frame_invalid') throw error
    if (isGone(file, id)) {
      throw new LoopchartError('run_unknown', `run ${runId} was removed while it was read`, { cause: error })
    }
    const told = `run ${runId}, frame ${seq}: ${message}: ${file.path}`
    throw new LoopchartError('log_corrupt', told, { cause: error })
  }
}

function isGone(file: StoreFile, id: number): boolean {
  try {
    return file.get('SELECT id FROM runs WHERE id = ?', id) === null
  } catch {
    // The file is damaged in more than one place.
    return false
  }
}
