import { randomUUID } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  rmSync,
} from 'node:fs'
import { dirname } from 'node:path'

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'

import { LoopchartError } from '../errors.ts'
import { loadSqlite } from './load-sqlite.ts'
import { storeError } from './store-error.ts'
import { createTables, STORE_VERSION } from './store-tables.ts'
import type { StoreRow } from './store-row.ts'

/** Stands around each statement that writes: to fail it, or to end the process at it. */
export type AroundWrite = <T>(sql: string, execute: () => T) => T

// 16 MiB of write-ahead log. Many runs at once change the same few pages again and again: going into the file every
// 4 MiB, as SQLite does by itself, writes each of them often and waits for the disk each time.
const CHECKPOINT_PAGES = 4096

const BUSY_TIMEOUT_MS = 5000

/**
 * The file of a store: statements, transactions, and names for what goes wrong. After a failed write the connection is
 * given up, and the next use opens and checks the file anew.
 */
export class StoreFile {
  readonly path: string
  readonly #around: AroundWrite
  readonly #statements = new Map<string, StatementSync>()
  #database: DatabaseSync | null = null
  #isDurable: boolean | null = null
  #isClosed = false

  constructor(path: string, around: AroundWrite) {
    this.path = path
    this.#around = around
    this.#open()
  }

  get(sql: string, ...values: readonly SQLInputValue[]): StoreRow | null {
    return this.#named(() => this.#statement(sql).get(...values) ?? null)
  }

  all(sql: string, ...values: readonly SQLInputValue[]): readonly StoreRow[] {
    return this.#named(() => this.#statement(sql).all(...values))
  }

  /** Runs a statement that writes; gives how many rows it changed. For within a transaction. */
  run(sql: string, ...values: readonly SQLInputValue[]): number {
    return Number(this.#named(() => this.#around(sql, () => this.#statement(sql).run(...values))).changes)
  }

  /** All or nothing. A durable one has reached the disk when this returns, and with it all that was written before. */
  transaction<T>(durability: 'durable' | 'soon', work: () => T): T {
    try {
      this.#named(() => this.#setDurable(durability === 'durable'))
      this.run('BEGIN IMMEDIATE')
      const result = work()
      this.run('COMMIT')
      return result
    } catch (error) {
      this.#giveUp()
      throw storeError(error, this.path)
    }
  }

  /** Makes the file smaller by what was deleted. */
  shrink(): void {
    this.#named(() => {
      this.#statement('PRAGMA incremental_vacuum').all()
      this.#statement('PRAGMA wal_checkpoint(TRUNCATE)').all()
    })
  }

  close(): void {
    this.#isClosed = true
    this.#disconnect()
  }

  #disconnect(): void {
    const database = this.#database
    this.#database = null
    this.#statements.clear()
    this.#isDurable = null
    database?.close()
  }

  /** A connection that failed at a write is not trusted: what it thinks was written may not be. */
  #giveUp(): void {
    try {
      this.#disconnect()
    } catch {
      // The first error is the one to tell; this connection is not used again.
    }
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#open().prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }

  // Without FULL, a transaction is safe from the end of this process but not from that of the machine.
  #setDurable(isDurable: boolean): void {
    if (this.#isDurable === isDurable) return
    this.#open().exec(`PRAGMA synchronous = ${isDurable ? 'FULL' : 'NORMAL'}`)
    this.#isDurable = isDurable
  }

  #open(): DatabaseSync {
    if (this.#isClosed) throw new LoopchartError('store_unusable', `the store was closed: ${this.path}`)
    this.#database ??= this.#named(() => openDatabase(this.path))
    return this.#database
  }

  #named<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw storeError(error, this.path)
    }
  }
}

function openDatabase(path: string): DatabaseSync {
  if (!existsSync(path)) createFile(path)
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(path)
  try {
    database.exec(`
      PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS};
      PRAGMA fullfsync = ON;
      PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
      PRAGMA cell_size_check = ON;
      PRAGMA secure_delete = ON;
      PRAGMA trusted_schema = OFF;
    `)
    checkVersion(database, path)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Before anything is written: a file of another program, or of a later release, is left as it is. */
function checkVersion(database: DatabaseSync, path: string): void {
  const column = database.prepare("SELECT name FROM pragma_table_info('store') WHERE name = 'version'").get()
  const version =
    column === undefined ? undefined : database.prepare('SELECT version FROM store').get()?.['version']
  if (typeof version !== 'number' || version < 1) {
    throw new LoopchartError(
      'log_version',
      `the file has no version, it is not a store of loopchart: ${path}`,
    )
  }
  if (version > STORE_VERSION) {
    throw new LoopchartError(
      'log_version',
      `the store has version ${version}, this loopchart reads versions up to ${STORE_VERSION}: ${path}`,
    )
  }
}

/**
 * Makes the file under another name and gives it its own when it is whole: nobody ever opens half a store, and of two
 * that make one at once, both use the same.
 */
function createFile(path: string): void {
  const folder = dirname(path)
  makeFolder(folder)
  // SQLite would take what is left of another file's changes for this one's.
  if (existsSync(`${path}-wal`) && !existsSync(path)) {
    throw new LoopchartError(
      'store_unusable',
      `its main file is gone, and only ${path}-wal is left of a store`,
    )
  }
  const draft = `${path}.${randomUUID()}.new`
  closeSync(openSync(draft, 'wx', 0o600))
  try {
    const { DatabaseSync } = loadSqlite()
    const database = new DatabaseSync(draft)
    try {
      createTables(database)
    } finally {
      database.close()
    }
    linkUnlessThere(draft, path)
    syncFolder(folder)
  } finally {
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(`${draft}${end}`, { force: true })
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    // Node says ENOENT of a folder that may not be made; the folder above it says why.
    let above = dirname(folder)
    while (!existsSync(above) && above !== dirname(above)) above = dirname(above)
    accessSync(above, constants.W_OK)
    throw error
  }
}

function linkUnlessThere(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (error) {
    if (!existsSync(path)) throw error
  }
}

function syncFolder(folder: string): void {
  // Windows cannot open a folder; its file system keeps names by itself.
  if (process.platform === 'win32') return
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
