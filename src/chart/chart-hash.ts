import { createHash } from 'node:crypto'

import type { AnyStateMachine } from 'xstate'

import { listStates, listTransitions, nameOf } from './list-transitions.ts'

/**
 * A fingerprint of a chart's states, transitions and the names they use: two charts with the same one fold the same
 * journal in the same way, as long as what the names stand for is the same.
 */
export function chartHash(machine: AnyStateMachine): string {
  const known = hashes.get(machine)
  if (known !== undefined) return known
  const hash = hashOf(machine)
  hashes.set(machine, hash)
  return hash
}

// Every run's log has it, and a chart does not change.
const hashes = new WeakMap<AnyStateMachine, string>()

function hashOf(machine: AnyStateMachine): string {
  const states = listStates(machine).map(({ id, type, entry, exit, invoke, tags }) => ({
    id,
    type,
    entry: entry.map(nameOf),
    exit: exit.map(nameOf),
    invoke: invoke.map((invoked) => [invoked.id, nameOf(invoked.src)]),
    tags,
  }))
  // What the chart says about itself may be reworded.
  const transitions = listTransitions(machine).map((transition) => ({ ...transition, doc: null }))
  return createHash('sha256').update(JSON.stringify({ states, transitions })).digest('hex')
}
