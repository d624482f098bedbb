import { setImmediate as immediate } from 'node:timers/promises'

/** Resolves when whatever could happen without time has had its chance. */
export async function allElse(): Promise<void> {
  await immediate()
  await immediate()
}
