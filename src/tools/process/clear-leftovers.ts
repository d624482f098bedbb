import { killLeftovers } from './kill-leftovers.ts'

const cleared = new Map<string, Promise<unknown>>()

/** Ends what an earlier process of ours left behind; once in a process and for each state folder. */
export async function clearLeftovers(stateFolder: string): Promise<void> {
  const clearing = cleared.get(stateFolder) ?? killLeftovers(stateFolder)
  cleared.set(stateFolder, clearing)
  await clearing
}
