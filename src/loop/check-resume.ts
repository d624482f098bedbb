import { CHART_VERSION, loopMachine } from '../../machines/loop.machine.ts'
import { chartHash } from '../chart/chart-hash.ts'
import { LoopchartError } from '../errors.ts'
import type { Frame } from '../frames/generated/frame.ts'
import { isJsonObject, type Json, type JsonObject } from '../protocol/json.ts'
import type { Agent } from './agent.ts'
import { restoreRun, type RestoredRun } from './restore-run.ts'

/** Whether a stored run can go on with the code and the agent that are there now. */
export interface ResumeCheck {
  /** `migratable`: something has changed since it was started, but nothing that its log depends on. */
  readonly verdict: 'compatible' | 'migratable' | 'refused'
  /** What has changed, or why not. */
  readonly reasons: readonly string[]
}

/** Folds a log and says whether the run can go on; without an agent, as far as the chart is concerned. */
export function checkResume(
  frames: readonly Frame[],
  agent: Agent | null,
): ResumeCheck & { readonly restored: RestoredRun | null } {
  const expected = new Map<number, readonly string[]>()
  let restored: RestoredRun
  try {
    restored = restoreRun(frames, ({ seq }, { entered }) =>
      expected.set(
        seq,
        entered.map(({ state }) => state),
      ),
    )
  } catch (error) {
    if (!(error instanceof LoopchartError)) throw error
    return { verdict: 'refused', reasons: [`${error.code}: ${error.message}`], restored: null }
  }
  if (restored.snapshot.status !== 'active') {
    return { verdict: 'refused', reasons: [`the run has ended: ${restored.snapshot.state}`], restored }
  }
  const broken = [
    ...chartFaults(frames, restored, expected),
    ...(agent === null ? [] : lostTools(agent, restored)),
  ]
  if (broken.length > 0) return { verdict: 'refused', reasons: broken, restored }
  const changed = [...chartChanges(restored), ...(agent === null ? [] : agentChanges(agent, restored))]
  return { verdict: changed.length === 0 ? 'compatible' : 'migratable', reasons: changed, restored }
}

/** The chart that is there now must take the recorded decisions to the recorded states. */
function chartFaults(
  frames: readonly Frame[],
  { started }: RestoredRun,
  expected: ReadonlyMap<number, readonly string[]>,
): readonly string[] {
  if (started.chart_version !== CHART_VERSION) {
    return [`it was started with version ${started.chart_version} of the chart, this is ${CHART_VERSION}`]
  }
  let states: readonly string[] = []
  for (const frame of frames) {
    states = expected.get(frame.seq) ?? states
    // That the first event of a response is in is seen, not decided.
    if (frame.type !== 'state_entered' || frame.by === 'stream.opened') continue
    const [next, ...rest] = states
    if (frame.state !== next) {
      return [
        `the chart has changed: frame ${frame.seq} entered ${frame.state}, now it would be ${next ?? 'nothing'}`,
      ]
    }
    states = rest
  }
  return []
}

function chartChanges({ started }: RestoredRun): readonly string[] {
  return started.chart_hash === chartHash(loopMachine)
    ? []
    : ['the chart has changed, not where this run went']
}

/** Tools that the run has called, or is about to, must still be there. */
function lostTools({ tools }: Agent, { snapshot }: RestoredRun): readonly string[] {
  const names = new Set(tools.definitions.map(({ name }) => name))
  const { calls, counts } = snapshot.context
  const wanted = [...Object.keys(counts.byTool), ...calls.flatMap(({ facts }) => facts.tool ?? [])]
  const lost = [...new Set(wanted)].filter((name) => !names.has(name))
  return lost.map((name) => `it has called the tool ${name}, which the agent does not have`)
}

const PLAN_FIELDS = [
  'model',
  'instructions',
  'definitions',
  'requestOptions',
  'stream',
  'unsupported',
] as const

function agentChanges({ description }: Agent, { agent }: RestoredRun): readonly string[] {
  if (agent['fingerprint'] === description.fingerprint) return []
  const [before] = Array.isArray(agent['plans']) ? agent['plans'] : []
  const [after] = description.plans
  const changed = PLAN_FIELDS.filter(
    (field) => JSON.stringify(fieldOf(before, field)) !== JSON.stringify(after?.[field]),
  )
  return changed.length === 0
    ? ['the agent has changed']
    : changed.map((field) => `the agent's ${NAMES[field]} changed`)
}

const NAMES: Readonly<Record<(typeof PLAN_FIELDS)[number], string>> = {
  model: 'model',
  instructions: 'instructions',
  definitions: 'tools',
  requestOptions: 'request options',
  stream: 'way of streaming',
  unsupported: 'provider',
}

function fieldOf(plan: Json | undefined, field: string): Json | undefined {
  const fields: JsonObject = isJsonObject(plan) ? plan : {}
  return fields[field]
}
