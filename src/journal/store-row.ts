import { LoopchartError } from '../errors.ts'

/** A row as SQLite gives it. */
export type StoreRow = Readonly<Record<string, unknown>>

// Columns have types in SQLite, but a damaged row has whatever its bytes say.

export function numberIn(row: StoreRow, column: string): number {
  const value = row[column]
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  throw damaged(column)
}

export function textIn(row: StoreRow, column: string): string {
  const value = row[column]
  if (typeof value === 'string') return value
  throw damaged(column)
}

export function bytesIn(row: StoreRow, column: string): Uint8Array {
  const value = row[column]
  if (value instanceof Uint8Array) return value
  throw damaged(column)
}

function damaged(column: string): LoopchartError {
  return new LoopchartError('log_corrupt', `a row of the store has no readable ${column}`)
}
