import type * as sqlite from 'node:sqlite'

import { LoopchartError } from '../errors.ts'

type Sqlite = typeof sqlite

/** Loads SQLite the first time it is needed: a program that keeps no runs does not pay for it. */
export function loadSqlite(): Sqlite {
  const sqlite: Sqlite | undefined = process.getBuiltinModule('node:sqlite')
  if (sqlite === undefined) {
    throw new LoopchartError('store_unusable', 'this Node was built without node:sqlite')
  }
  return sqlite
}
