import { LoopchartError } from '../errors.ts'
import { RunLockedError } from '../journal/store-error.ts'
import type { RunStore } from '../journal/run-store.ts'
import type { StartedRun } from '../loop/run.ts'
import type { JsonObject } from '../protocol/json.ts'
import { RequestRefusal } from './request-refusal.ts'
import type { RunRegistry } from './run-registry.ts'

/** Something to be asked of a run. */
export interface RunCommand {
  readonly isCancel?: boolean
  readonly send: (run: StartedRun) => ReturnType<StartedRun['cancel']>
}

export interface CommandParts {
  readonly store: RunStore
  readonly registry: RunRegistry
}

// A run can be let go of between the question who drives it and the command.
const TRIES = 2

/**
 * Asks something of a run, which is taken up first when nobody drives it. Throws `command_refused` with its state,
 * `run_locked` with who drives it, and what the store throws.
 */
export async function commandRun(
  { store, registry }: CommandParts,
  runId: string,
  { send, isCancel = false }: RunCommand,
): Promise<JsonObject> {
  for (let attempt = 1; ; attempt += 1) {
    const ended = registry.live(runId) === null ? endedState(store, runId) : null
    if (ended !== null) {
      // Whoever wants it cancelled has what he wants, however often he says so.
      if (isCancel && ended === 'cancelled') return { answer: 'accepted', reason: null, state: ended }
      throw refused(`the run has ended: ${ended}`, ended)
    }
    const run = registry.takeUp(runId)
    const { answer, reason } = await (isCancel ? registry.cancelOnce(run, () => send(run)) : send(run))
    if (answer !== 'refused') return { answer, reason, state: run.state }
    // Before anything is said of the command: the store may be why.
    if (reason === 'the log cannot be written') await run.result
    const wasLeft = reason === 'the run was let go of'
    if (wasLeft) await run.result
    if (!wasLeft || attempt === TRIES) throw refused(reason ?? 'refused', run.state)
  }
}

/** The state of a run that has ended; null: it has not, and nobody else drives it. */
function endedState(store: RunStore, runId: string): string | null {
  const stored = store.find(runId)
  if (stored === null) throw new LoopchartError('run_unknown', `there is no run ${runId}`)
  if (stored.kind === 'conversation') {
    throw refused('a conversation takes no commands: its runs do', stored.state)
  }
  if (stored.status === 'ended') return stored.state
  if (stored.owner !== null) throw new RunLockedError(runId, stored.owner)
  return null
}

function refused(reason: string, state: string): RequestRefusal {
  return new RequestRefusal('command_refused', reason, { fields: { answer: 'refused', reason, state } })
}
