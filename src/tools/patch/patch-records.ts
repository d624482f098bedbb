import { hash } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

import { LoopchartError } from '../../errors.ts'
import { isJsonObject, parseJson, type Json } from '../../protocol/json.ts'
import { fileFault, systemCodeOf } from '../workspace/file-fault.ts'

/** What a patch makes of a file: SHA-256 in hex, null when it is not there. */
export interface RecordedFile {
  readonly path: string
  readonly before: string | null
  readonly after: string | null
}

export interface PatchRecord {
  /** Names the patch and the place: SHA-256 in hex. */
  readonly patchHash: string
  readonly files: readonly RecordedFile[]
}

const OPEN = '.json'
const DONE = '.done.json'

// A record is needed until the result of its call is in the log, which is a matter of milliseconds.
const DONE_MAX = 1000
const DONE_BETWEEN_LOOKS = 200

/**
 * What patches were about to do, by the key of their call. A record is there before the first file is changed. It is
 * kept for a while after the last one: the call may be run again because the process died before the log had its
 * result, and then it must be told from a patch that does not fit. The calls block: a record is a few hundred bytes,
 * and handing six such calls to other threads takes ten times as long as making them.
 */
export class PatchRecords {
  readonly #folder: string
  #isMade = false
  #finished = 0

  /** The folder is made on first use, for its owner only. */
  constructor(folder: string) {
    this.#folder = folder
  }

  /** What an earlier attempt was about to do; null when there is none, or only one with another patch. */
  find(key: string, patchHash: string): readonly RecordedFile[] | null {
    const text = faulting(() => readIfThere(this.#path(key, OPEN)) ?? readIfThere(this.#path(key, DONE)))
    if (text === null) return null
    const record = parseRecord(parseJson(text))
    // A key is used again by whoever gives a second run the name of a first one: another patch is another call.
    if (record !== null) return record.patchHash === patchHash ? record.files : null
    throw damagedRecord()
  }

  /** Writes down what is about to happen. `isDurable`: after a power cut too. Throws `file_unwritable`. */
  begin(key: string, record: PatchRecord, isDurable: boolean): void {
    faulting(() => this.#write(key, record, isDurable))
  }

  #write(key: string, { patchHash, files }: PatchRecord, isDurable: boolean): void {
    if (!this.#isMade) mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    this.#isMade = true
    const path = this.#path(key, OPEN)
    // The temporary file has a name of its own so that a record is whole or not there.
    writeFileSync(`${path}.tmp`, JSON.stringify({ v: 2, patchHash, files }), {
      mode: 0o600,
      flush: isDurable,
    })
    renameSync(`${path}.tmp`, path)
    if (isDurable) syncFolder(this.#folder)
  }

  /** All of it has happened. */
  finish(key: string): void {
    // A record that stays open does no harm, and the files are changed: that must not become a failure.
    quietly(() => renameSync(this.#path(key, OPEN), this.#path(key, DONE)))
    if (this.#finished % DONE_BETWEEN_LOOKS === 0) quietly(() => this.#forgetOld())
    this.#finished += 1
  }

  /** None of it has happened, or all of it was taken back. A record that stays does no harm here either. */
  drop(key: string): void {
    for (const ending of [OPEN, DONE]) quietly(() => rmSync(this.#path(key, ending), { force: true }))
  }

  #path(key: string, ending: string): string {
    return join(this.#folder, `${hash('sha256', key)}${ending}`)
  }

  #forgetOld(): void {
    const names = readdirSync(this.#folder).filter((name) => name.endsWith(DONE))
    if (names.length <= DONE_MAX) return
    const dated = names.map((name) => {
      const path = join(this.#folder, name)
      return { path, atMs: unlessMissing(() => statSync(path).mtimeMs) ?? 0 }
    })
    const old = dated.sort((one, other) => other.atMs - one.atMs).slice(DONE_MAX)
    for (const { path } of old) rmSync(path, { force: true })
  }
}

/** The error of a record that does not say what was about to happen. */
export function damagedRecord(): LoopchartError {
  const message = 'the record of this call is damaged; read the files and patch anew'
  return new LoopchartError('patch_conflict', message)
}

function readIfThere(path: string): string | null {
  return unlessMissing(() => readFileSync(path, 'utf8'))
}

function unlessMissing<Value>(use: () => Value): Value | null {
  try {
    return use()
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return null
    throw error
  }
}

function quietly(work: () => void): void {
  try {
    work()
  } catch {
    // Whoever calls this has said why.
  }
}

// The model is not told where the records are.
function faulting<Value>(work: () => Value): Value {
  try {
    return work()
  } catch (error) {
    throw fileFault(error, 'the record of this patch', 'write')
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

function parseRecord(value: Json | undefined): PatchRecord | null {
  if (!isJsonObject(value) || value['v'] !== 2 || !Array.isArray(value['files'])) return null
  const { patchHash } = value
  const entries: readonly unknown[] = value['files']
  const files = entries.filter(isRecordedFile)
  const isWhole = typeof patchHash === 'string' && files.length === entries.length
  return isWhole ? { patchHash, files } : null
}

function isRecordedFile(value: unknown): value is RecordedFile {
  if (!isJsonObject(value) || typeof value['path'] !== 'string') return false
  return [value['before'], value['after']].every((side) => side === null || typeof side === 'string')
}
