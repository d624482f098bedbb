import type { Frame } from '../frames/generated/frame.ts'
import { LoopchartError } from '../errors.ts'
import { firstDifference, type Difference } from './first-difference.ts'
import { runTransitions, type Transition } from './run-transitions.ts'

/** Where two runs part. */
export type RunDiff =
  | { readonly isSame: true; readonly transitions: number; readonly text: string }
  | {
      readonly isSame: false
      /** Which transition, counted from 0, which is the start. */
      readonly at: number
      /** What of it differs: what moved the run, where it went, or what it asked. */
      readonly part: 'decision' | 'states' | 'requests' | 'end'
      /** Null: this run has no such transition. */
      readonly a: Transition | null
      readonly b: Transition | null
      readonly difference: Difference | null
      readonly text: string
    }

/**
 * The first transition in which two runs differ. Times do not count, nor do ids: those of a provider are never twice
 * the same, so each stands for its place in its run. Throws `log_corrupt` for a log without a start.
 */
export function diffRuns(a: Iterable<Frame>, b: Iterable<Frame>): RunDiff {
  const [left, right] = [runTransitions(a), runTransitions(b)]
  if (left.length === 0 || right.length === 0) throw new LoopchartError('log_corrupt', 'the log is empty')
  const length = Math.max(left.length, right.length)
  for (let at = 0; at < length; at += 1) {
    const [one = null, other = null] = [left[at], right[at]]
    const found = differenceOf(one, other)
    if (found !== null) {
      return { isSame: false, at, a: one, b: other, ...found, text: textOf(at, one, other, found) }
    }
  }
  return { isSame: true, transitions: length, text: `both runs go the same way, ${length} transitions long` }
}

interface Found {
  readonly part: 'decision' | 'states' | 'requests' | 'end'
  readonly difference: Difference | null
}

const PARTS = ['decision', 'states', 'requests'] as const

function differenceOf(one: Transition | null, other: Transition | null): Found | null {
  if (one === null || other === null) return { part: 'end', difference: null }
  for (const part of PARTS) {
    const difference = firstDifference(one[part], other[part])
    if (difference !== null) return { part, difference }
  }
  return null
}

function textOf(at: number, one: Transition | null, other: Transition | null, found: Found): string {
  const where = `transition ${at}`
  if (one === null || other === null) {
    const [name, longer] = one === null ? ['b', other] : ['a', one]
    return `${where}: only ${name} goes on, to ${longer?.states.at(-1) ?? 'where it is'} by ${longer?.by ?? ''}`
  }
  const frames = `frame ${one.seq} of a, frame ${other.seq} of b`
  const { part, difference } = found
  const field = difference === null || difference.field === '' ? '' : ` at ${difference.field}`
  const sides = `${shown(difference?.expected)} in a, ${shown(difference?.actual)} in b`
  switch (part) {
    case 'decision':
      return `${where} (${frames}): ${one.by === other.by ? one.by : 'what happens'} differs${field}: ${sides}`
    case 'states':
      return `${where} (${frames}): ${one.by} leads elsewhere${field}: ${sides}`
    case 'requests':
      return `${where} (${frames}): another request is sent after ${one.by}${field}: ${sides}`
    case 'end':
      return where
  }
}

const SHOWN_MAX = 200

function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value)
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text
}
