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
  const rows = new LogRows(file, place.id, place.runId)
  for (;;) {
    const frame = rows.next(place)
    if (frame === null) return
    yield frame
  }
}

/** Reads the rows of a log one after the other, from the first on: a line may repeat what an earlier one says. */
export class LogRows {
  readonly #file: StoreFile
  readonly #id: number
  readonly #runId: string
  readonly #decoder: FrameDecoder
  /** Of the row that is read: its lines, where they end, and the frames of the last line. */
  #lines: readonly string[] = []
  #line = 0
  #rowEnd = 0
  #frames: readonly Frame[] = []
  #frame = 0
  #seq = 0
  #chain = 0
  #cost = 0

  constructor(file: StoreFile, id: number, runId: string) {
    this.#file = file
    this.#id = id
    this.#runId = runId
    this.#decoder = new FrameDecoder((hash) => this.#readText(hash))
  }

  /** How many frames it has read: the number of the next one. */
  get seq(): number {
    return this.#seq
  }

  /** What it has done so far, in frames: a row costs as much as some, and so do many characters. */
  get cost(): number {
    return this.#cost
  }

  /** The next frame of a log that goes as far as its place says; null at its end. Throws as `readLog` does. */
  next(place: LogPlace): Frame | null {
    try {
      if (this.#frame === this.#frames.length && !this.#readLine(place)) return null
      const frame = this.#frames[this.#frame]
      if (frame === undefined || this.#seq >= this.#rowEnd) throw misplaced()
      checkPlace(frame, this.#runId, this.#seq)
      this.#frame += 1
      this.#seq += 1
      this.#cost += 1
      return frame
    } catch (error) {
      throw this.#damageNamed(error)
    }
  }

  /** False: there is none. */
  #readLine(place: LogPlace): boolean {
    if (this.#line === this.#lines.length && !this.#readRow(place)) return false
    this.#frames = this.#decoder.decode(this.#lines[this.#line] ?? '', this.#seq)
    this.#frame = 0
    this.#line += 1
    return true
  }

  /** False: there is none. */
  #readRow(place: LogPlace): boolean {
    if (this.#seq !== this.#rowEnd) throw misplaced()
    this.#lines = []
    this.#line = 0
    if (this.#seq >= place.frames) {
      if (this.#seq === place.frames && this.#chain === place.chain) return false
      throw new LoopchartError('log_corrupt', 'the log does not end where the store says')
    }
    const row = this.#file.get(
      'SELECT last_seq, epoch, chain, lines FROM segments WHERE run = ? AND first_seq = ?',
      this.#id,
      this.#seq,
    )
    if (row === null) throw new LoopchartError('log_corrupt', 'it is missing')
    const bytes = bytesIn(row, 'lines')
    this.#chain = checkChain(row, bytes, { runId: this.#runId, firstSeq: this.#seq, before: this.#chain })
    const text = unpackBytes(bytes).toString('utf8')
    this.#cost += ROW_COST + text.length / CHARS_A_FRAME
    this.#lines = text.split('\n')
    this.#rowEnd = numberIn(row, 'last_seq') + 1
    return true
  }

  #readText(hash: string): Uint8Array | null {
    const row = this.#file.get('SELECT bytes FROM texts WHERE hash = ?', hash)
    if (row === null) return null
    const bytes = bytesIn(row, 'bytes')
    this.#cost += ROW_COST + (bytes.length * PACKED_TO_PLAIN) / CHARS_A_FRAME
    return bytes
  }

  /** Says of damage where it is. A frame of a later format keeps its own name. */
  #damageNamed(error: unknown): unknown {
    const { code, message } = storeError(error, this.#file.path)
    if (code !== 'log_corrupt' && code !== 'frame_invalid') return error
    if (isGone(this.#file, this.#id)) {
      const told = `run ${this.#runId} was removed while it was read`
      return new LoopchartError('run_unknown', told, { cause: error })
    }
    const told = `run ${this.#runId}, frame ${this.#seq}: ${message}: ${this.#file.path}`
    return new LoopchartError('log_corrupt', told, { cause: error })
  }
}

// Measured, roughly: what a row and its characters cost beside reading one short frame.
const ROW_COST = 8
const CHARS_A_FRAME = 1024
const PACKED_TO_PLAIN = 4

interface RowPlace {
  readonly runId: string
  readonly firstSeq: number
  /** The checksum of the row before it. */
  readonly before: number
}

function checkChain(row: StoreRow, bytes: Uint8Array, { runId, firstSeq, before }: RowPlace): number {
  const [lastSeq, epoch, chain] = [numberIn(row, 'last_seq'), numberIn(row, 'epoch'), numberIn(row, 'chain')]
  if (chainOf(runId, { firstSeq, lastSeq, epoch }, bytes, before) !== chain) {
    throw new LoopchartError('log_corrupt', 'its checksum is not that of its bytes')
  }
  return chain
}

function misplaced(): LoopchartError {
  return new LoopchartError('log_corrupt', 'its row has other frames than it says')
}

function checkPlace(frame: Frame, runId: string, seq: number): void {
  if (frame.seq === seq && frame.run_id === runId) return
  throw new LoopchartError('log_corrupt', `frame ${frame.seq} of ${frame.run_id} is in its place`)
}

function isGone(file: StoreFile, id: number): boolean {
  try {
    return file.get('SELECT id FROM runs WHERE id = ?', id) === null
  } catch {
    // The file is damaged in more than one place.
    return false
  }
}
