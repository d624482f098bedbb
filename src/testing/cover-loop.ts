import { createCoverage, describeTransition } from '../chart/coverage.ts'
import { listStates, listTransitions, type ChartTransition } from '../chart/list-transitions.ts'
import { createFold } from '../chart/pure-fold.ts'
import type { Frame } from '../frames/generated/frame.ts'
import type { Agent } from '../loop/agent.ts'
import { provideLoop } from '../loop/provide-loop.ts'
import { closedWays, type ClosedWay } from './closed-ways.ts'
import type { Violation } from './invariants.ts'
import { pathPlan, pathsOf, type PathOptions } from './loop-paths.ts'
import { runPath } from './run-path.ts'

export interface CoverOptions extends PathOptions {
  /** How long one effect, such as a call of a tool, may take in real time; 10,000 when left out. */
  readonly patienceMs?: number
}

/** What of the chart was seen, by name. */
export interface Covered {
  readonly covered: readonly string[]
  /** What no run came to although nothing in the settings forbids it. */
  readonly missing: readonly string[]
  /** What the agent's own settings rule out, and which. */
  readonly unreachable: readonly ClosedWay[]
}

export interface LoopCoverage {
  /** How many runs there were. */
  readonly runs: number
  readonly states: Covered
  readonly transitions: Covered
  readonly guards: Covered
  /** How often each tool was called. */
  readonly toolCalls: Readonly<Record<string, number>>
  readonly violations: readonly Violation[]
  /** Runs that went another way than the chart foresaw for this agent; their end was checked all the same. */
  readonly left: readonly string[]
}

/**
 * Runs every path of the chart with an agent's own tools, limits and approvals, and says what of the chart was seen.
 * The model is scripted and time does not pass; everything else is as in life: tools really run, some of them
 * hundreds of times, so give the agent tools that may.
 */
export async function coverLoop(agent: Agent, options: CoverOptions = {}): Promise<LoopCoverage> {
  const { patienceMs = 10_000 } = options
  const machine = provideLoop(agent, { runId: 'run_path' })
  const coverage = createCoverage(machine)
  const watch = createFold(machine, { onTransition: coverage.take })
  const plan = await pathPlan(agent, options)
  const paths = pathsOf(plan)
  const frames: Frame[] = []
  const violations: Violation[] = []
  const left: string[] = []
  for (const path of paths) {
    const run = await runPath(agent, path, { answer: plan.answer, watch, patienceMs })
    frames.push(...run.frames.filter(({ type }) => type === 'state_entered' || type === 'tool_started'))
    violations.push(...run.violations)
    if (run.left !== null) left.push(run.left)
  }
  const closed = closedWays(plan)
  const taken = coverage.taken()
  const transitions = listTransitions(machine)
  const isTaken = ({ key }: ChartTransition): boolean => taken.has(key)
  const leaves = listStates(machine).filter(({ type }) => type === 'atomic' || type === 'final')
  const entered = new Set(frames.flatMap((frame) => (frame.type === 'state_entered' ? [frame.state] : [])))
  const guarded = [...Map.groupBy(transitions, ({ guard }) => guard)].filter(([guard]) => guard !== null)
  return {
    runs: paths.length,
    states: sorted(
      leaves
        .map(({ path }) => path.join('.'))
        .map((name) => ({
          name,
          isCovered: entered.has(name),
          because: closed.state(name),
        })),
    ),
    transitions: sorted(
      transitions.map((transition) => ({
        name: describeTransition(transition),
        isCovered: isTaken(transition),
        because: closed.transition(transition),
      })),
    ),
    guards: sorted(
      guarded.map(([guard, its]) => ({
        name: String(guard),
        isCovered: its.some(isTaken),
        because: its.map((one) => closed.transition(one)).find((because) => because !== null) ?? null,
      })),
    ),
    toolCalls: toolCalls(frames),
    violations,
    left,
  }
}

interface Found {
  readonly name: string
  readonly isCovered: boolean
  readonly because: string | null
}

function sorted(found: readonly Found[]): Covered {
  const open = found.filter(({ isCovered }) => !isCovered)
  return {
    covered: found.filter(({ isCovered }) => isCovered).map(({ name }) => name),
    missing: open.filter(({ because }) => because === null).map(({ name }) => name),
    unreachable: open.flatMap(({ name, because }) => (because === null ? [] : [{ name, because }])),
  }
}

function toolCalls(frames: readonly Frame[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const frame of frames)
    if (frame.type === 'tool_started') counts[frame.name] = (counts[frame.name] ?? 0) + 1
  return counts
}
