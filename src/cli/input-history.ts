import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

import { parseJson } from '../protocol/json.ts'
import { maskCredentials } from './mask-credentials.ts'
import type { Redactor } from '../frames/redactor.ts'

/** Where the lines are kept that somebody typed in chats. */
export function inputHistoryPath(stateFolder: string): string {
  return join(stateFolder, 'chat-history.jsonl')
}

export interface InputHistoryOptions {
  readonly path: string
  /** A line with a secret in it is not written. */
  readonly redactor: Redactor
  /** Takes why the file is not used, once. */
  readonly onUnusable: (reason: string) => void
}

const LINES_MAX = 1000
const LINE_BYTES_MAX = 4 * 1024
const FILE_BYTES_MAX = 8 * 1024 * 1024
const OWNER_ONLY = 0o600

/** The lines that somebody typed, of this process and of earlier ones. A file that cannot be used is gone without. */
export class InputHistory {
  readonly #options: InputHistoryOptions
  #newestFirst: readonly string[] = []
  #isUsable = true

  constructor(options: InputHistoryOptions) {
    this.#options = options
    this.#attempt(() => this.#load())
  }

  /** The newest first. */
  get lines(): readonly string[] {
    return this.#newestFirst
  }

  /** Keeps a line, unless it is the last one again or begins with a blank. */
  add(line: string): void {
    if (line.trim() === '' || line.startsWith(' ') || line === this.#newestFirst[0]) return
    this.#newestFirst = [line, ...this.#newestFirst].slice(0, LINES_MAX)
    if (Buffer.byteLength(line) > LINE_BYTES_MAX || this.#isSecret(line)) return
    this.#attempt(() => append(this.#options.path, line))
  }

  #isSecret(line: string): boolean {
    return this.#options.redactor.find(line).length > 0 || maskCredentials(line) !== line
  }

  #load(): void {
    const { path } = this.#options
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const { lines, isLong } = readLines(path)
    this.#newestFirst = lines.toReversed()
    // Not at each start: another process may write a line in between, and that one would be lost.
    if (isLong) replace(path, lines)
  }

  #attempt(work: () => void): void {
    if (!this.#isUsable) return
    try {
      work()
    } catch (error) {
      this.#isUsable = false
      this.#options.onUnusable(error instanceof Error ? error.message : String(error))
    }
  }
}

interface Written {
  /** The newest ones that there is room for, the oldest first. */
  readonly lines: readonly string[]
  /** Whether the file has become much longer than that. */
  readonly isLong: boolean
}

/** Reads a file that only its owner can read from now on. */
function readLines(path: string): Written {
  const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  return withFile(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, (fd) => {
    const { size } = fstatSync(fd)
    const bytes = Buffer.alloc(Math.min(size, FILE_BYTES_MAX))
    const length = readSync(fd, bytes, 0, bytes.length, size - bytes.length)
    // A first line that was cut off is no JSON, or one that lacks its beginning.
    const [first = '', ...others] = bytes.toString('utf8', 0, length).split('\n')
    const written = size > bytes.length ? others : [first, ...others]
    const lines = written.flatMap((line) => {
      const text = parseJson(line)
      return typeof text === 'string' ? [text] : []
    })
    return { lines: lines.slice(-LINES_MAX), isLong: size > bytes.length || lines.length > LINES_MAX * 2 }
  })
}

function append(path: string, line: string): void {
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants
  withFile(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, (fd) => {
    writeSync(fd, `${JSON.stringify(line)}\n`)
  })
}

function replace(path: string, lines: readonly string[]): void {
  const fresh = `${path}.${randomUUID()}`
  const { O_WRONLY, O_CREAT, O_EXCL } = constants
  try {
    withFile(fresh, O_WRONLY | O_CREAT | O_EXCL, (fd) => {
      writeSync(fd, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    })
    renameSync(fresh, path)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw error
  }
}

function withFile<Result>(path: string, flags: number, use: (fd: number) => Result): Result {
  const fd = openSync(path, flags, OWNER_ONLY)
  try {
    const { uid } = fstatSync(fd)
    if (!fstatSync(fd).isFile()) throw new Error(`${path} is not a regular file`)
    if (uid !== (process.getuid?.() ?? uid)) throw new Error(`${path} is not yours`)
    fchmodSync(fd, OWNER_ONLY)
    return use(fd)
  } finally {
    closeSync(fd)
  }
}
