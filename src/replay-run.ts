// Replays and forks runs with the words that tools have for calls that did not run: replay and tools do not know each other.
import type { Frame } from './frames/generated/frame.ts'
import { forkFrames, type ForkedRun, type ForkOptions } from './replay/fork-run.ts'
import type { AnswerTextFor } from './replay/recorded-agent.ts'
import { replayFrames, type ReplayResult } from './replay/replay-frames.ts'
import type { ReplayOptions } from './replay/replayer.ts'
import { encodeFailure, encodeValue, type OutputForm } from './tools/encode-output.ts'

/**
 * Drives a run again from its log, without network and without running a tool, and compares states, requests,
 * responses and everything else that follows from the recorded decisions and bytes. The answer has the first frame
 * that does not follow. A log of a run that has not ended is replayed as far as it goes.
 */
export function replay(
  frames: Iterable<Frame>,
  options: Omit<ReplayOptions, 'answerTextFor'> = {},
): ReplayResult {
  return replayFrames(frames, { ...options, answerTextFor })
}

/**
 * Begins a new run as an old one up to a decision, with that decision changed: import its frames into a store and
 * resume it. Nothing of the old run changes. Throws `usage` when the decision cannot be changed so.
 */
export function forkRun(frames: Iterable<Frame>, options: ForkOptions): ForkedRun {
  return forkFrames(frames, options, answerTextFor)
}

/** What the model was told about a call that did not run, by how the output of its tool is written. */
const answerTextFor: AnswerTextFor = (encodings) => (outcome, tool, detail) => {
  const encoding = Object.hasOwn(encodings, tool) && encodings[tool] === 'raw' ? 'raw' : 'envelope'
  const form: OutputForm = { tool: tool.slice(0, 64), encoding }
  if (outcome !== 'ok') return encodeFailure(form, outcome, detail ?? '')
  const { output } = encodeValue(form, '')
  return typeof output === 'string' ? output : ''
}
