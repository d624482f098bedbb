import type { LoopInput } from '../../machines/loop.types.ts'
import type { Agent } from './agent.ts'
import { cursorOf, parseInput, type RunInput } from './run-input.ts'

/**
 * What the chart starts with, for the `input` of `createActor` and `invoke`. The wall time of the agent counts from
 * here. With the id of a response, the run goes on from it: all but the last item of the input must be in it. Throws
 * `usage` for an input that cannot be sent.
 */
export function loopInput(
  agent: Agent,
  input: RunInput,
  previousResponseId: string | null = null,
): LoopInput {
  const { settings, wallTimeMs, clock } = agent
  // Frames have whole milliseconds; a clock of the caller's may have fractions.
  const deadlineAt = wallTimeMs === null ? null : Math.floor(clock.now()) + wallTimeMs
  const items = parseInput(input)
  const cursor = cursorOf(items, settings.mode, previousResponseId)
  return { items, settings, deadlineAt, wallTimeMs, cursor }
}
