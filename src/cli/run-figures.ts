import type { Frame, ToolStartedFrame } from '../frames/generated/frame.ts'
import { readUsage } from '../loop/usage.ts'

/** What a run has come to so far, counted from its frames. */
export class RunFigures {
  state = 'starting'
  turn = 0
  calls = 0
  tokens = 0
  startMs = 0
  /** Calls under way, by id. */
  readonly running = new Map<string, ToolStartedFrame>()

  take(frame: Frame): void {
    if (this.startMs === 0) this.startMs = frame.ts
    switch (frame.type) {
      case 'state_entered':
        this.state = frame.state
        this.turn = Math.max(this.turn, frame.turn)
        break
      case 'response_settled':
        this.tokens += readUsage(frame.usage)?.total_tokens ?? 0
        break
      case 'tool_started':
        this.running.set(frame.call_id, frame)
        break
      case 'tool_ended':
      case 'tool_failed':
        this.running.delete(frame.call_id)
        this.calls += 1
        break
      default:
    }
  }
}

const GROUPED = new Intl.NumberFormat('en')

/** `1,234 tokens`, `1 turn`. */
export function countOf(amount: number, noun: string): string {
  return `${GROUPED.format(amount)} ${noun}${amount === 1 ? '' : 's'}`
}

/** A length of time for people: `820 ms`, `3.2 s`, `2 min 5 s`. */
export function durationOf(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
