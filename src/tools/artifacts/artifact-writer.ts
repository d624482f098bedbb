import { createHash, randomUUID, type Hash } from 'node:crypto'
import { closeSync, constants, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { LoopchartError } from '../../errors.ts'
import { artifactPath } from './artifact-path.ts'

/** What one artifact holds at most; what is beyond is counted, not stored. */
export const ARTIFACT_BYTES_MAX = 16 * 1024 * 1024

const FOLDER_MODE = 0o700
const FILE_MODE = 0o600
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/** An artifact that is on the disk under its name. */
export interface StoredArtifact {
  /** The sha256 of what is stored, in hex. */
  readonly id: string
  /** How many bytes are stored. */
  readonly bytes: number
  /** Whether there was more than an artifact holds. */
  readonly isTruncated: boolean
}

/**
 * Takes an output while it grows. Nothing that the disk does makes it throw: an output that cannot be stored is still
 * an output, so a writer whose disk is full goes on counting, and `keep` answers null. Ends with `keep` or `drop`.
 */
export class ArtifactWriter {
  readonly #folder: string
  readonly #hash: Hash = createHash('sha256')
  #temporary: { readonly path: string; readonly fd: number } | null = null
  #bytesStored = 0
  #bytesTotal = 0
  #state: 'open' | 'failed' | 'ended' = 'open'

  constructor(folder: string) {
    this.#folder = folder
  }

  /** How many bytes were written to it, stored or not. */
  get bytesTotal(): number {
    return this.#bytesTotal
  }

  /** Takes the next bytes. The file is made with the first ones: most writers never see any. */
  write(chunk: Uint8Array): void {
    this.#assertNotEnded()
    this.#bytesTotal += chunk.length
    const room = chunk.subarray(0, ARTIFACT_BYTES_MAX - this.#bytesStored)
    if (this.#state === 'failed' || room.length === 0) return
    try {
      this.#temporary ??= openTemporary(this.#folder)
      writeWhole(this.#temporary.fd, room)
      this.#hash.update(room)
      this.#bytesStored += room.length
    } catch {
      this.#fail()
    }
  }

  /** Gives the artifact its name; null when it could not be stored. */
  async keep(): Promise<StoredArtifact | null> {
    this.#assertNotEnded()
    const isFailed = this.#state === 'failed'
    this.#state = 'ended'
    try {
      if (isFailed) return null
      this.#temporary ??= openTemporary(this.#folder)
      const id = this.#hash.digest('hex')
      const path = artifactPath(this.#folder, id)
      await mkdir(dirname(path), { mode: FOLDER_MODE, recursive: true })
      // Over one that is there already: it has the same bytes, unless it is damaged, and then it is whole again.
      await rename(this.#temporary.path, path)
      return { id, bytes: this.#bytesStored, isTruncated: this.#bytesTotal > this.#bytesStored }
    } catch {
      return null
    } finally {
      // After a rename, that name is gone and only the descriptor is left to close.
      this.#removeTemporary()
    }
  }

  /** Forgets what was written. */
  drop(): void {
    this.#removeTemporary()
    this.#state = 'ended'
  }

  #fail(): void {
    // At once: on a full disk, the room of half an artifact is worth more than the half.
    this.#removeTemporary()
    this.#state = 'failed'
  }

  #removeTemporary(): void {
    const temporary = this.#temporary
    this.#temporary = null
    if (temporary === null) return
    quietly(() => closeSync(temporary.fd))
    quietly(() => rmSync(temporary.path, { force: true }))
  }

  #assertNotEnded(): void {
    if (this.#state === 'ended')
      throw new LoopchartError('usage', 'artifact writer was kept or dropped before')
  }
}

function openTemporary(folder: string): { readonly path: string; readonly fd: number } {
  mkdirSync(folder, { mode: FOLDER_MODE, recursive: true })
  const path = join(folder, `new-${process.pid}-${randomUUID()}`)
  return { path, fd: openSync(path, NEW_FILE, FILE_MODE) }
}

/** A nearly full disk takes a part and says so only by the count. */
function writeWhole(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at)
}

function quietly(work: () => void): void {
  try {
    work()
  } catch {
    // A file that cannot be removed is litter in our own folder, no reason to lose an output.
  }
}
