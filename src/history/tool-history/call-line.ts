import type { CallDetail, CallGroup } from './outline-calls.ts'
import type { ToolKind } from './tool-kind.ts'

const LABELS: Readonly<Record<ToolKind, string>> = {
  read: 'reads',
  write: 'writes',
  terminal: 'commands',
  search: 'searches',
  other: 'other calls',
}

const DETAILS_MAX: Readonly<Record<ToolKind, number>> = {
  read: 3,
  write: 3,
  terminal: 2,
  search: 2,
  other: 3,
}

/** As many of the newest details of a group as its line in a summary has at most. */
export function newestDetails({ kind, details }: CallGroup): readonly CallDetail[] {
  // Not slice(-max), which for 0 is everything.
  return details.slice(Math.max(0, details.length - DETAILS_MAX[kind]))
}

/** The line of a summary about the calls of one kind, with these of its details. */
export function callLine(group: CallGroup, details: readonly CallDetail[]): string {
  const head = `- ${LABELS[group.kind]} (${group.count})`
  if (details.length === 0) return head
  const rest = group.details.length - details.length
  const more = rest === 0 ? '' : ` (+${rest} more)`
  return `${head}: ${details.map(({ text }) => text).join(', ')}${more}`
}
