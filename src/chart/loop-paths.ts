import type { ActorLogic } from 'xstate'
import { getShortestPaths, type TraversalOptions } from 'xstate/graph'

import { runningSlots } from '../../machines/call.rules.ts'
import type { LoopContext, LoopInput } from '../../machines/loop.types.ts'
import { casesOf, type LoopScenario } from './loop-cases.ts'
import type { LoopPathEvent } from './loop-events.ts'
import { loopFold } from './loop-fold.ts'
import type { LoopSnapshot } from './loop-snapshot.ts'

/** One way through the chart: fold the events to see where it leads. */
export interface LoopPath {
  readonly scenario: string
  readonly input: LoopInput
  readonly events: readonly LoopPathEvent[]
}

const VERTICES_MAX = 50_000

/**
 * The shortest ways to take each edge between two states of a scenario, without those that are the beginning of
 * another. The same scenario always gives the same paths in the same order.
 *
 * What an edge is: two states as guards can tell them apart, and the event between them. Shortest paths to states alone
 * would miss second ways into a state and the transitions that leave none.
 */
export function loopPaths(scenario: LoopScenario): readonly LoopPath[] {
  // The states that come with the steps are those of whichever path was there last: only the events are of use.
  const sequences = getShortestPaths(walkedLoop, traversalOf(scenario)).map(eventsOf)
  return withoutBeginnings(sequences).map((events) => ({
    scenario: scenario.name,
    input: scenario.input,
    events,
  }))
}

/** The chart as what a walk through its states needs. */
export const walkedLoop: ActorLogic<LoopSnapshot, LoopPathEvent, LoopInput> = {
  transition: (snapshot, event) => loopFold().next(snapshot, event).snapshot,
  getInitialSnapshot: (_, input) => loopFold().first(input).snapshot,
  getPersistedSnapshot: (snapshot) => snapshot,
}

/** How the states of a scenario are walked. */
export function traversalOf(
  scenario: LoopScenario,
): TraversalOptions<LoopSnapshot, LoopPathEvent, LoopInput> {
  return {
    input: scenario.input,
    events: (snapshot) => casesOf(scenario, snapshot),
    serializeState: (after, event, before) =>
      event === undefined || before === undefined
        ? stateKey(after)
        : `${stateKey(before)}|${JSON.stringify(event)}|${stateKey(after)}`,
    stopWhen: ({ status }) => status !== 'active',
    limit: VERTICES_MAX,
  }
}

/** The events of a path without the first, which is xstate's own. */
export function eventsOf({
  steps,
}: {
  readonly steps: readonly { readonly event: LoopPathEvent }[]
}): readonly LoopPathEvent[] {
  return steps
    .map(({ event }) => event)
    .filter(({ type }: { readonly type: string }) => type !== 'xstate.init')
}

/**
 * A state as guards can tell it from others. Counters stop where a guard's answer no longer changes: otherwise there
 * would be no end of states.
 */
export function stateKey(snapshot: LoopSnapshot): string {
  const { context, state: path } = snapshot
  const { settings } = context
  const ending = [path, context.ending?.reason]
  if (!path.startsWith('working.')) return JSON.stringify([...ending, runningSlots(context).length])
  return JSON.stringify([
    ...ending,
    context.kind,
    context.route.mode,
    context.route.model,
    Math.min(context.turn, settings.limits.turns + 1),
    Math.min(context.attempt - context.route.since, settings.retriesMax + 1),
    context.calls.map(({ status, attempt }) => [status, attempt]),
    Math.min(context.steers.length, 1),
    Math.min(context.repairs, settings.repairsMax),
    mostRepeats(context),
    Object.keys(context.remembered).toSorted(),
    Math.min(context.counts.toolCalls, settings.limits.toolCalls + 1),
    Math.min(context.usage.total_tokens, settings.limits.tokens ?? 0),
    context.knownItems === 0,
    context.responseId === null,
    context.response?.responseId === null,
  ])
}

function mostRepeats({ recentResults, settings }: LoopContext): number {
  const counts = recentResults.map((result) => recentResults.filter((other) => other === result).length)
  return Math.min(Math.max(0, ...counts), settings.limits.noProgress)
}

function withoutBeginnings(
  sequences: readonly (readonly LoopPathEvent[])[],
): readonly (readonly LoopPathEvent[])[] {
  const numbers = new Map<string, number>()
  const numberOf = (event: LoopPathEvent): number => {
    const text = JSON.stringify(event)
    const number = numbers.get(text) ?? numbers.size
    numbers.set(text, number)
    return number
  }
  const beginnings = new Set<string>()
  const keyed = sequences.map((events) => {
    let key = ''
    for (const event of events) {
      beginnings.add(key)
      key += `${numberOf(event)},`
    }
    return { key, events }
  })
  const seen = new Set<string>()
  return keyed
    .filter(({ key }) => !beginnings.has(key) && !seen.has(key) && seen.add(key))
    .map(({ events }) => events)
}
