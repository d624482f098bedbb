import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'

import { LoopchartError } from '../../errors.ts'
import { artifactPath } from './artifact-path.ts'
import { ARTIFACT_BYTES_MAX, ArtifactWriter, type StoredArtifact } from './artifact-writer.ts'

export type { ArtifactWriter, StoredArtifact } from './artifact-writer.ts'

/** What one `read` gives at most: 512 KiB, and room for the bytes around them that tell where a character begins. */
const READ_BYTES_MAX = 512 * 1024 + 8

const ID = /^[0-9a-f]{64}$/
const CHUNK_BYTES = 256 * 1024
// Without O_NONBLOCK, a FIFO under the name of an artifact would hold the call for ever.
const READ_SAFELY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Opens the store in that folder, which is made when something is first stored. */
export function openArtifacts(folder: string): ArtifactStore {
  return new ArtifactStore(folder)
}

/**
 * Outputs that are too large for a model, each a file named by the sha256 of its bytes. Any number of processes may
 * use one folder: a file appears whole or not at all, and equal outputs are one file.
 */
export class ArtifactStore {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Starts an artifact that comes in pieces. */
  begin(): ArtifactWriter {
    return new ArtifactWriter(this.#folder)
  }

  /** Stores bytes that are all there; null when the disk does not take them. */
  put(bytes: Uint8Array): Promise<StoredArtifact | null> {
    const writer = this.begin()
    writer.write(bytes)
    return writer.keep()
  }

  /**
   * Bytes of an artifact from `offset` on; fewer than `length`, also none, where it ends. Throws `artifact_unknown` when there is none
   * of that id, or what is there does not have the hash that its name says.
   */
  async read(id: string, offset: number, length: number): Promise<ArtifactRange> {
    checkBounds(offset, length)
    if (!ID.test(id)) throw unknownArtifact('artifact id is not 64 lower-case hex digits')
    const handle = await openRegular(artifactPath(this.#folder, id))
    if (handle === null) throw unknownArtifact(`no artifact ${id}`)
    try {
      const range = await readVerified(handle, id, offset, length)
      if (range === null) throw unknownArtifact(`artifact ${id} is damaged`)
      return range
    } finally {
      await handle.close()
    }
  }
}

export interface ArtifactRange {
  readonly bytes: Buffer
  /** Of the whole artifact. */
  readonly totalBytes: number
}

function checkBounds(offset: number, length: number): void {
  if (!Number.isSafeInteger(offset) || offset < 0) {
    throw new LoopchartError('usage', `artifact offset ${offset} is no whole number from 0 on`)
  }
  if (!Number.isSafeInteger(length) || length < 0 || length > READ_BYTES_MAX) {
    throw new LoopchartError(
      'usage',
      `artifact length ${length} is no whole number from 0 to ${READ_BYTES_MAX}`,
    )
  }
}

function unknownArtifact(what: string): LoopchartError {
  return new LoopchartError('artifact_unknown', `${what}, use an id from the artifacts of an earlier result`)
}

async function openRegular(path: string): Promise<FileHandle | null> {
  try {
    const handle = await open(path, READ_SAFELY)
    const stat = await handle.stat()
    if (stat.isFile() && stat.size <= ARTIFACT_BYTES_MAX) return handle
    await handle.close()
    return null
  } catch {
    return null
  }
}

/** Reads all of it, for the hash, and holds on to the range only. */
async function readVerified(
  handle: FileHandle,
  id: string,
  offset: number,
  length: number,
): Promise<ArtifactRange | null> {
  const hash = createHash('sha256')
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  const kept: Buffer[] = []
  let totalBytes = 0
  while (totalBytes <= ARTIFACT_BYTES_MAX) {
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, totalBytes)
    if (bytesRead === 0) break
    hash.update(chunk.subarray(0, bytesRead))
    const from = clamp(offset - totalBytes, bytesRead)
    const to = clamp(offset + length - totalBytes, bytesRead)
    if (to > from) kept.push(Buffer.from(chunk.subarray(from, to)))
    totalBytes += bytesRead
  }
  return hash.digest('hex') === id ? { bytes: Buffer.concat(kept), totalBytes } : null
}

function clamp(value: number, max: number): number {
  return Math.min(Math.max(value, 0), max)
}
