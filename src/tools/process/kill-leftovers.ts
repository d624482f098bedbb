import { setTimeout as pause } from 'node:timers/promises'

import { CALL_VARIABLE, signalOne } from './call-processes.ts'
import { hasInEnvironment, isAlive, processPlace, readProcessTable, sendSignal } from './process-table.ts'
import { readProcessRecords, removeProcessRecord, type ProcessRecord } from './process-records.ts'

/** A command of a loopchart that is gone. */
export interface Leftover {
  /** Which call it was. */
  readonly key: string
  /** How many of its processes were still there and were killed; 0 when only the record was left. */
  readonly killed: number
}

/**
 * Kills what commands left running whose loopchart was killed itself, and removes their records. Those of a living
 * one are left alone, and so are those of another container that uses the same folder. A process is known by its pid
 * with its start time or by the token in its environment, never by its name.
 */
export async function killLeftovers(stateFolder: string): Promise<readonly Leftover[]> {
  const place = processPlace()
  const leftovers: Leftover[] = []
  for (const record of readProcessRecords(stateFolder)) {
    const isHere = record.place === place
    if (isElsewhere(record, place) || (isHere && isAlive(record.owner))) continue
    const killed = isHere ? await killRecorded(record) : 0
    removeProcessRecord(stateFolder, record.token)
    leftovers.push({ key: record.key, killed })
  }
  return leftovers
}

/** Whether its processes may well live, but where we cannot see them. Those of an earlier boot do not. */
function isElsewhere(record: ProcessRecord, place: string): boolean {
  const [boot, namespace] = place.split(' ')
  const [recordedBoot, recordedNamespace] = record.place.split(' ')
  return boot === recordedBoot && namespace !== recordedNamespace
}

// A process may fork between the look and the kill; its children are found in the next round. One that the kernel does
// not let go of would be found for ever.
const ROUNDS_MAX = 50
const ROUND_MS = 10

async function killRecorded({ leader, token }: ProcessRecord): Promise<number> {
  const killed = new Set<number>()
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const isLed = leader !== null && isAlive(leader)
    const found = readProcessTable().filter(
      ({ pid, group }) =>
        pid !== process.pid &&
        ((isLed && group === leader.pid) || hasInEnvironment(pid, `${CALL_VARIABLE}=${token}`)),
    )
    if (found.length === 0) break
    if (isLed) sendSignal(-leader.pid, 'SIGKILL')
    for (const entry of found) {
      signalOne(entry, 'SIGKILL')
      killed.add(entry.pid)
    }
    await pause(ROUND_MS)
  }
  return killed.size
}
