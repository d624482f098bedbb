import { closeSync, fchmodSync, fstatSync, openSync, writeSync } from 'node:fs'

import { LoopchartError } from '../errors.ts'
import type { Inspect } from './inspection-event.ts'

/** A file that takes streams, one event a line. */
export interface NdjsonFile {
  /** Writes an event. For the `inspect` option: it may be passed on without the file. */
  readonly inspect: Inspect
  /** Closes the file. Throws `output_unwritable` when something could not be written, at the first time of asking. */
  close(): void
}

/**
 * Opens a file for streams; what is in it goes. Only its owner may read it: it has everything that was said. Throws
 * `output_unwritable` when that cannot be done. Each event is written before the run goes on, so that the file has
 * everything up to the moment at which a process dies.
 */
export function ndjsonFile(path: string): NdjsonFile {
  let file: number | null = attempt(path, () => openOwn(path))
  let failure: unknown = null
  return {
    inspect(event) {
      if (file === null || failure !== null) return
      try {
        writeAll(file, Buffer.from(`${JSON.stringify(event)}\n`))
      } catch (error) {
        failure = error
      }
    },
    close() {
      const open = file
      if (open === null) return
      file = null
      attempt(path, () => closeSync(open))
      if (failure !== null) throw unwritable(path, failure)
    },
  }
}

function openOwn(path: string): number {
  const file = openSync(path, 'w', OWNER_ONLY)
  try {
    // One that was there before keeps who may read it; what is no file has nothing to be read later.
    if (fstatSync(file).isFile()) fchmodSync(file, OWNER_ONLY)
    return file
  } catch (error) {
    closeSync(file)
    throw error
  }
}

const OWNER_ONLY = 0o600

function writeAll(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
}

function attempt<Value>(path: string, act: () => Value): Value {
  try {
    return act()
  } catch (error) {
    throw unwritable(path, error)
  }
}

function unwritable(path: string, cause: unknown): LoopchartError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new LoopchartError('output_unwritable', `${path} cannot be written: ${why}`, { cause })
}
