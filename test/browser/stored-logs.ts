import { readdirSync, readFileSync } from 'node:fs'

import type { Frame } from '../../src/frames/generated/frame.ts'
import { parseFrame } from '../../src/frames/parse-frame.ts'
import type { SqliteStore } from '../../src/journal/open-store.ts'
import { isDecision } from '../../src/loop/decisions.ts'

const FIXTURES = new URL('../../fixtures/runs/', import.meta.url)

/** The names of the logs that are kept. */
export function logNames(): readonly string[] {
  return readdirSync(FIXTURES).map((name) => name.replace(/\.jsonl$/u, ''))
}

/** The lines of a kept log. */
export function logLines(name: string): readonly string[] {
  return readFileSync(new URL(`${name}.jsonl`, FIXTURES), 'utf8')
    .trimEnd()
    .split('\n')
}

/** Puts a kept log into a store. */
export function importLog(store: SqliteStore, name: string): readonly Frame[] {
  const lines = logLines(name)
  store.importRun(lines)
  return lines.map((line) => parseFrame(line))
}

/**
 * The state at each frame, as the log itself says it. A decision has its whole step with it, so that a run is where
 * the step ends from its first frame on; what is not decided, such as a response that begins, is so once it is written.
 */
export function statesOf(frames: readonly Frame[]): readonly string[] {
  let state = ''
  return frames.map((frame, at) => {
    if (frame.type === 'run_started' || isDecision(frame)) state = endOfStep(frames, at) ?? state
    if (frame.type === 'state_entered' && isUndecided(frame)) ({ state } = frame)
    // Whoever takes a run up has seen nothing of the response that was coming in.
    if (frame.type === 'run_resumed' && state === 'working.responding.streaming')
      state = 'working.responding.requesting'
    return state
  })
}

function endOfStep(frames: readonly Frame[], from: number): string | null {
  const next = frames.findIndex((frame, at) => at > from && isDecision(frame))
  const entered = frames
    .slice(from, next === -1 ? frames.length : next)
    .findLast((frame) => frame.type === 'state_entered' && !isUndecided(frame))
  return entered?.type === 'state_entered' ? entered.state : null
}

function isUndecided({ by }: { readonly by: string }): boolean {
  return by === 'stream.opened'
}
