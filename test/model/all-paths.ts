import { LOOP_SCENARIOS } from '../../src/chart/loop-scenarios.ts'
import { loopPaths, type LoopPath } from '../../src/chart/loop-paths.ts'

let generated: readonly LoopPath[] | null = null

/** Every generated path of every scenario. */
export function allPaths(): readonly LoopPath[] {
  generated ??= LOOP_SCENARIOS.flatMap(loopPaths)
  return generated
}

/** How a path is named where one fails. */
export function pathName({ scenario, events }: LoopPath, length = events.length): string {
  const types = events.slice(0, length).map((event) => shortName(event))
  return `${scenario}: ${types.join(' > ')}`
}

function shortName(event: LoopPath['events'][number]): string {
  const name = event.type.replace('xstate.done.actor.', '').replace('xstate.error.actor.', 'rejected ')
  if ('callId' in event) return `${name} ${event.callId}`
  if (!('output' in event) || event.output === null || !('ok' in event.output)) return name
  return event.output.ok ? name : `${name} failed`
}
