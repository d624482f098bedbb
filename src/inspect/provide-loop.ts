import type { loopMachine } from '../../machines/loop.machine.ts'
import type { Agent } from '../loop/agent.ts'
import { provideLoop as provide, type ProvideOptions as LoopOptions } from '../loop/provide-loop.ts'
import type { Inspect } from './inspection-event.ts'
import { inspectMachine } from './inspect-machine.ts'

export interface ProvideOptions extends LoopOptions {
  /**
   * Takes what happens to the actor, as the stream of `loopchart/inspect`, from its start on. It is told at once, before
   * the actor goes on; when it throws, it is told nothing more. A machine that is provided again is no longer inspected.
   */
  readonly inspect?: Inspect
}

/**
 * The chart with an agent's effects as ordinary actors: for `createActor`, for `invoke` in a machine of your own, and
 * for an inspector of your own. Nothing is kept but the chart's state; `run()` is the way with a log. Each run needs a
 * machine of its own: two actors of one machine would share its `runId`, and so the idempotency keys of their tools.
 */
export function provideLoop(agent: Agent, { inspect, ...options }: ProvideOptions): typeof loopMachine {
  const machine = provide(agent, options)
  if (inspect !== undefined) inspectMachine(machine, { runId: options.runId, clock: agent.clock, inspect })
  return machine
}
