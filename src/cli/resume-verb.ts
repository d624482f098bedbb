import { LoopchartError } from '../errors.ts'
import type { RunStartedFrame } from '../frames/generated/frame.ts'
import type { RunStore } from '../journal/run-store.ts'
import { explainRun, type RunExplanation } from '../replay/explain-run.ts'
import { checkFlags } from './check-flags.ts'
import { checkProviderAgain } from './choose-model.ts'
import { findRunId } from './find-run.ts'
import { callsIn, KeptRun, type Reconciliation } from './kept-run.ts'
import { resumeHint } from './resume-hint.ts'
import type { RunFlags } from './run-flags.ts'
import { driveRun } from './run-verb.ts'
import { loadSettings, type Settings } from './settings.ts'
import { openKnownStore } from './store-option.ts'
import { withModel } from './with-model.ts'

export interface ResumeFlags extends RunFlags {
  readonly reconcile?: readonly string[]
  readonly approveCall?: readonly string[]
  readonly denyCall?: readonly string[]
}

/** Goes on with a stored run for `loopchart resume`; resolves with the exit code. */
export async function resumeVerb(given: string, flags: ResumeFlags): Promise<number> {
  checkFlags(flags)
  const reconciled = parseReconciled(flags.reconcile ?? [])
  const decided = decidedIn(flags)
  const settings = await loadSettings(flags, process.env)
  const store = openKnownStore(flags, settings)
  try {
    const kept = new KeptRun({ store, reconciled, resumeHint: (id) => resumeHint(flags, id) })
    const runId = findRunId(store, given, flags)
    checkCalls(store, runId, [...reconciled.keys()], [...decided.keys()])
    checkProviderAgain(flags.agent, settings)
    const session = { input: { resume: runId }, kept, decided }
    return await driveRun(flags, withModelOf(store, runId, flags, settings), session)
  } finally {
    store.close()
  }
}

/** The settings with the model that the run was begun with, unless a flag names another. */
export function withModelOf(store: RunStore, runId: string, flags: RunFlags, settings: Settings): Settings {
  return withModel(settings, flags.model ?? startOf(store, runId)?.model)
}

function startOf(store: RunStore, runId: string): RunStartedFrame | null {
  for (const frame of store.read(runId)) return frame.type === 'run_started' ? frame : null
  return null
}

// The text may hold anything, also more of these signs; the id of a call is the provider's, and may too.
const RECONCILED = /^(.+?)=(done|failed|rerun)(?::([^]*))?$/u

function parseReconciled(given: readonly string[]): ReadonlyMap<string, Reconciliation> {
  const said = new Map<string, Reconciliation>()
  for (const text of given) {
    const [, callId, as, output = ''] = RECONCILED.exec(text) ?? []
    if (callId === undefined || !isWay(as) || (as === 'rerun' && output !== '')) {
      throw new LoopchartError(
        'usage',
        `--reconcile ${JSON.stringify(text)}: it must be CALL=done:OUTPUT, CALL=failed:WHY or CALL=rerun`,
      )
    }
    said.set(callId, { as, output })
  }
  return said
}

function isWay(text: string | undefined): text is Reconciliation['as'] {
  return text === 'done' || text === 'failed' || text === 'rerun'
}

function decidedIn({ approveCall = [], denyCall = [] }: ResumeFlags): ReadonlyMap<string, boolean> {
  const both = approveCall.find((callId) => denyCall.includes(callId))
  if (both !== undefined) {
    throw new LoopchartError('usage', `call ${both} can be approved or denied, not both; give one`)
  }
  return new Map([
    ...approveCall.map((callId) => [callId, true] as const),
    ...denyCall.map((callId) => [callId, false] as const),
  ])
}

/** What is said about a call must be about one that waits for it: a wrong id would be found out about after the run. */
function checkCalls(
  store: RunStore,
  runId: string,
  reconciled: readonly string[],
  decided: readonly string[],
): void {
  if (reconciled.length + decided.length === 0) return
  const stored = store.find(runId)
  if (stored?.status === 'ended') {
    throw new LoopchartError('resume_refused', `the run has ended: ${stored.state}`)
  }
  const inDoubt = callsWithin(store, runId, ({ inDoubt: calls }) => calls.map(({ callId }) => callId))
  const undecided = callsWithin(store, runId, (explained) =>
    callsIn({ explain: () => explained }, 'call.approve'),
  )
  checkAmong(reconciled, inDoubt, {
    what: 'is not in doubt',
    none: 'no call of this run is',
    others: 'these are',
  })
  checkAmong(decided, undecided, {
    what: 'does not wait for approval',
    none: 'no call of this run does',
    others: 'these do',
  })
}

/** Calls of a run by their paths, those of runs that are the work of a call included. */
function callsWithin(
  store: RunStore,
  runId: string,
  pick: (explained: RunExplanation) => readonly string[],
): readonly string[] {
  const frames = [...store.read(runId)]
  const own = pick(explainRun(frames))
  const children = new Map(
    frames.flatMap((frame) =>
      frame.type === 'child_started' ? [[frame.call_id, frame.child_run_id] as const] : [],
    ),
  )
  const known = new Set(store.list().map(({ runId: id }) => id))
  const inner = [...children].flatMap(([callId, childId]) =>
    known.has(childId) ? callsWithin(store, childId, pick).map((path) => `${callId}/${path}`) : [],
  )
  return [...own, ...inner]
}

function checkAmong(
  given: readonly string[],
  open: readonly string[],
  say: { readonly what: string; readonly none: string; readonly others: string },
): void {
  const wrong = given.find((callId) => !open.includes(callId))
  if (wrong === undefined) return
  const others = open.length === 0 ? say.none : `${say.others}: ${open.join(', ')}`
  throw new LoopchartError('usage', `call ${wrong} ${say.what}; ${others}`)
}
