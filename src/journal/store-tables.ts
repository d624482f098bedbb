import type { DatabaseSync } from 'node:sqlite'

import { LoopchartError } from '../errors.ts'

/** The version of the tables that this code makes. Older ones are read; newer ones are refused. */
export const STORE_VERSION = 1

/**
 * Makes the tables of an empty file.
 *
 * `runs` has one row a run: what a list shows, who owns it, and with `frames` and `chain` where its log ends. `segments`
 * has the log, some lines a row. `chain` is a checksum of a row and of all before it, so that a row that is damaged,
 * missing, or of another run is found. `texts` has what is too long for a line, once; `text_uses` says which runs have
 * it.
 */
export function createTables(database: DatabaseSync): void {
  database.exec(`
    PRAGMA page_size = 4096;
    PRAGMA auto_vacuum = INCREMENTAL;
    PRAGMA synchronous = FULL;
    BEGIN;
    CREATE TABLE store (version INTEGER NOT NULL, syncs INTEGER NOT NULL);
    INSERT INTO store VALUES (${STORE_VERSION}, 0);
    CREATE TABLE runs (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      run_id TEXT NOT NULL UNIQUE,
      epoch INTEGER NOT NULL,
      frames INTEGER NOT NULL,
      chain INTEGER NOT NULL,
      started_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      state TEXT NOT NULL,
      status TEXT NOT NULL,
      turn INTEGER NOT NULL,
      model TEXT NOT NULL,
      holder TEXT,
      pid INTEGER,
      host TEXT,
      since INTEGER
    );
    CREATE TABLE segments (
      run INTEGER NOT NULL,
      first_seq INTEGER NOT NULL,
      last_seq INTEGER NOT NULL,
      epoch INTEGER NOT NULL,
      chain INTEGER NOT NULL,
      lines BLOB NOT NULL,
      UNIQUE (run, first_seq)
    );
    CREATE TABLE texts (hash TEXT PRIMARY KEY, bytes BLOB NOT NULL);
    CREATE TABLE text_uses (run INTEGER NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (run, hash)) WITHOUT ROWID;
    CREATE INDEX text_uses_by_hash ON text_uses (hash);
    COMMIT;
  `)
  // Last: closing a file is when its write-ahead log goes into it, and an error then is told to nobody.
  const mode = database.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode']
  if (mode !== 'wal')
    throw new LoopchartError('store_unusable', 'the file system cannot share memory with SQLite')
}
