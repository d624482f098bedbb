import { closeSync, openSync, writeSync } from 'node:fs'

import { LoopchartError } from '../errors.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { describeForLog, type LogLevel } from './log-entry.ts'
import { maskCredentials } from './mask-credentials.ts'
import type { Redactor } from '../frames/redactor.ts'
import { safeJson } from './safe-text.ts'

/** Where a command notes what it does. */
export interface Log {
  /** Notes what a frame says, at the level that is right for it. Frames have been through a redactor. */
  frame(frame: Frame): void
  /** Notes what went wrong beside any frame. */
  warn(message: string): void
  close(): void
}

export interface LogOptions {
  readonly level: LogLevel | 'silent'
  /** Appended to; standard error without one. */
  readonly file: string | undefined
  readonly redactor: Redactor
}

const STDERR = 2

/** Opens the log; null when there is none to write. The logger is loaded only then. */
export async function openLog({ level, file, redactor }: LogOptions): Promise<Log | null> {
  if (level === 'silent') return null
  const { pino } = await import('pino')
  const fd = file === undefined ? STDERR : openFile(file)
  // Written before the call returns: what was logged before a crash is what one wants to read after it.
  const write = (line: string): void =>
    writeAll(fd, `${safeJson(maskCredentials(redactor.text(line.trimEnd())))}\n`)
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write })
  return {
    frame(frame) {
      for (const { level: at, message, fields } of describeForLog(frame)) logger[at](fields, message)
    },
    warn(message) {
      logger.warn(message)
    },
    close() {
      if (fd !== STDERR) closeSync(fd)
    },
  }
}

function openFile(path: string): number {
  try {
    return openSync(path, 'a', 0o600)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new LoopchartError(
      'output_unwritable',
      `cannot write the log ${path}: ${reason}; name another --log-file`,
      {
        cause,
      },
    )
  }
}

function writeAll(fd: number, text: string): void {
  try {
    writeSync(fd, text)
  } catch {
    // A log that cannot be written, for a full disk or a closed pipe, must not end what it tells of.
  }
}
