import { callDetails } from './call-details.ts'
import { cutText } from './cut-text.ts'
import type { PriorCall } from './prior-call.ts'
import type { ToolHistoryConfig } from './read-tool-history-config.ts'
import { toolKind, type ToolKind } from './tool-kind.ts'

/** What there is to say about old calls, before anything is left out for want of room. */
export interface CallOutline {
  /** One for each kind, in the order in which the kinds first occurred. */
  readonly groups: readonly CallGroup[]
  /** One line for each error, the oldest first. */
  readonly errors: readonly string[]
}

/** The calls of one kind that went well. */
export interface CallGroup {
  readonly kind: ToolKind
  readonly count: number
  /** Each once, in the order of their last use. */
  readonly details: readonly CallDetail[]
}

/** Something that a call was about. */
export interface CallDetail {
  readonly text: string
  /** The place, among all old calls, of the last call that was about it. */
  readonly at: number
}

/** Sorts old calls by kind and collects what a summary may mention of them. */
export function outlineCalls(calls: readonly PriorCall[], config: ToolHistoryConfig): CallOutline {
  const counts = new Map<ToolKind, number>()
  const details = new Map<ToolKind, Map<string, number>>()
  for (const [at, call] of calls.entries()) {
    if (call.isError) continue
    const kind = toolKind(call.name, config)
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    const places = details.get(kind) ?? new Map<string, number>()
    details.set(kind, places)
    for (const text of callDetails(call, kind)) {
      // Taken out first, so that the order of the map is that of the last use.
      places.delete(text)
      places.set(text, at)
    }
  }
  const groups = Array.from(counts, ([kind, count]): CallGroup => {
    const places = details.get(kind) ?? new Map<string, number>()
    return { kind, count, details: Array.from(places, ([text, at]) => ({ text, at })) }
  })
  return { groups, errors: errorLines(calls, config) }
}

function errorLines(calls: readonly PriorCall[], config: ToolHistoryConfig): readonly string[] {
  const failed = calls.filter(({ isError }) => isError)
  if (config.preserveErrorsVerbatim) {
    return failed.map(
      ({ name, result }) => `- ${oneLine(name)}: ${cutText(result, config.errorCharactersMax)}`,
    )
  }
  const counts = new Map<string, number>()
  for (const { name } of failed) {
    const count = counts.get(name) ?? 0
    counts.delete(name)
    counts.set(name, count + 1)
  }
  return Array.from(counts, ([name, count]) => `- ${oneLine(name)}: failed ${count}x`)
}

function oneLine(name: string): string {
  return cutText(name.replaceAll(/\s+/gu, ' '), 100)
}
