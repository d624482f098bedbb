import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { isJsonObject } from '../../protocol/json.ts'
import { processPlace, startTimeOf, type ProcessIdentity } from './process-table.ts'

/** What is left on the disk about a running command, for whoever comes after a crash of ours. */
export interface ProcessRecord {
  readonly token: string
  /** Which call it was, for a person who reads it. */
  readonly key: string
  /** Who ran it. */
  readonly owner: ProcessIdentity
  /** Who leads the group; null when we were killed while it was being started. */
  readonly leader: ProcessIdentity | null
  /** Where the pids mean something. */
  readonly place: string
}

/** Writes the record, before the command starts and again when its pid is known. */
export function writeProcessRecord(stateFolder: string, record: ProcessRecord): void {
  const folder = recordFolder(stateFolder)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `${record.token}.json`)
  // In one step: half a record would hide a process.
  writeFileSync(`${path}.new`, JSON.stringify(record), { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

/** Removes the record of a command of which nothing is left. */
export function removeProcessRecord(stateFolder: string, token: string): void {
  const path = join(recordFolder(stateFolder), `${token}.json`)
  rmSync(path, { force: true })
  rmSync(`${path}.new`, { force: true })
}

/** Every record that can be read. */
export function readProcessRecords(stateFolder: string): readonly ProcessRecord[] {
  return recordTokens(stateFolder).flatMap((token) => {
    const record = readRecord(join(recordFolder(stateFolder), `${token}.json`), token)
    return record === null ? [] : [record]
  })
}

/** A record of this process. */
export function ownProcessRecord(token: string, key: string, leader: ProcessIdentity | null): ProcessRecord {
  const owner = { pid: process.pid, startTime: startTimeOf(process.pid) ?? 0 }
  return { token, key, owner, leader, place: processPlace() }
}

function recordFolder(stateFolder: string): string {
  return join(stateFolder, 'processes')
}

function recordTokens(stateFolder: string): readonly string[] {
  try {
    const names = readdirSync(recordFolder(stateFolder))
    return names.flatMap((name) => /^([0-9a-f]{32})\.json$/.exec(name)?.[1] ?? [])
  } catch {
    return []
  }
}

function readRecord(path: string, token: string): ProcessRecord | null {
  try {
    const record: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (!isJsonObject(record) || record['token'] !== token) return null
    const { key, place } = record
    const owner = readIdentity(record['owner'])
    const leader = record['leader'] === null ? null : readIdentity(record['leader'])
    const isRead = typeof key === 'string' && typeof place === 'string' && owner !== null
    return isRead ? { token, key, owner, leader, place } : null
  } catch {
    return null
  }
}

function readIdentity(value: unknown): ProcessIdentity | null {
  if (!isJsonObject(value)) return null
  const { pid, startTime } = value
  // Signals to 0 and below go to groups, to ours first of all.
  if (!isCount(pid) || !isCount(startTime) || pid <= 1) return null
  return { pid, startTime }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}
