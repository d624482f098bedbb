import { existsSync } from 'node:fs'

import { LoopchartError } from '../errors.ts'
import type { RunStore, StoredRun } from '../journal/run-store.ts'
import type { Agent } from '../loop/agent.ts'
import { checkResume, type ResumeCheck } from '../loop/check-resume.ts'
import { ageOf } from './age-of.ts'
import { ExitCode } from './exit-code.ts'
import { loadAgent } from './load-agent.ts'
import { ownerName } from './owner-name.ts'
import { oneLine, shorten } from './safe-text.ts'
import { loadSettings } from './settings.ts'
import { knownStorePath, openKnownStore, type StoreFlags } from './store-option.ts'
import { tableOf } from './table-of.ts'
import { writeJson } from './write-json.ts'

export interface RunsFlags extends StoreFlags {
  readonly json?: true
  readonly check?: true
  readonly agent?: string
}

/** Lists stored runs, or says which of them could go on; resolves with the exit code. */
export async function listRuns(flags: RunsFlags): Promise<number> {
  if (flags.agent !== undefined && flags.check !== true) {
    throw new LoopchartError('usage', '--agent needs --check: a list of runs depends on no agent')
  }
  const settings = await loadSettings({}, process.env)
  const path = knownStorePath(flags, settings)
  // The place that nobody named is empty before the first run is kept there.
  if (typeof flags.store !== 'string' && !existsSync(path)) return showRuns([], path, flags)
  const store = openKnownStore(flags, settings)
  try {
    if (flags.check === true) return await checkRuns(store, flags)
    const latestFirst = runsOf(store).toSorted((a, b) => b.updatedAt - a.updatedAt)
    return showRuns(latestFirst, path, flags)
  } finally {
    store.close()
  }
}

function runsOf(store: RunStore): readonly StoredRun[] {
  return store.list().filter(({ kind }) => kind === 'run')
}

function showRuns(runs: readonly StoredRun[], path: string, { json }: RunsFlags): number {
  if (json === true) writeJson(runs)
  else if (runs.length === 0) process.stderr.write(`no runs are kept in ${oneLine(path)}\n`)
  else {
    const rows = runs.map(({ runId, state, turn, updatedAt, model, owner }) => [
      oneLine(runId),
      oneLine(state),
      String(turn),
      ageOf(Date.now() - updatedAt),
      shorten(oneLine(model), MODEL_MAX),
      ownerName(owner),
    ])
    process.stdout.write(tableOf(['run', 'state', 'turn', 'age', 'model', 'owner'], rows))
  }
  return ExitCode.ok
}

const MODEL_MAX = 40

interface CheckedRun extends ResumeCheck {
  readonly runId: string
  readonly state: string
}

async function checkRuns(store: RunStore, flags: RunsFlags): Promise<number> {
  const agent = flags.agent === undefined ? null : await loadAgent(flags.agent)
  const open = runsOf(store).filter(({ status }) => status === 'open')
  const checked = open.map(({ runId, state }) => ({ runId, state, ...checkRun(store, runId, agent) }))
  if (flags.json === true) writeJson(checked)
  else if (checked.length === 0) process.stderr.write('every run has ended: there is nothing to go on with\n')
  else process.stdout.write(tableOf(['run', 'state', 'verdict', 'why'], checked.map(checkedRow)))
  return checked.some(({ verdict }) => verdict === 'refused') ? ExitCode.different : ExitCode.ok
}

function checkedRow({ runId, state, verdict, reasons }: CheckedRun): readonly string[] {
  return [oneLine(runId), oneLine(state), verdict, reasons.length === 0 ? '-' : oneLine(reasons.join('; '))]
}

function checkRun(store: RunStore, runId: string, agent: Agent | null): ResumeCheck {
  try {
    const { verdict, reasons } = checkResume([...store.read(runId)], agent)
    return { verdict, reasons }
  } catch (error) {
    // One damaged log says nothing about the others.
    if (!(error instanceof LoopchartError)) throw error
    return { verdict: 'refused', reasons: [`${error.code}: ${error.message}`] }
  }
}
