import { timeText } from '../../../clock.ts'
import type { Frame } from '../../../frames/generated/frame.ts'
import { fieldsOf, numberIn } from './json-fields.ts'

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** Milliseconds in as few figures as tell something. */
export function durationText(ms: number): string {
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`
  if (ms < MINUTE_MS) return `${(ms / SECOND_MS).toFixed(ms < 10 * SECOND_MS ? 2 : 1)} s`
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min ${Math.floor((ms % MINUTE_MS) / SECOND_MS)} s`
  return `${Math.floor(ms / HOUR_MS)} h ${Math.floor((ms % HOUR_MS) / MINUTE_MS)} min`
}

/** A count with its thousands apart. */
export function countText(count: number): string {
  return count.toLocaleString('en-US')
}

/** A count with its noun. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`
}

/** A time of the wall clock, in UTC, where there is little room. */
export function shortTime(ms: number): string {
  return timeText(ms).replace('T', ' ')
}

/** When a frame was written, in milliseconds since 1970; 0 when it does not say. */
export function timeOf(frame: Frame | undefined): number {
  return numberIn(fieldsOf(frame), 'ts') ?? 0
}
