// Who drives a run. The owner keeps a small file of its own locked for as long as it lives, and rows of the store name
// that file. The lock is the operating system's: it is gone with the process, however that ends, and stays while the
// process is only stopped.
import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import type { DatabaseSync } from 'node:sqlite'

import { loadSqlite } from './load-sqlite.ts'
import { isBusy, storeError } from './store-error.ts'

const NAME = /^[\da-f-]{36}\.lease$/u
const TRIES = 10

/** The lock that this process holds; its name is what rows have. */
export interface Lease {
  readonly name: string
  release(): void
}

/** Makes a lease and holds it. Files of processes that are gone are cleared away. */
export function holdLease(folder: string): Lease {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    sweepLeases(folder)
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const lease = lockNewFile(folder)
      if (lease !== null) return lease
    }
  } catch (error) {
    throw storeError(error, folder)
  }
  throw storeError(new Error('its lock files vanish'), folder)
}

/** Whether the process that holds a lease is alive. */
export function isLeaseHeld(folder: string, name: string): boolean {
  // The name is from the store's file: it must not lead out of the folder.
  return NAME.test(name) && !whileFree(join(folder, name), () => undefined)
}

/** Removes the files of leases that nobody holds. */
export function sweepLeases(folder: string): void {
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    // While it is read-locked: whoever made it and has not locked it yet then fails to, and takes another name.
    if (NAME.test(name)) whileFree(path, () => removeIfPossible(path))
  }
}

function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // Windows removes no file that is open. An old one is empty and in nobody's way.
  }
}

function lockNewFile(folder: string): Lease | null {
  const name = `${randomUUID()}.lease`
  const path = join(folder, name)
  closeSync(openSync(path, 'wx', 0o600))
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(path)
  try {
    // Nothing is ever written to it: a journal would be one more file to clear away.
    database.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (isBusy(error)) return null
    throw error
  }
  // Swept away before it was locked.
  if (!existsSync(path)) {
    database.close()
    return null
  }
  return { name, release: () => release(database, path) }
}

function release(database: DatabaseSync, path: string): void {
  database.close()
  rmSync(path, { force: true })
}

/** Does something with a lease file that nobody holds; false: somebody does. A file that is gone is free. */
function whileFree(path: string, work: () => void): boolean {
  if (!existsSync(path)) return true
  const { DatabaseSync } = loadSqlite()
  let database: DatabaseSync | null = null
  try {
    database = new DatabaseSync(path, { readOnly: true })
    // A read lock, which any number may have at once: two that look do not take each other for the owner.
    database.exec('PRAGMA busy_timeout = 0; BEGIN')
    database.prepare('SELECT count(*) FROM sqlite_schema').get()
    work()
    return true
  } catch (error) {
    if (isBusy(error)) return false
    if (!existsSync(path)) return true
    throw storeError(error, path)
  } finally {
    database?.close()
  }
}
