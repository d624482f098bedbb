import { LoopchartError } from '../errors.ts'
import { formatFrame } from '../frames/format-frame.ts'
import type { Agent } from '../loop/agent.ts'
import { checkResume } from '../loop/check-resume.ts'
import { forkRun } from '../replay-run.ts'
import type { ForkChange, ForkedRun } from '../replay/fork-run.ts'
import { checkFlags } from './check-flags.ts'
import { checkProviderAgain } from './choose-model.ts'
import { findRunId } from './find-run.ts'
import { KeptRun, type Reconciliation } from './kept-run.ts'
import { resumeHint } from './resume-hint.ts'
import { withModelOf } from './resume-verb.ts'
import type { RunFlags } from './run-flags.ts'
import { driveRun } from './run-verb.ts'
import { loadSettings } from './settings.ts'
import { openKnownStore } from './store-option.ts'

export interface ForkFlags extends RunFlags {
  readonly at?: string
  readonly change?: string
  /** At a compaction: go on without it. */
  readonly keepHistory?: true
}

/** Begins a new run as an old one up to a decision, and drives it; resolves with the exit code. */
export async function forkVerb(given: string, flags: ForkFlags): Promise<number> {
  checkFlags(flags)
  const at = parseSeq(flags.at)
  const change = changeIn(flags)
  const settings = await loadSettings(flags, process.env)
  const store = openKnownStore(flags, settings)
  try {
    const origin = findRunId(store, given, flags)
    const forked = forkRun(store.read(origin), change === null ? { at } : { at, change })
    checkProviderAgain(flags.agent, settings)
    const kept = new KeptRun({
      store,
      reconciled: reconciledBy(forked),
      resumeHint: (id) => resumeHint(flags, id),
    })
    return await driveRun(flags, withModelOf(store, origin, flags, settings), {
      input: { resume: forked.runId },
      kept,
      prepare: (agent) => {
        checkFork(forked, agent)
        store.importRun(forked.frames.map(formatFrame))
      },
    })
  } finally {
    store.close()
  }
}

/** Before it is stored: a new run that nobody can go on with is of no use. */
function checkFork({ frames }: ForkedRun, agent: Agent): void {
  const { verdict, reasons } = checkResume(frames, agent)
  if (verdict !== 'refused') return
  throw new LoopchartError('resume_refused', `the new run could not go on: ${reasons.join('; ')}`)
}

function parseSeq(text: string | undefined): number {
  if (text !== undefined && /^\d{1,9}$/u.test(text)) return Number(text)
  throw new LoopchartError(
    'usage',
    '--at must be the number of a decision; loopchart explain RUN lists those of a run',
  )
}

const CHANGE = /^(output|failed|deny):([^]*)$/u

function changeIn({ change, model, keepHistory }: ForkFlags): ForkChange | null {
  const given = Object.entries({ '--change': change, '--model': model, '--keep-history': keepHistory })
  const [first, second] = given.flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (second !== undefined) {
    throw new LoopchartError('usage', `${first} and ${second} are two changes; a fork makes one`)
  }
  if (keepHistory === true) return { kind: 'keep_history' }
  if (change === undefined) return model === undefined ? null : { kind: 'model', model }
  if (change === 'approve') return { kind: 'approve' }
  const [, kind, text = ''] = CHANGE.exec(change) ?? []
  switch (kind) {
    case 'output':
      return { kind: 'output', output: text }
    case 'failed':
      return { kind: 'output', output: text, outcome: 'error' }
    case 'deny':
      return { kind: 'deny', reason: text }
    default:
      throw new LoopchartError(
        'usage',
        `--change ${JSON.stringify(change)}: it must be output:TEXT, failed:TEXT, approve or deny:REASON`,
      )
  }
}

/** Calls that the change sets off have not run, which is not what a call in doubt usually is. */
function reconciledBy({ commands }: ForkedRun): ReadonlyMap<string, Reconciliation> {
  const reruns = commands.flatMap((command) => (command.type === 'call.reconcile' ? [command.callId] : []))
  return new Map(reruns.map((callId) => [callId, { as: 'rerun', output: '' }]))
}
