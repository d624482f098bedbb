import { agent, type AgentOptions } from '../../src/agent.ts'
import type { InspectionEvent, StatelyEvent } from '../../src/inspect/inspection-event.ts'
import type { Agent } from '../../src/loop/agent.ts'
import { ManualClock } from '../manual-clock.ts'
import { ADD, callsAnswer, scriptedModel, textAnswer, watchedTool } from '../scripted-model.ts'

/** An agent that adds, answers, and is the same whenever it is made: its clock stands still. */
export function addingAgent(options: Partial<AgentOptions> = {}): Agent {
  let sum = 4
  return agent({
    model: scriptedModel([callsAnswer(1, [ADD, ADD]), callsAnswer(2, [ADD]), textAnswer(3, 'It is 5.')]),
    tools: [watchedTool('add', () => (sum += 1)).tool],
    clock: new ManualClock(),
    ...options,
  })
}

/** What a stream comes to when it is written down. */
export function written(events: Iterable<InspectionEvent>): readonly unknown[] {
  return [...events].map((event) => JSON.parse(JSON.stringify(event)) as unknown)
}

/** The events that the Stately inspector knows. */
export function forStately(events: Iterable<InspectionEvent>): readonly StatelyEvent[] {
  return [...events].flatMap((event) => (event.type === '@loopchart.microstep' ? [] : [event]))
}

/** Where the snapshots of a stream say that the run went. */
export function valuesOf(events: Iterable<InspectionEvent>): readonly unknown[] {
  return [...events].flatMap((event) => (event.type === '@xstate.snapshot' ? [event.snapshot.value] : []))
}
